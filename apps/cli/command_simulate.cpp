// nest simulate: one step of a plan, event by event, beside its price.
#include <fmt/format.h>

#include <utility>

#include "command.hpp"
#include "nest/base/drawing/table.hpp"
#include "nest/base/numbers.hpp"
#include "nest/plan/text/plan_json.hpp"
#include "nest/price/price.hpp"
#include "nest/report/answer/plan_screen.hpp"
#include "nest/simulate/listeners/gantt.hpp"
#include "nest/simulate/listeners/trace.hpp"
#include "nest/simulate/simulate.hpp"
#include "plan_options.hpp"

namespace nest::cli {
namespace {

using Align = Table::Align;

std::string result_text(const SimulationResult& r, const PricedPlan& priced, const Terminal& terminal) {
  const std::vector<StageCost>& costs = priced.stages;
  std::string out = terminal.heading("One step") + "\n";
  out += fmt::format("  simulated  {}\n  priced     {}{}{}\n  {}\n", format(r.step), format(r.priced),
                     spell_interval(priced.predicted.interval), spell_fits(priced.predicted),
                     wrap(r.cause, kTextWidth, 2));
  out += fmt::format("  bubble     {} of the step\n\n", format_percent(r.bubble_fraction));
  Table stages({{"stage", Align::right},
                {"passes", Align::right},
                {"receiving", Align::right},
                {"idle", Align::right},
                {"peak memory", Align::right},
                {"of", Align::right}});
  for (std::size_t i = 0; i < r.stages.size(); ++i) {
    const SimulatedStage& s = r.stages[i];
    const double idle = 1 - (s.work + s.receiving).value / r.step.value;
    stages.add({std::to_string(i), format(s.work), format(s.receiving), format_percent(idle),
                format_memory(s.peak), format_memory(costs[i].memory.capacity)});
  }
  out += stages.str();
  if (r.links.empty()) return out;
  Table links(
      {{"busiest link"}, {"bytes", Align::right}, {"busy", Align::right}, {"waited for", Align::right}});
  for (const BusyLink& l : r.links) {
    links.add({l.name, format(l.bytes), format_percent(l.utilisation), format(l.waited)});
  }
  out += "\n" + links.str();
  out += fmt::format("{} passes of {} workers{}\n", format_digits(r.tasks), format_digits(r.workers),
                     "; a worker is one stage of one copy, and equal copies are simulated once "
                     "(--all-devices simulates all)");
  return out;
}

constexpr double kSlow = 4e6;  // from here on it takes seconds

int run_simulate(const Arguments& arguments, Terminal& terminal) {
  const std::string& file = arguments.positionals.front();
  OpenPlan open = open_complete_plan(file, arguments, terminal);
  Pricer pricer(std::move(open.inputs));
  Plan plan = std::move(open.plan);
  const PricedPlan priced = pricer.price(plan);
  if (priced.status == PriceStatus::invalid) throw InputError(file, "", priced.reason);
  plan = pricer.place(std::move(plan));
  const bool drawn = arguments.has("--trace") || arguments.has("--svg");
  const double passes =
      count_passes(plan, {.all_devices = arguments.has("--all-devices"), .drawn = drawn}, file);
  if (passes > kSlow) terminal.note(fmt::format("nest: simulating {:.2g} passes ...", passes));
  if (priced.status == PriceStatus::infeasible) terminal.note("nest: warning: infeasible: " + priced.reason);

  Timeline timeline;
  MemoryUse memory(arguments.has("--trace"));
  std::vector<Listener*> listeners;
  if (arguments.has("--trace") || arguments.has("--svg")) listeners.push_back(&timeline);
  if (arguments.has("--trace")) listeners.push_back(&memory);
  const SimulationResult result = run_simulation(plan, priced, pricer.inputs(),
                                                 {.all_devices = arguments.has("--all-devices")}, listeners);

  write_output(arguments, "--trace", [&] { return chrome_trace(timeline, memory); }, terminal);
  write_output(
      arguments, "--svg", [&] { return gantt_svg(timeline, {.title = "One step: " + file}); }, terminal);
  if (arguments.has("--json")) {
    Value out = to_value(result);
    out.set("status", name_of(priced.status)).set("reason", priced.reason);
    put_certainty(out, priced.predicted);
    terminal.json(out);
  } else {
    terminal.out(result_text(result, priced, terminal));
  }
  return kOk;
}

}  // namespace

std::vector<Command> simulate_commands() {
  return {
      {"simulate",
       "PLAN.json",
       1,
       1,
       "simulate one step of a plan event by event",
       "Simulates one training step of a plan: every pass of every stage in the order of the schedule, every "
       "send together with the others on the same links, and the gradient reduction, the optimizer and the "
       "parameter gathering at the end. The answer compares the simulated time with the price and explains "
       "the difference. It also shows the peak memory of each stage and the busiest links.",
       with_plan_file_options(
           {{"--trace", "FILE", "also write a trace for Perfetto or chrome://tracing to a file"},
            {"--all-devices", "", "simulate every copy, even if copies are equal"},
            svg_option(),
            json_option()}),
       {{"nest simulate plan.json", "show the step time, bubble, memory and links"},
        {"nest simulate plan.json --svg step.svg", "draw the pipeline"},
        {"nest simulate plan.json --trace step.json", "write a trace to open at ui.perfetto.dev"}},
       run_simulate},
  };
}

}  // namespace nest::cli
