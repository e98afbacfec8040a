// nest compare: the best plan beside those of other systems and recipes, under one cost model.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "command.hpp"
#include "nest/base/closest.hpp"
#include "nest/base/error.hpp"
#include "nest/report/answer/comparison_text.hpp"
#include "nest/solve/ask/verify.hpp"
#include "nest/solve/baselines/baselines.hpp"
#include "nest/solve/baselines/common/degrees_file.hpp"
#include "option_values.hpp"
#include "plan_options.hpp"
#include "plan_progress.hpp"
#include "plan_question.hpp"
#include "stop_search.hpp"

namespace nest::cli {
namespace {

std::vector<std::string> read_names(const std::string& typed) {
  std::vector<std::string> known;
  for (const Baseline& b : baselines()) known.emplace_back(b.name);
  if (typed == "all") return known;
  std::vector<std::string> names;
  for (std::size_t begin = 0; begin <= typed.size();) {
    const std::size_t comma = std::min(typed.find(',', begin), typed.size());
    const std::string name = typed.substr(begin, comma - begin);
    begin = comma + 1;
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      const std::string guess = did_you_mean(name, known);
      throw UsageError(fmt::format("--with: there is no baseline '{}'; the baselines are {} and all{}", name,
                                   fmt::join(known, ", "), guess.empty() ? "" : "; " + guess));
    }
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

CompareOptions read_options(const Arguments& arguments, const PlanQuestion& question, Terminal& terminal) {
  CompareOptions out;
  BaselineOptions& b = out.baseline;
  b.seed = static_cast<std::uint64_t>(whole_within(arguments, "--seed", 1, 0, 1'000'000'000'000));
  b.evaluations = whole_within(arguments, "--evaluations", b.evaluations, 1, 1'000'000'000);
  if (arguments.has("--seconds")) b.time_limit = read_seconds(arguments, "--seconds");
  if (const auto typed = arguments.text("--flat-bandwidth")) {
    b.flat_bandwidth = parse_bandwidth(*typed);
    if (!b.flat_bandwidth || !(b.flat_bandwidth->value > 0))
      throw UsageError(fmt::format("--flat-bandwidth: '{}' is not a bandwidth; try '100 GB/s'", *typed));
  }
  if (const auto file = arguments.text("--degrees")) {
    out.degrees = matching_degrees(read_degrees(*file), degrees_key(question));
    if (out.degrees.empty()) {
      terminal.warn(
          {fmt::format("{} has no degrees for {} on {} devices of {}", *file, question.inputs.model_name(),
                       question.inputs.cluster.devices(), question.inputs.cluster.name())});
    }
  }
  return out;
}

// Every plan that is shown is checked and priced once more, ours and theirs.
void verify(const Comparison& all, const PlanQuestion& question) {
  for (const ComparedPlan& one : all.plans) {
    const bool fits = one.result.plan && one.result.status != PlanStatus::infeasible;
    if (!fits) continue;
    if (const auto problem = verify_plan(*one.result.plan, question.inputs, question.options.price_options()))
      throw InputError("", one.name, "this is a bug in nest, not in your input: " + *problem);
  }
}

int run_compare(const Arguments& arguments, Terminal& terminal) {
  ScreenOptions screen;
  screen.heading = [&](std::string_view text) { return terminal.heading(text); };
  if (arguments.has("--list")) {
    if (arguments.has("--json"))
      terminal.json(baselines_value());
    else
      terminal.out(baselines_text(screen));
    return kOk;
  }
  const std::vector<std::string> names =
      read_names(arguments.text("--with").value_or("manual,mcmc,alpa,phaze"));
  check_output(arguments, "--svg");
  PlanQuestion question = read_question(arguments, terminal);
  CompareOptions options = read_options(arguments, question, terminal);
  ProgressLine progress(terminal);
  options.asking = [&](std::string_view name) { progress.phase(std::string(name)); };
  question.options.progress = [&](const SearchProgress& p) { progress.show(p); };
  const StopSearch stop(question.options.deadline);
  const Comparison all = compare(question, names, options);
  if (stop.interrupted()) terminal.note("nest: interrupted; these are the plans found so far");
  verify(all, question);
  terminal.end_progress();
  write_output(arguments, "--svg", [&] { return comparison_svg(all, question); }, terminal);
  if (arguments.has("--json"))
    terminal.json(to_value(all));
  else
    terminal.out(comparison_text(all, question, screen));
  if (!all.found.plans.empty()) return kOk;
  return code_without_plan(all.found.status);
}

}  // namespace

std::vector<Command> compare_commands() {
  std::vector<Option> options = input_options();
  for (Option& option :
       asked_options({AskedSection::training, AskedSection::choices, AskedSection::search}, kOfPlanOnly))
    options.push_back(std::move(option));
  options.insert(
      options.end(),
      {{"--with", "LIST",
        "the baselines: manual, mcmc, alpa, phaze (these are the default), flat, no-memory, or all"},
       {"--degrees", "FILE.csv",
        "also compare with the degrees in this CSV file, with the best stage boundaries for each"},
       {"--seed", "N", "the seed of mcmc (default 1)"},
       {"--evaluations", "N", "the number of plans that mcmc prices (default 20,000)"},
       {"--seconds", "S", "stop mcmc after this time; its plan then depends on the machine"},
       {"--flat-bandwidth", "RATE",
        "the bandwidth of the single level that phaze and flat see (default: that of the innermost level)"},
       {"--list", "",
        "describe each baseline: what it does, what it ignores, and how it differs from the published "
        "system"},
       pipeline_model_option(),
       svg_option(),
       json_option()});
  return {
      {"compare",
       "",
       0,
       0,
       "compare the best plan with the plans of other systems",
       "Asks the search and each baseline for a plan, then checks and prices all plans in the same way. The "
       "table shows the throughput of each plan, also as a share of ours, its degrees, the memory of its "
       "fullest device, the time of the search, and the part of the step in which it loses most. If the plan "
       "of a baseline does not fit in memory, the table shows that plan and how much memory is missing. Our "
       "plan is never worse than a baseline, because the plans of the baselines are part of the space that "
       "our search covers. A file of degrees has the columns devices, baseline, model, pipeline, data and "
       "tensor, and optionally setup (a cluster) and layers. The exit code is 3 if nest finds no plan that "
       "fits, and 4 if a limit is reached before it finds one.",
       std::move(options),
       {{"nest compare", "compare plans for Llama-3.1 70B on 1,024 H100"},
        {"nest compare --model gpt3-175b --cluster paper-tpuv4-fat-tree --with all --svg compare.svg",
         "compare with all baselines and draw a chart"},
        {"nest compare --model llama2-7b --devices 64 --with mcmc --evaluations 100000 --seed 7 --json",
         "let mcmc price more plans, and print its progress as JSON"},
        {"nest compare --list", "describe the baselines"}},
       run_compare},
  };
}

}  // namespace nest::cli
