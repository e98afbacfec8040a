// nest explain and nest diff: why a plan takes as long as it does, and what tells two plans apart.
#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <utility>

#include "command.hpp"
#include "nest/base/drawing/table.hpp"
#include "nest/base/numbers.hpp"
#include "nest/plan/text/diff.hpp"
#include "nest/plan/text/plan_json.hpp"
#include "nest/plan/text/spell_plan.hpp"
#include "nest/price/price.hpp"
#include "nest/price/uncertainty.hpp"
#include "nest/question/make_question.hpp"
#include "nest/report/answer/explain.hpp"
#include "nest/report/answer/plan_screen.hpp"
#include "nest/report/answer/priced_text.hpp"
#include "nest/report/answer/shadow_text.hpp"
#include "nest/report/answer/stage_rows.hpp"
#include "plan_options.hpp"
#include "plan_progress.hpp"
#include "plan_question.hpp"
#include "stop_search.hpp"

namespace nest::cli {
namespace {

using Align = Table::Align;

std::string change_of(double share) {
  return std::abs(share) < 0.0005 ? format_percent(0) : format_signed_percent(share);
}

std::string effects_text(const Explanation& e, const Terminal& terminal) {
  Table table({{"change"}, {"step", Align::right}, {"", Align::right}, {""}});
  const double step = e.priced.predicted.step.value;
  for (const Effect& effect : e.effects) {
    if (effect.status == PriceStatus::invalid) continue;
    table.add({effect.change, format(effect.step), change_of(effect.step.value / step - 1),
               effect.status == PriceStatus::infeasible ? "does not fit" : ""});
  }
  std::string out = "\n" + terminal.heading("What binds") + "\n";
  for (const std::string& sentence : e.binds) out += "  " + wrap(sentence, kTextWidth, 2) + "\n";
  return out + "\n" + terminal.heading("What would change it") + "\n" + table.str();
}

ShadowPrices search_prices(const Plan& plan, const PlanInputs& inputs, const Arguments& arguments,
                           Terminal& terminal) {
  PlanQuestion question = question_of(plan, inputs, read_pipeline_model(arguments));
  ProgressLine progress(terminal);
  question.options.progress = [&](const SearchProgress& p) { progress.show(p); };
  const StopSearch stop(question.options.deadline);
  ShadowOptions options;
  if (const auto limit = read_asked(arguments, "time-limit").time_limit) options.limit = *limit;
  options.asking = [&](const std::string& what) { progress.phase(what); };
  ShadowPrices prices = shadow_prices(question, options);
  terminal.end_progress();
  return prices;
}

int run_explain(const Arguments& arguments, Terminal& terminal) {
  const PriceOptions options{read_pipeline_model(arguments)};
  const std::string& file = arguments.positionals.front();
  const OpenPlan open = open_complete_plan(file, arguments, terminal);
  Explanation e;
  try {
    e = explain(open.plan, open.inputs, options);
  } catch (const InputError& error) {
    throw InputError(file, "", error.problem(), error.hint());
  }
  std::optional<ShadowPrices> prices;
  if (!arguments.has("--no-search")) prices = search_prices(e.plan, open.inputs, arguments, terminal);
  if (arguments.has("--json")) {
    Value v = to_value(e);
    if (prices) put_shadow_prices(v, *prices);
    terminal.json(v);
  } else {
    ScreenOptions screen;
    screen.heading = [&](std::string_view text) { return terminal.heading(text); };
    terminal.out(priced_text(e.plan, e.priced, open.inputs, screen) + effects_text(e, terminal));
    if (prices) terminal.out("\n" + shadow_text(*prices, e.plan, screen));
  }
  return kOk;
}

// A plan that is priced, and whether it fits.
struct Side {
  Plan plan;
  PlanInputs inputs;
  std::string problem;
};

Side priced_side(const std::string& file, const Arguments& arguments, const PriceOptions& options,
                 Terminal& terminal) {
  OpenPlan open = open_complete_plan(file, arguments, terminal);
  Pricer pricer(open.inputs, options);
  const PricedPlan priced = pricer.price(open.plan);
  if (priced.status == PriceStatus::invalid) throw InputError(file, "", priced.reason);
  return {with_results(std::move(open.plan), priced), std::move(open.inputs), priced.reason};
}

// How sure the steps are, and how likely the plans fit, as far as that is known.
void add_certainty(const Prediction& first, const Prediction& second, Table& table) {
  const auto row = [&](const std::string& what, const std::string& a, const std::string& b) {
    if (!a.empty() || !b.empty()) table.add({what, a, b, ""});
  };
  const auto step = [](const Prediction& p) {
    return p.interval.coverage > 0 ? text_range(format(p.interval.low), format(p.interval.high)) : "";
  };
  const auto memory = [](const Prediction& p) {
    return p.memory ? text_range(format_memory(p.memory->low), format_memory(p.memory->high)) : "";
  };
  const std::string level = format_percent(kCoverage, 0);
  row("step, " + level, step(first), step(second));
  row("memory, " + level, memory(first), memory(second));
  row("fits with", spell_fitting(first), spell_fitting(second));
}

std::string difference_text(const PlanDifference& d, const Plan& first, const Plan& second,
                            const Arguments& arguments, const Terminal& terminal) {
  const std::string& a = arguments.positionals[0];
  const std::string& b = arguments.positionals[1];
  std::string out;
  if (d.choices.empty()) {
    out += "The plans make the same choices.\n";
  } else {
    Table choices({{"choice"}, {a}, {b}});
    for (const ChoiceDifference& c : d.choices) choices.add({c.what, c.first, c.second});
    out += choices.str();
  }
  Table terms({{"part"}, {a, Align::right}, {b, Align::right}, {"change", Align::right}});
  for (const TermDifference& t : d.terms) {
    if (t.first.value == 0 && t.second.value == 0) continue;
    const double change = t.change().value;
    terms.add({t.name, format(t.first), format(t.second),
               (change < 0 ? "-" : "+") + format(Seconds{std::abs(change)})});
  }
  terms.add({"step", format(d.first), format(d.second), change_of(d.second.value / d.first.value - 1)});
  add_certainty(*first.predicted, *second.predicted, terms);
  return out + "\n" + terminal.heading("Time") + "\n" + terms.str();
}

int run_diff(const Arguments& arguments, Terminal& terminal) {
  const PriceOptions options{read_pipeline_model(arguments)};
  const Side a = priced_side(arguments.positionals[0], arguments, options, terminal);
  const Side b = priced_side(arguments.positionals[1], arguments, options, terminal);
  PlanDifference d = diff(a.plan, b.plan);
  const std::vector<ChoiceDifference> inputs = diff_inputs(a.inputs, b.inputs);
  d.choices.insert(d.choices.begin(), inputs.begin(), inputs.end());
  for (const auto& [side, file] :
       {std::pair(&a, &arguments.positionals[0]), {&b, &arguments.positionals[1]}}) {
    if (!side->problem.empty()) terminal.note("nest: warning: " + *file + " does not fit: " + side->problem);
  }
  if (!arguments.has("--json")) {
    terminal.out(difference_text(d, a.plan, b.plan, arguments, terminal));
    return kOk;
  }
  terminal.json(to_value(d, a.plan, b.plan));
  return kOk;
}

}  // namespace

std::vector<Command> explain_commands() {
  return {
      {"explain",
       "PLAN.json",
       1,
       1,
       "explain why a plan takes as long as it does, and what would help",
       "Shows on one screen where the time of a step goes, how much memory every stage needs, and what "
       "limits the plan: memory, a level of the network, compute, or the pipeline bubble. It then prices the "
       "step again with 10 % more compute, with 10 % more bandwidth at each level, and with more and fewer "
       "micro-batches. Last it searches for the best plan with 25 % more bandwidth at each level, with 8 GiB "
       "more "
       "memory and with one more node, and compares it with the best plan as things are. A file with degrees "
       "alone needs --model and --cluster.",
       with_plan_file_options(
           {{"--no-search", "", "do not search for what more bandwidth, memory and devices would buy"},
            {"--time-limit", "S", "the time for these searches, all together (default 10)"},
            pipeline_model_option(),
            json_option()}),
       {{"nest explain plan.json", "one screen"},
        {"nest explain plan.json --no-search", "the prices alone, at once"},
        {"nest explain degrees.json --model llama3.1-8b --cluster h100-spine-leaf",
         "degrees that run somewhere"}},
       run_explain},
      {"diff",
       "A.json B.json",
       2,
       2,
       "compare two plans choice by choice",
       "Lists the choices in which two plans differ, prices both, and shows how much each part of the step "
       "changes.",
       with_plan_file_options({pipeline_model_option(), json_option()}),
       {{"nest diff a.json b.json", "compare two plans"}},
       run_diff},
  };
}

}  // namespace nest::cli
