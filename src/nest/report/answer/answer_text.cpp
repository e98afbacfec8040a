#include "nest/report/answer/answer_text.hpp"

#include <fmt/format.h>

#include "nest/base/drawing/table.hpp"
#include "nest/plan/text/spell_plan.hpp"

namespace nest::report {
namespace {

using Align = Table::Align;

}  // namespace

std::string unfit_text(const SearchResult& found, const PlanInputs& inputs, const AdviceList& advice) {
  const Cluster& cluster = inputs.cluster;
  std::string out =
      wrap(fmt::format("no plan for {} on {} ({} x {}): {}", inputs.model_name(), cluster.name(),
                       format_digits(cluster.devices()), cluster.device_name(), found.reason),
           kTextWidth, 0) +
      "\n";
  if (advice.all.empty() && advice.stopped)
    return out +
           "No change that would make a plan possible was found before a limit, but there may be one.\n";
  if (advice.all.empty()) return out + "None of the changes that were tried would make a plan possible.\n";
  out += "\nEach of these changes would make a plan possible:\n";
  for (const Advice& a : advice.all) {
    out += "- " + wrap(a.sentence, kTextWidth, 2) + "\n";
    if (!a.plan) continue;
    const Training& t = a.plan->training;
    const std::string plan =
        fmt::format("{}, {} micro-batch{} of {}, recomputation {}", spell_degrees(*a.plan),
                    format_digits(t.micro_batches), t.micro_batches == 1 ? "" : "es", t.micro_batch,
                    spell_recompute(a.plan->stages));
    out += "  " + wrap(plan, kTextWidth, 2) + "\n";
  }
  if (advice.stopped) out += "There may be others: not all searches were finished within the time limit.\n";
  return out;
}

std::string stats_text(const SearchStats& stats, const ScreenOptions& options) {
  Table counts({{"count"}, {"", Align::right}});
  const auto count = [&](const char* name, std::int64_t n) { counts.add({name, format_digits(n)}); };
  count("strategies and micro-batch sizes", stats.strategies);
  count("configurations", stats.configurations);
  count("placements", stats.networks);
  count("tables filled", stats.fills);
  count("labels kept", stats.labels);
  count("transitions tried (--work-limit)", stats.work);
  for (const auto& [name, n] : stats.pruned) count(("pruned by " + name).c_str(), n);
  for (const auto& [name, time] : stats.times) counts.add({"time: " + name, format(time)});
  return options.title("Search") + "\n" + counts.str();
}

}  // namespace nest::report
