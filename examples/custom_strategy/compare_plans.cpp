#include <cmath>
#include <iostream>
#include <optional>
#include <string>

#include "compare.hpp"
#include "nest/api/nest.hpp"
#include "two_dimensional.hpp"

namespace {

constexpr std::int64_t kDevices = 72;  // one rack

std::string spell(const Grid& grid) {
  return "grid " + std::to_string(grid.rows) + " x " + std::to_string(grid.columns);
}

std::string milliseconds(nest::Seconds time) {
  const std::string text = std::to_string(time.value * 1e3);
  return text.substr(0, text.find('.') + 2) + " ms";
}

bool same(nest::Seconds a, nest::Seconds b) {
  return std::abs(a.value - b.value) <= 1e-9 * a.value;
}

nest::SearchResult find_plan(const nest::PlanInputs& inputs, std::int64_t global_batch) {
  nest::Asked asked;
  asked.global_batch = global_batch;
  nest::set_asked(asked, "tensor", "1,2,4,8,16");
  nest::set_asked(asked, "sequence-parallel", "on,off");  // the grid goes without
  return nest::search(inputs, asked);
}

// The same plan with what the inputs' own table of strategies makes of it.
nest::Seconds price(const nest::Plan& plan, const nest::PlanInputs& inputs) {
  return nest::Pricer(inputs).price(plan).predicted.step;
}

}  // namespace

bool compare_plans() {
  nest::Warnings warnings;
  nest::PlanInputs usual = nest::load_inputs("llama3.1-70b", "gb200-nvl72", "megatron", warnings);
  usual.cluster = nest::with_devices(usual.cluster, kDevices);
  nest::Table table({{"grid in the table"},
                     {"batch", nest::Table::Align::right},
                     {"strategy"},
                     {"data", nest::Table::Align::right},
                     {"collectives", nest::Table::Align::right},
                     {"step", nest::Table::Align::right},
                     {"without grid", nest::Table::Align::right}});
  bool right = true;
  for (const std::int64_t batch : {4, 8}) {
    nest::Seconds of_library;
    for (const std::optional<Grid>& grid : {std::optional<Grid>{}, std::optional(Grid{16, 1}),
                                            std::optional(Grid{8, 2}), std::optional(Grid{4, 4})}) {
      nest::PlanInputs inputs = usual;
      if (grid) inputs.strategies = table_with(*grid);
      const nest::SearchResult found = find_plan(inputs, batch);
      if (found.plans.empty()) {
        std::cout << found.reason << "\n";
        return false;
      }
      const nest::Plan& plan = found.plans.front();
      const nest::Strategy& strategy = plan.parallelism.strategy;
      const bool uses_grid = grid && strategy.tensor == grid->devices();
      const nest::Seconds step = plan.predicted->step;
      const nest::Seconds without = price(plan, usual);
      table.add({grid ? spell(*grid) : "none", std::to_string(batch),
                 uses_grid ? spell(*grid) : nest::spell(strategy), std::to_string(plan.parallelism.data),
                 milliseconds(plan.predicted->breakdown.tensor), milliseconds(step), milliseconds(without)});
      right = right && found.status == nest::PlanStatus::optimal && same(step, price(plan, inputs));
      // One column is ordinary tensor parallelism; more are not, and the price says so.
      const bool ordinary = !uses_grid || grid->columns == 1;
      right = right && same(step, without) == ordinary;
      if (!grid) of_library = step;
      if (grid && grid->columns == 1) right = right && same(step, of_library);
    }
  }
  std::cout << table.str();
  return right;
}
