#include <iostream>
#include <string>
#include <vector>

#include "compare.hpp"
#include "nest/api/nest.hpp"
#include "nest/api/strategy.hpp"
#include "two_dimensional.hpp"

namespace {

constexpr std::int64_t kDevices = 16;

struct Traffic {
  int collectives = 0;
  nest::Bytes forward;
  nest::Bytes backward;
  bool operator==(const Traffic&) const = default;
};

// What one device sends in a ring: twice (n-1)/n of an all-reduce's bytes.
nest::Bytes sent(nest::CollectiveKind kind, nest::Bytes bytes, std::int64_t group) {
  if (kind == nest::CollectiveKind::none) return {};
  const std::int64_t passes = kind == nest::CollectiveKind::all_reduce ? 2 : 1;
  return nest::Bytes{passes * bytes.value * (group - 1) / group};
}

Traffic traffic(const nest::ShardedLayer& s) {
  Traffic sum;
  for (const nest::Operator& op : s.layer.operators) {
    if (op.kind != nest::OperatorKind::collective) continue;
    const std::int64_t group = nest::group_size(s.strategy, op.collective);
    ++sum.collectives;
    sum.forward += sent(op.collective.forward, op.collective.forward_bytes, group);
    sum.backward += sent(op.collective.backward, op.collective.backward_bytes, group);
  }
  return sum;
}

}  // namespace

bool compare_layers() {
  const nest::Model model = nest::build_model(nest::zoo_model("llama3.1-70b"));
  const nest::LayerType& layer = model.type_of(nest::LayerId(1));
  nest::Table table({{"one layer on 16 devices"},
                     {"collectives", nest::Table::Align::right},
                     {"sent forward", nest::Table::Align::right},
                     {"sent backward", nest::Table::Align::right},
                     {"stash", nest::Table::Align::right},
                     {"FLOPs over ideal", nest::Table::Align::right}});
  const auto add = [&](const std::string& name, const nest::ShardedLayer& s) {
    const Traffic t = traffic(s);
    const double ideal = layer.forward_flops().value / kDevices;
    std::string extra = std::to_string(s.layer.forward_flops().value / ideal);
    extra.resize(5);
    table.add({name, std::to_string(t.collectives), nest::format(t.forward), nest::format(t.backward),
               nest::format(s.layer.stash_bytes()), extra});
    return t;
  };

  const nest::Strategy strategy{.tensor = kDevices};
  const Traffic usual = add("tensor 16", nest::shard_layer(layer, strategy));
  add("tensor 16, sequence parallel",
      nest::shard_layer(layer, {.tensor = kDevices, .sequence_parallel = true}));
  bool right = true;
  for (const std::int64_t columns : {1, 2, 4, 8}) {
    const Grid grid{kDevices / columns, columns};
    const std::vector<nest::SubgraphStrategy> rows = table_with(grid);
    if (const auto refusal = nest::check_strategy(model, strategy, rows)) {
      std::cout << refusal->sentence << "\n";
      return false;
    }
    const std::string name = "grid " + std::to_string(grid.rows) + " x " + std::to_string(grid.columns);
    const Traffic t = add(name, nest::shard_layer(layer, strategy, {}, rows));
    if (columns == 1) right = t == usual;  // one column is ordinary tensor parallelism
  }
  std::cout << table.str();
  return right;
}
