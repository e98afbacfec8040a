// An exact dynamic program for paper_space() under the pipeline model `paper`, written apart from the search:
// its own sums of layers, memory and pipeline, and placements as plan/placement and plan/plan_network have
// them. For a configuration (strategy, stages, copies, placement) and stages 0 to p-1
//
//   step = (m + p - 1) max u_i + max_i (R_i - sum_{k<i} b_k),   R_i = max(alone_i, (i+1)/p together_i)
//
// and from the last stage to the first, over suffixes of the layers, all pairs (max u, the second term) that
// no other pair is below in both are kept.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "nest/network/cells/placement.hpp"
#include "nest/plan/inputs.hpp"
#include "nest/plan/plan.hpp"
#include "nest/price/network/plan_network.hpp"

namespace nest::test {
using namespace solve;

class PaperProgram {
 public:
  // `inputs` outlive this: a layer profile that is a chain, and the recipe plain.
  PaperProgram(const PlanInputs& inputs, const Training& training)
      : inputs_(inputs),
        training_(training),
        constants_(inputs.constants()),
        collectives_(inputs.cluster, constants_) {}

  // The best plan, without devices; none where no plan fits.
  [[nodiscard]] std::optional<Plan> run() {
    std::vector<Configuration> all = configurations();
    std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.bound < b.bound; });
    for (const Configuration& c : all) {
      if (c.bound >= best_) break;
      own_ = &inputs_.profile()->strategies[c.strategy];
      sum_layers();
      // Without a network first: most configurations that lose, lose there.
      if (!fill(c, nullptr)) continue;
      for (const std::int64_t inner : divisors(c.copies)) {
        PlacementShape shape{strategy(*own_).cell(), c.stages, inner, c.copies / inner, 0, false};
        for (const std::int64_t block : shape.outer == 1
                                            ? std::vector<std::int64_t>{0}
                                            : block_sizes(inputs_.cluster.sorted().tree(), shape)) {
          shape.block_devices = block;
          for (const bool first : {false, true}) {
            shape.first_stage_first = first;
            if (!first || c.stages > 1) try_placement(c, shape);
          }
        }
      }
    }
    return best_plan_;
  }

  [[nodiscard]] double step() const { return best_; }
  [[nodiscard]] std::int64_t tables() const { return tables_; }

 private:
  struct Configuration {
    std::size_t strategy = 0;
    std::int64_t stages = 1;
    std::int64_t copies = 1;
    std::int64_t micro_batches = 1;
    double bound = 0;
  };

  // The stages from one on.
  struct Label {
    double longest = 0;      // max u
    double end = 0;          // of the reductions, counted from the end of this stage's last backward pass
    std::size_t next = 0;    // first layer of the stage after it
    bool recompute = false;  // of this stage
    std::size_t rest = 0;    // the label of the stages after it
  };
  using Labels = std::vector<Label>;

  static std::vector<std::int64_t> divisors(std::int64_t n) {
    std::vector<std::int64_t> all;
    for (std::int64_t d = 1; d <= n; ++d) {
      if (n % d == 0) all.push_back(d);
    }
    return all;
  }

  static Strategy strategy(const ProfileStrategy& own) {
    Strategy s;
    s.tensor = own.tensor;
    s.sequence_parallel = own.sequence_parallel;
    s.context = own.context;
    s.expert = own.expert;
    return s;
  }

  [[nodiscard]] std::vector<Configuration> configurations() const {
    std::vector<Configuration> all;
    const LayerProfile& profile = *inputs_.profile();
    for (std::size_t i = 0; i < profile.strategies.size(); ++i) {
      const Strategy s = strategy(profile.strategies[i]);
      const std::int64_t cells = inputs_.cluster.devices() / s.cell();
      const std::int64_t together = profile.micro_batch * s.side();
      if (training_.global_batch % together != 0) continue;
      double work = 0;
      double longest = 0;
      for (const ProfileLayer& l : profile.strategies[i].layers) {
        work += l.forward.value + l.backward.value;
        longest = std::max(longest, l.forward.value + l.backward.value);
      }
      const auto layers = static_cast<std::int64_t>(profile.strategies[i].layers.size());
      for (const std::int64_t q : divisors(training_.global_batch / together)) {
        for (std::int64_t p = 1; p <= std::min(layers, cells / q); ++p) {
          Configuration c{i, p, q, training_.global_batch / together / q, 0};
          // A millionth less, for sums in another order.
          c.bound = rounds(c) * std::max(work / static_cast<double>(p), longest) * (1 - 1e-6);
          all.push_back(c);
        }
      }
    }
    return all;
  }

  static double rounds(const Configuration& c) { return static_cast<double>(c.micro_batches + c.stages - 1); }

  // Sums of the first layers, and what crosses the cut before each layer.
  void sum_layers() {
    const std::size_t n = own_->layers.size();
    forward_.assign(n + 1, 0);
    backward_.assign(n + 1, 0);
    parameters_.assign(n + 1, 0);
    stash_.assign(n + 1, 0);
    incoming_.assign(n + 1, 0);
    crossing_.assign(n + 1, 0);
    for (std::size_t i = 0; i < n; ++i) {
      const ProfileLayer& l = own_->layers[i];
      forward_[i + 1] = forward_[i] + l.forward.value;
      backward_[i + 1] = backward_[i] + l.backward.value;
      parameters_[i + 1] = parameters_[i] + l.parameters.value;
      stash_[i + 1] = stash_[i] + l.activations.value;
    }
    std::map<std::pair<std::int32_t, std::string>, std::pair<std::int64_t, std::int32_t>> tensors;
    for (const Edge& e : own_->edges) {
      incoming_[e.to.index() + 1] += e.bytes.value;
      auto& [bytes, last] = tensors[{e.from.value, e.tensor}];
      bytes = std::max(bytes, e.bytes.value);
      last = std::max(last, e.to.value);
    }
    std::partial_sum(incoming_.begin(), incoming_.end(), incoming_.begin());
    for (const auto& [from, tensor] : tensors) {
      for (std::int32_t i = from.first + 1; i <= tensor.second; ++i)
        crossing_[static_cast<std::size_t>(i)] += tensor.first;
    }
  }

  // Of 16-bit weights, or gradients.
  [[nodiscard]] std::int64_t bytes_of(std::size_t from, std::size_t to) const {
    const std::int64_t size = inputs_.profile()->parameter_dtype_bytes;
    return (2 * (parameters_[to] - parameters_[from]) + size - 1) / size;
  }

  // Weights and gradients, a stash for each micro-batch in flight, and with recomputation one layer's
  // activations besides.
  [[nodiscard]] bool fits(std::size_t from, std::size_t to, std::int64_t in_flight, bool recompute) const {
    std::int64_t layer = 0;
    std::int64_t workspace = 0;
    for (std::size_t i = from; i < to; ++i) {
      workspace = std::max(workspace, own_->layers[i].workspace.value);
      layer = std::max(layer, own_->layers[i].workspace.value + own_->layers[i].activations.value);
    }
    const std::int64_t stash = recompute ? incoming_[to] - incoming_[from] : stash_[to] - stash_[from];
    return 2 * bytes_of(from, to) + in_flight * stash + (recompute ? layer : workspace) <=
           inputs_.cluster.device_memory().value;
  }

  [[nodiscard]] double time(CollectiveKind kind, std::int64_t bytes, const Shapes& shapes) {
    if (bytes == 0 || shapes.empty()) return 0;
    const auto [at, made] = times_.try_emplace({kind, bytes, shapes.begin()}, 0.0);
    if (made) at->second = slowest(kind, Bytes{bytes}, shapes, collectives_).value;
    return at->second;
  }

  void try_placement(const Configuration& c, const PlacementShape& shape) {
    const auto slots = place_cells(inputs_.cluster.sorted().tree(), shape);
    if (!slots) return;
    std::vector<std::vector<Cell>> cells;
    cells.reserve(static_cast<std::size_t>(c.stages));
    for (std::size_t i = 0; i < static_cast<std::size_t>(c.stages); ++i)
      cells.push_back(own_cells(inputs_.cluster, *slots, i));
    const std::vector<Strategy> strategies(cells.size(), strategy(*own_));
    const PlanNetwork network = plan_network(inputs_.cluster, constants_, strategies, cells, {});
    times_.clear();
    if (const Label* label = fill(c, &network)) keep(c, shape, *label);
  }

  // The label of the whole pipeline that is below the best plan so far, if any. Without a network, what is
  // sent takes no time.
  const Label* fill(const Configuration& c, const PlanNetwork* network) {
    ++tables_;
    const std::size_t n = own_->layers.size();
    const auto p = static_cast<std::size_t>(c.stages);
    const double most = best_ / rounds(c);  // of a stage
    table_.assign(p + 1, std::vector<Labels>(n + 1));
    table_[p][n] = {Label{}};
    for (std::size_t i = p; i-- > 0;) {
      // Stages before and after need a layer each, and those before have to bear the layers before.
      for (std::size_t from = i == 0 ? 0 : i; from + (p - i) <= n; ++from) {
        if (i == 0 && from > 0) break;
        if (forward_[from] + backward_[from] > static_cast<double>(i) * most) break;
        for (std::size_t to = from + 1; to + (p - i - 1) <= n; ++to) {
          if (work(from, to) >= most) break;
          if (table_[i + 1][to].empty()) continue;
          for (const bool recompute : {false, true}) extend(c, network, i, from, to, recompute);
        }
      }
    }
    const Label* best = nullptr;
    double lowest = best_;
    for (const Label& label : table_[0][0]) {
      const double step = rounds(c) * label.longest + label.end;
      if (step < lowest) {
        lowest = step;
        best = &label;
      }
    }
    return best;
  }

  [[nodiscard]] double work(std::size_t from, std::size_t to) const {
    return forward_[to] - forward_[from] + backward_[to] - backward_[from];
  }

  void extend(const Configuration& c, const PlanNetwork* network, std::size_t i, std::size_t from,
              std::size_t to, bool recompute) {
    const std::int64_t in_flight = std::min(c.micro_batches, c.stages - static_cast<std::int64_t>(i));
    if (!fits(from, to, in_flight, recompute)) return;
    const double ran = forward_[to] - forward_[from];
    double f = ran;
    double b = backward_[to] - backward_[from] + (recompute ? ran : 0);
    double reduce = 0;
    if (network != nullptr) {
      const StageNetwork& stage = network->stages[i];
      f += time(CollectiveKind::send, sent(from), stage.from_previous);
      b += time(CollectiveKind::send, sent(to), stage.from_next);
      const std::int64_t bytes = bytes_of(from, to);
      const Shapes& alone = stage.dense.whole_alone.empty() ? stage.dense.whole : stage.dense.whole_alone;
      reduce = std::max(time(CollectiveKind::all_reduce, bytes, alone),
                        time(CollectiveKind::all_reduce, bytes, stage.dense.whole) *
                            static_cast<double>(i + 1) / static_cast<double>(c.stages));
    }
    if ((f + b) * rounds(c) >= best_) return;
    const Labels& rest = table_[i + 1][to];
    for (std::size_t k = 0; k < rest.size(); ++k) {
      add({std::max(f + b, rest[k].longest), std::max(reduce, rest[k].end - b), to, recompute, k},
          table_[i][from]);
    }
  }

  [[nodiscard]] std::int64_t sent(std::size_t cut) const {
    const Strategy s = strategy(*own_);
    const std::int64_t shares = s.context * (s.shards_sequence() ? s.tensor : 1);
    return (crossing_[cut] + shares - 1) / shares;
  }

  static void add(const Label& label, Labels& labels) {
    for (const Label& other : labels) {
      if (other.longest <= label.longest && other.end <= label.end) return;
    }
    std::erase_if(
        labels, [&](const Label& other) { return label.longest <= other.longest && label.end <= other.end; });
    labels.push_back(label);
  }

  void keep(const Configuration& c, const PlacementShape& shape, const Label& label) {
    best_ = rounds(c) * label.longest + label.end;
    Plan plan;
    plan.training = training_;
    plan.training.micro_batch = inputs_.profile()->micro_batch;
    plan.training.micro_batches = c.micro_batches;
    Parallelism& p = plan.parallelism;
    p.strategy = strategy(*own_);
    p.pipeline = c.stages;
    p.data = c.copies * p.strategy.side();
    p.data_inner = shape.inner;
    p.block_devices = shape.block_devices;
    p.first_stage_first = shape.first_stage_first;
    std::size_t from = 0;
    Label at = label;
    for (std::size_t i = 0; i < static_cast<std::size_t>(c.stages); ++i) {
      Stage& stage = plan.stages.emplace_back();
      stage.strategy = p.strategy;
      stage.recompute.policy = at.recompute ? RecomputePolicy::full : RecomputePolicy::none;
      for (; from < at.next; ++from) stage.layers.emplace_back(static_cast<std::int32_t>(from));
      at = table_[i + 1][at.next][at.rest];
    }
    best_plan_ = std::move(plan);
  }

  const PlanInputs& inputs_;
  Training training_;
  FabricConstants constants_;
  CollectiveModel collectives_;
  const ProfileStrategy* own_ = nullptr;
  std::vector<double> forward_;
  std::vector<double> backward_;
  std::vector<std::int64_t> parameters_;
  std::vector<std::int64_t> stash_;
  std::vector<std::int64_t> incoming_;
  std::vector<std::int64_t> crossing_;
  std::map<std::tuple<CollectiveKind, std::int64_t, const GroupShape*>, double> times_;
  std::vector<std::vector<Labels>> table_;  // by stage and first layer
  double best_ = std::numeric_limits<double>::infinity();
  std::optional<Plan> best_plan_;
  std::int64_t tables_ = 0;
};

}  // namespace nest::test
