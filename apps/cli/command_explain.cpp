// nest explain and nest diff: why a plan takes as long as it does, and what tells two plans apart.
#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "command.hpp"
#include "nest/base/drawing/table.hpp"
#include "nest/base/numbers.hpp"
#include "nest/plan/text/diff.hpp"
#include "nest/plan/text/plan_json.hpp"
#include "nest/plan/text/plan_keys.hpp"
#include "nest/plan/text/spell_plan.hpp"
#include "nest/price/price.hpp"
#include "nest/report/answer/answer_value.hpp"
#include "nest/report/answer/explain.hpp"
#include "nest/report/answer/plan_screen.hpp"
#include "nest/report/answer/stage_rows.hpp"
#include "plan_options.hpp"

namespace nest::cli {
namespace {

using Align = Table::Align;

std::string change_of(double share) {
  return std::abs(share) < 0.0005 ? format_percent(0) : format_signed_percent(share);
}

std::string step_text(const Explanation& e, const PlanInputs& inputs, const Terminal& terminal) {
  const Prediction& p = e.priced.predicted;
  const Training& t = e.plan.training;
  std::string out =
      wrap(fmt::format("{} on {}: {} devices, {}; global batch {} of {} tokens, {} micro-batches of {}",
                       inputs.model_name(), inputs.cluster.name(), e.plan.parallelism.devices(),
                       spell_degrees(e.plan), t.global_batch, format_digits(t.sequence), t.micro_batches,
                       t.micro_batch),
           kTextWidth, 0);
  out += fmt::format("\nstep {}{}, {} tokens/s, {} per device, MFU {:.1f} %{}\n", format(p.step),
                     spell_interval(p.interval), format_count(p.tokens_per_s), format(p.flops_per_device),
                     100 * p.mfu, spell_fits(p));
  if (e.priced.status == PriceStatus::infeasible) out += "does not fit: " + e.priced.reason + "\n";
  out += "\n" + terminal.heading("Where the step goes") + "\n";
  Table table({{"part"}, {"time", Align::right}, {"share", Align::right}, {""}});
  for (const auto& key : kBreakdownKeys) {
    const Seconds time = p.breakdown.*key.member;
    if (time.value <= 0) continue;
    const double share = time.value / p.step.value;
    table.add({spell_term(key.key), format(time), format_percent(share), text_bar(share, 40)});
  }
  return out + table.str();
}

// Stages with the same figures on one line.
std::string memory_text(const Explanation& e, const Terminal& terminal) {
  Table table({{"stages"},
               {"per micro-batch", Align::right},
               {"weights", Align::right},
               {"gradients", Align::right},
               {"optimizer", Align::right},
               {"activations", Align::right},
               {"rest", Align::right},
               {"total", Align::right},
               {"of a device"}});
  const auto& stages = e.priced.stages;
  const auto row = [&](std::size_t i) {
    const StageMemory& m = stages[i].memory;
    const double share = static_cast<double>(m.total().value) / static_cast<double>(m.capacity.value);
    return std::vector<std::string>{
        format(stages[i].time().total()), format_memory(m.weights),
        format_memory(m.gradients),       format_memory(m.optimizer),
        format_memory(m.activations),     format_memory(m.workspace + m.fragmentation + m.reserve),
        format_memory(m.total()),         text_bar(share, 10) + fmt::format(" {:.0f} %", 100 * share)};
  };
  for (std::size_t i = 0; i < stages.size();) {
    std::size_t last = i;
    std::vector<std::string> cells = row(i);
    while (last + 1 < stages.size() && row(last + 1) == cells) ++last;
    cells.insert(cells.begin(), last == i ? std::to_string(i) : fmt::format("{}-{}", i, last));
    table.add(std::move(cells));
    i = last + 1;
  }
  return "\n" + terminal.heading("Memory of a device") + " (" +
         format_memory(stages.front().memory.capacity) + ")\n" + table.str();
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

Value explanation_value(const Explanation& e) {
  Value v = priced_value(e.priced);
  Value binds = Value::array();
  for (const std::string& sentence : e.binds) binds.push(sentence);
  v.set("binds", std::move(binds));
  Value effects = Value::array();
  for (const Effect& effect : e.effects) {
    Value one = Value::object();
    one.set("change", effect.change).set("status", name_of(effect.status)).set("step_s", effect.step.value);
    effects.push(std::move(one));
  }
  v.set("effects", std::move(effects));
  return v;
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
  if (arguments.has("--json")) {
    terminal.json(explanation_value(e));
  } else {
    terminal.out(step_text(e, open.inputs, terminal) + memory_text(e, terminal) + effects_text(e, terminal));
  }
  return kOk;
}

// A plan that is priced, and whether it fits.
struct Side {
  Plan plan;
  PlanInputs inputs;
  std::string problem;
};

Side priced_side(const std::string& file, const PriceOptions& options, const Arguments& arguments,
                 Terminal& terminal) {
  OpenPlan open = open_complete_plan(file, arguments, terminal);
  Pricer pricer(open.inputs, options);
  const PricedPlan priced = pricer.price(open.plan);
  if (priced.status == PriceStatus::invalid) throw InputError(file, "", priced.reason);
  return {with_results(std::move(open.plan), priced), std::move(open.inputs), priced.reason};
}

std::string difference_text(const PlanDifference& d, const Arguments& arguments, const Terminal& terminal) {
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
  return out + "\n" + terminal.heading("Time") + "\n" + terms.str();
}

int run_diff(const Arguments& arguments, Terminal& terminal) {
  const PriceOptions options{read_pipeline_model(arguments)};
  const Side a = priced_side(arguments.positionals[0], options, arguments, terminal);
  const Side b = priced_side(arguments.positionals[1], options, arguments, terminal);
  PlanDifference d = diff(a.plan, b.plan);
  const std::vector<ChoiceDifference> inputs = diff_inputs(a.inputs, b.inputs);
  d.choices.insert(d.choices.begin(), inputs.begin(), inputs.end());
  for (const auto& [side, file] :
       {std::pair(&a, &arguments.positionals[0]), {&b, &arguments.positionals[1]}}) {
    if (!side->problem.empty()) terminal.note("nest: warning: " + *file + " does not fit: " + side->problem);
  }
  if (!arguments.has("--json")) {
    terminal.out(difference_text(d, arguments, terminal));
    return kOk;
  }
  Value choices = Value::array();
  for (const ChoiceDifference& c : d.choices) {
    Value one = Value::object();
    one.set("what", c.what).set("first", c.first).set("second", c.second);
    choices.push(std::move(one));
  }
  Value terms = Value::array();
  for (const TermDifference& t : d.terms) {
    Value one = Value::object();
    one.set("name", t.name).set("first_s", t.first.value).set("second_s", t.second.value);
    one.set("change_s", t.change().value);
    terms.push(std::move(one));
  }
  Value out = Value::object();
  out.set("first_s", d.first.value).set("second_s", d.second.value).set("choices", std::move(choices));
  out.set("terms", std::move(terms));
  terminal.json(out);
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
       "micro-batches.",
       {calibration_option(), pipeline_model_option(), json_option()},
       {{"nest explain plan.json", "one screen"}},
       run_explain},
      {"diff",
       "A.json B.json",
       2,
       2,
       "compare two plans choice by choice",
       "Lists the choices in which two plans differ, prices both, and shows how much each part of the step "
       "changes.",
       {calibration_option(), pipeline_model_option(), json_option()},
       {{"nest diff a.json b.json", "compare two plans"}},
       run_diff},
  };
}

}  // namespace nest::cli
