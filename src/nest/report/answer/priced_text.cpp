#include "nest/report/answer/priced_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "nest/base/drawing/table.hpp"
#include "nest/base/numbers.hpp"
#include "nest/plan/text/plan_keys.hpp"
#include "nest/plan/text/spell_plan.hpp"
#include "nest/report/answer/plan_notes.hpp"
#include "nest/report/answer/stage_rows.hpp"

namespace nest::report {
namespace {

using Align = Table::Align;

Bytes fullest(const PricedPlan& priced) {
  Bytes most;
  for (const StageCost& stage : priced.stages) most = std::max(most, stage.memory.total());
  return most;
}

std::string step_text(const Plan& plan, const PricedPlan& priced, const PlanInputs& inputs,
                      const ScreenOptions& options) {
  const Prediction& p = priced.predicted;
  const Training& t = plan.training;
  std::string out =
      wrap(fmt::format("{} on {}: {} devices, {}; global batch {} of {} tokens{}, {} micro-batches of {}",
                       inputs.model_name(), inputs.cluster.name(), plan.parallelism.devices(),
                       spell_degrees(plan), t.global_batch, format_digits(t.sequence),
                       beside_tokens(t.contents), t.micro_batches, t.micro_batch),
           kTextWidth, 0);
  out += fmt::format("\nstep {}{}, {} tokens/s, {} per device, MFU {:.1f} %\n", format(p.step),
                     spell_interval(p.interval), format_count(p.tokens_per_s), format(p.flops_per_device),
                     100 * p.mfu);
  out += memory_line(priced);
  if (priced.status == PriceStatus::infeasible) out += "does not fit: " + priced.reason + "\n";
  out += "\n" + options.title("Where the step goes") + "\n";
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
std::string memory_text(const PricedPlan& priced, const ScreenOptions& options) {
  Table table({{"stages"},
               {"per micro-batch", Align::right},
               {"weights", Align::right},
               {"gradients", Align::right},
               {"optimizer", Align::right},
               {"activations", Align::right},
               {"rest", Align::right},
               {"total", Align::right},
               {"of a device"}});
  const auto& stages = priced.stages;
  const auto row = [&](std::size_t i) {
    const StageMemory& m = stages[i].memory;
    const double share = m.share();
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
  std::vector<StageMemory> memory;
  memory.reserve(stages.size());
  for (const StageCost& stage : stages) memory.push_back(stage.memory);
  const std::string host = host_use(memory);
  return "\n" + options.title("Memory of a device") + " (" + format_memory(stages.front().memory.capacity) +
         ")\n" + table.str() + (host.empty() ? "" : "besides " + host + "\n");
}

}  // namespace

std::string memory_line(const PricedPlan& priced) {
  const std::string memory = spell_memory_interval(priced.predicted);
  if (memory.empty()) return "";
  return fmt::format("memory of the fullest device {} ({}{})\n", format_memory(fullest(priced)), memory,
                     spell_fits(priced.predicted));
}

std::string priced_text(const Plan& plan, const PricedPlan& priced, const PlanInputs& inputs,
                        const ScreenOptions& options) {
  return step_text(plan, priced, inputs, options) + memory_text(priced, options);
}

}  // namespace nest::report
