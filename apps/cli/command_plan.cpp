// nest plan: the best plan for a model on a cluster, with a proof.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "command.hpp"
#include "nest/base/files.hpp"
#include "nest/question/state_choices.hpp"
#include "nest/report/answer/answer_text.hpp"
#include "nest/report/answer/plan_screen.hpp"
#include "nest/report/answer/sizing_text.hpp"
#include "nest/report/answer/whole_answer.hpp"
#include "nest/report/answer/why_not_text.hpp"
#include "nest/report/answer/why_text.hpp"
#include "nest/solve/ask/answer.hpp"
#include "nest/solve/ask/relaxations.hpp"
#include "nest/solve/ask/why.hpp"
#include "plan_options.hpp"
#include "plan_progress.hpp"
#include "plan_question.hpp"
#include "stop_search.hpp"

namespace nest::cli {
namespace {

// Plans beside the best that the screen shows.
constexpr std::int64_t kRunnersUp = 3;

// A disagreement between search and price is never a plan: it is saved for whoever mends it.
int report_bug(const SearchResult& found, const Arguments& arguments, Terminal& terminal) {
  const std::string file = "nest-disagreement.json";
  if (arguments.has("--json")) terminal.json(disagreement_value(found));
  terminal.note("nest: this is a bug in nest, not in your input: " + found.reason);
  try {
    write_file(file, to_json(found.instance) + "\n");
    terminal.note("nest: wrote " + file + "; please report it with this file");
  } catch (const InputError& error) {
    terminal.note(std::string("nest: the instance could not be saved: ") + error.what());
  }
  return kBug;
}

int answer_without_plan(const PlanQuestion& question, const SearchResult& found, const Arguments& arguments,
                        ProgressLine& progress, Terminal& terminal) {
  const Deadline& deadline = question.options.deadline;
  const bool json = arguments.has("--json");
  terminal.warn(question.notes);
  WholeAnswer also{.stats = arguments.has("--stats")};
  if (found.status == PlanStatus::limit) {
    if (json) {
      terminal.json(whole_answer(question, found, also));
    } else {
      terminal.out(
          "The search stopped at a limit before it found a plan; raise --time-limit, --work-limit or "
          "--memory-limit.\n");
      if (also.stats) terminal.out("\n" + stats_text(found.stats));
    }
    return kLimit;
  }
  AdviceOptions options;
  options.asking = [&](const std::string& what) {
    progress.phase("looking for a change that would make it fit: " + what);
  };
  const bool before = deadline.cancelled();
  const AdviceList advice = advise_unfit(question, found, options);
  if (deadline.cancelled() && !before) terminal.note("nest: interrupted; these are the changes found so far");
  if (json) {
    also.advice = &advice;
    terminal.json(whole_answer(question, found, also));
  } else {
    terminal.out(unfit_text(found, question.inputs, advice));
    if (also.stats) terminal.out("\n" + stats_text(found.stats));
  }
  return kInfeasible;
}

// What is said of other choices and plans than the best.
struct Others {
  std::optional<WhyNot> why_not;
  Relaxations relaxations;
  std::optional<Why> why;

  [[nodiscard]] bool any() const { return why_not || why; }
};

// Further searches for --why-not and --why, within what is left of the question's time.
Others ask_others(PlanQuestion question, const SearchResult& found, const std::optional<Plan>& rival,
                  const Arguments& arguments, ProgressLine& progress) {
  Others out;
  const Plan& taken = found.plan();
  question = settled(std::move(question), taken);  // steps of several batches cannot be compared
  if (const auto choice = arguments.text("--why-not")) {
    progress.phase("why not " + *choice);
    out.why_not = rival ? why_not_plan(question, *choice, *rival, taken) : why_not(question, *choice, taken);
    RelaxOptions options;
    options.asking = [&](const std::string& what) { progress.phase("what would make it the best: " + what); };
    // The plan that is taken stands in for the best one: nothing has to be loosened for it.
    if (out.why_not->found.status != PlanStatus::disagreement && !out.why_not->chosen)
      out.relaxations = relaxations(question, *out.why_not, found.plans.front(), options);
  }
  if (arguments.has("--why")) {
    WhyOptions options;
    options.asking = [&](const std::string& what) { progress.phase("why not " + what); };
    out.why = why(question, taken, options);
  }
  return out;
}

int run_plan(const Arguments& arguments, Terminal& terminal) {
  Asked asked = read_asked(arguments);
  // The screen shows what the plan wins against.
  const bool others_asked = arguments.has("--why-not") || arguments.has("--why");
  if (!arguments.has("--json") && !others_asked) asked.runners_up = kRunnersUp;
  Warnings on_inputs;
  PlanQuestion question = read_question(arguments, asked, terminal, on_inputs);
  const RunCosts costs(asked.run, question.inputs, question.training);
  const bool priced = question.options.objective == Objective::cost || costs.costs_money() || costs.fails();
  std::optional<Plan> rival;  // read before the search: a mistake in it is found at once
  if (const auto choice = arguments.text("--why-not"); choice && names_plan(*choice))
    rival = read_rival(*choice, question, terminal);
  ProgressLine progress(terminal);
  question.options.progress = [&](const SearchProgress& p) { progress.show(p); };
  const StopSearch stop(question.options.deadline);
  const Deadline whole = question.options.deadline;
  // Half of the time is for other choices.
  if (whole.limited() && others_asked) question.options.deadline = whole.within(*whole.left() / 2);
  AnswerOptions also;
  also.asking = [&](const std::string& what) { progress.phase("looking for " + what); };
  SearchResult found = answer(question, also);
  question.options.deadline = whole;
  if (stop.interrupted())
    terminal.note(found.plans.empty() ? "nest: interrupted"
                                      : "nest: interrupted; this is the best plan found so far");
  if (found.status == PlanStatus::disagreement) return report_bug(found, arguments, terminal);
  if (found.plans.empty()) return answer_without_plan(question, found, arguments, progress, terminal);
  const Plan& best = found.plan();

  const Others others = ask_others(question, found, rival, arguments, progress);
  const Beside beside{found, question.inputs, question.options};
  if (others.why_not && others.why_not->found.status == PlanStatus::disagreement)
    return report_bug(others.why_not->found, arguments, terminal);

  Value value = Value::object();
  if (arguments.has("--json") || arguments.has("-o"))
    value = whole_answer(question, found, {.warnings = on_inputs, .stats = arguments.has("--stats")});
  write_output(arguments, "-o", [&] { return to_json(value) + "\n"; }, terminal);
  if (arguments.has("--json")) {
    if (others.why_not) value.set("why_not", why_not_value(*others.why_not, others.relaxations, beside));
    if (others.why) value.set("why", to_value(*others.why, beside));
    terminal.json(value);
    return kOk;
  }
  ScreenOptions screen;
  screen.heading = [&](std::string_view text) { return terminal.heading(text); };
  screen.warnings = question.notes;
  if (priced) {
    const RunCosts own(asked.run, question.inputs, best.training);
    screen.cost = plan_cost_sentence(best, question.inputs, own);
  }
  screen.complete = std::min(found.plans.size(), static_cast<std::size_t>(question.options.top));
  screen.brief = others.any();
  terminal.out(plan_screen(found, question.inputs, question.options, screen));
  if (others.why) terminal.out("\n" + why_text(*others.why, beside, screen));
  if (others.why_not) {
    terminal.out("\n" + why_not_text(*others.why_not, beside, screen));
    const std::string more = relaxations_text(others.relaxations, screen);
    if (!more.empty()) terminal.out("\n" + more);
  }
  if (arguments.has("--stats")) terminal.out("\n" + stats_text(found.stats, screen));
  return kOk;
}

}  // namespace

std::vector<Command> plan_commands() {
  std::vector<Option> options = input_options();
  for (Option& option :
       asked_options({AskedSection::training, AskedSection::choices, AskedSection::search, AskedSection::run},
                     kOfSizeOnly))
    options.push_back(std::move(option));
  options.push_back(asked_option("top"));
  options.push_back(
      {"--why", "", "say of each degree what its neighbouring values would cost, in a sentence each"});
  options.push_back({"--why-not", "CHOICE|FILE",
                     "say what a choice such as tensor=4 or the plan of a file would cost, or why it is "
                     "impossible, and what would make it the best"});
  options.push_back(
      {"--stats", "", "also show what the search did: counts, prunings and the time of each phase"});
  options.push_back(pipeline_model_option());
  options.push_back(
      {"-o", "FILE", "also write the plan to a file, for evaluate, explain, diff, simulate and export"});
  options.push_back(json_option());
  return {
      {"plan",
       "",
       0,
       0,
       "find the best plan for training a model on a cluster",
       "Finds the plan with the shortest step that fits in the memory of every device. A plan combines "
       "tensor, sequence, context, expert, pipeline and data parallelism, ZeRO, recomputation, the "
       "micro-batch size, the schedule, the stage boundaries and the device of every rank. The answer says "
       "how certain it is: a plan is optimal if no plan of the space is faster "
       "(docs/decisions/0004-plan-space.md defines the space). Every choice can be fixed (--tensor 8), given "
       "as a list (--zero 1,3) or as a range (--pipeline 2..16). If nothing fits, the answer says what "
       "would. The exit code is 3 if no plan is feasible, 4 if a limit is reached before a plan is found, "
       "and 5 if search and price disagree, which is a bug in nest.",
       std::move(options),
       {{"nest plan", "plan Llama-3.1 70B on 1,024 H100, with 1,024 sequences of 8,192 tokens"},
        {"nest plan --model llama3.1-8b --devices 64 -o plan.json", "plan for 64 devices and keep the plan"},
        {"nest plan --model mixtral-8x7b --devices 128 --expert 8 --pipeline 1..8",
         "fix or limit some of the choices"},
        {"nest plan --for megatron --top 3 --json",
         "print the three best plans that Megatron-LM can run as JSON"},
        {"nest plan --why", "find out what each degree is good for"},
        {"nest plan --why-not tensor=8", "find out what another choice would cost"},
        {"nest plan --why-not my-plan.json", "compare a plan of one's own with the best"},
        {"nest plan --objective devices --target-tokens-per-s 500000",
         "find the fewest devices that reach a throughput"},
        {"nest plan --model llama3.1-8b --objective cost --price 2.5/h",
         "find the plan that trains on a token for the least money"}},
       run_plan},
  };
}

}  // namespace nest::cli
