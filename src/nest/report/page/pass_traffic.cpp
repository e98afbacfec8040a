#include "nest/report/page/pass_traffic.hpp"

#include <array>
#include <map>
#include <tuple>
#include <utility>

#include "nest/estimate/collectives/cell_network.hpp"
#include "nest/estimate/layers/layer_compute.hpp"
#include "nest/plan/recompute_walk.hpp"
#include "nest/price/layers/cost_book.hpp"
#include "nest/price/stage_cost.hpp"
#include "nest/price/step_groups.hpp"
#include "nest/simulate/traffic/traffic.hpp"

namespace nest::report {
namespace {

constexpr double kGatherBytes = 2;  // parameters are gathered as they are computed with

using Groups = std::vector<std::vector<DeviceId>>;

// Devices of each cell that differ in one coordinate alone: `count` of them, `inner` ids apart.
Groups axis_groups(const std::vector<Cell>& cells, std::int64_t inner, std::int64_t count) {
  Groups groups;
  const auto step = static_cast<std::size_t>(inner);
  const std::size_t span = step * static_cast<std::size_t>(count);
  for (const Cell& cell : cells) {
    for (std::size_t block = 0; block + span <= cell.size(); block += span) {
      for (std::size_t i = 0; i < step; ++i) {
        std::vector<DeviceId>& group = groups.emplace_back();
        for (std::size_t k = 0; k < span; k += step) group.push_back(cell[block + i + k]);
      }
    }
  }
  return groups;
}

class PassCounter {
 public:
  PassCounter(const Plan& plan, const PlanInputs& inputs, DomainTraffic* domains)
      : plan_(plan),
        inputs_(inputs),
        domains_(domains),
        book_(inputs),
        traffic_(inputs.cluster, inputs.constants()),
        levels_(inputs.cluster.levels().size()) {}

  std::vector<PassTraffic> count() {
    for (std::size_t i = 0; i < plan_.stages.size(); ++i) {
      Parameters held;
      if (inputs_.profile() == nullptr) {
        held = count_layers(plan_.stages[i]);
      } else {
        held = profile_parameters(plan_.stages[i]);
      }
      if (plan_.parallelism.zero.reduces_every_micro_batch()) count_zero(i, held);
    }
    return std::move(levels_);
  }

 private:
  struct Parameters {  // of one device
    double dense = 0;
    double expert = 0;
    double frozen_dense = 0;  // bytes that ZeRO-3 gathers for a forward and a backward pass together
    double frozen_expert = 0;
  };

  // Equal collectives of a stage: kind, axis, bytes, members and stride of a part of the axis.
  using Key = std::tuple<CollectiveKind, GroupAxis, std::int64_t, std::int64_t, std::int64_t>;

  static double PassTraffic::* purpose_of(GroupAxis axis) {
    switch (axis) {
      case GroupAxis::tensor:
        return &PassTraffic::tensor;
      case GroupAxis::context:
        return &PassTraffic::context;
      case GroupAxis::expert:
      case GroupAxis::expert_tensor:
        break;
    }
    return &PassTraffic::expert;
  }

  Parameters count_layers(const Stage& stage) {
    const BuiltModel& built = book_.model(plan_.training.micro_batch, plan_.training);
    std::map<Key, double> times;
    Parameters held;
    RecomputeWalk walk(stage.recompute);
    for (const LayerId id : stage.layers) {
      const LayerPolicy policy = walk.next(built.graph.recomputes(id));
      const LayerCompute& layer =
          book_.computes(plan_.training, stage.strategy, policy)[built.model->layers[id.index()].type];
      held.dense += static_cast<double>(layer.dense_parameters);
      held.expert += static_cast<double>(layer.expert_parameters);
      const double passes = layer.has_backward ? 2 : 1;
      held.frozen_dense += passes * gathered(layer.frozen_dense);
      held.frozen_expert += passes * gathered(layer.frozen_experts);
      for (const LayerCollective& c : layer.collectives) {
        std::int64_t runs = 0;
        for (const std::int64_t n : c.count) runs += n;
        const Key key{c.shape.forward, c.shape.group, c.shape.forward_bytes.value, c.shape.members,
                      c.shape.stride};
        times[key] += static_cast<double>(runs * c.shape.repeats);
      }
    }
    for (const auto& [key, runs] : times) count_collective(stage, key, runs);
    return held;
  }

  void count_collective(const Stage& stage, const Key& key, double runs) {
    const auto& [kind, axis, bytes, members, stride] = key;
    const std::int64_t inner = inner_ids(stage.strategy)[static_cast<std::size_t>(axis)] * stride;
    const std::int64_t count = members > 0 ? members : degree_of(stage.strategy, axis);
    if (kind == CollectiveKind::none || count < 2) return;
    add(kind, Bytes{bytes}, axis_groups(stage.devices, inner, count), runs, purpose_of(axis));
  }

  Parameters profile_parameters(const Stage& stage) const {
    const LayerProfile& profile = *inputs_.profile();
    for (const ProfileStrategy& s : profile.strategies) {
      if (s.tensor != stage.strategy.tensor || s.expert != stage.strategy.expert ||
          s.context != stage.strategy.context)
        continue;
      Parameters held;
      for (const LayerId id : stage.layers) {
        const ProfileLayer& layer = s.layers[id.index()];
        const auto size = static_cast<double>(profile.parameter_dtype_bytes);
        held.dense += static_cast<double>((layer.parameters - layer.expert_parameters).value) / size;
        held.expert += static_cast<double>(layer.expert_parameters.value) / size;
      }
      return held;
    }
    return {};
  }

  static double gathered(const FrozenWeights& weights) {
    return static_cast<double>(weights.wide + weights.low) * kGatherBytes + weights.packed_bytes;
  }

  void count_zero(std::size_t stage, const Parameters& held) {
    using Group = StepCollective::Group;
    const auto reduced =
        static_cast<double>(size_of(recipe_for(inputs_.recipe, plan_.training).reduce_dtype));
    for (const auto& [parameters, frozen, group] :
         {std::tuple(held.dense, held.frozen_dense, Group::dense_inner),
          std::tuple(held.expert, held.frozen_expert, Group::expert_inner)}) {
      if (parameters + frozen <= 0) continue;
      const Groups groups = step_groups(plan_, stage, group);
      if (frozen > 0 && plan_.parallelism.zero.gathers_every_pass())
        add(CollectiveKind::all_gather, round_up_bytes(frozen), groups, 1, &PassTraffic::parameters);
      if (parameters <= 0) continue;
      add(CollectiveKind::reduce_scatter, round_up_bytes(parameters * reduced), groups, 1,
          &PassTraffic::gradients);
      if (!plan_.parallelism.zero.gathers_every_pass()) continue;
      // Before the forward and before the backward pass.
      add(CollectiveKind::all_gather, round_up_bytes(parameters * kGatherBytes), groups, 2,
          &PassTraffic::parameters);
    }
  }

  // `runs`: of one micro-batch.
  void add(CollectiveKind kind, Bytes bytes, const Groups& groups, double runs,
           double PassTraffic::* purpose) {
    const double all = runs * static_cast<double>(plan_.training.micro_batches);
    if (kind == CollectiveKind::send) {
      // Round the group: each sends to the next.
      for (const std::vector<DeviceId>& group : groups) {
        for (std::size_t i = 0; i < group.size(); ++i) {
          const DeviceId next = group[(i + 1) % group.size()];
          const auto level = inputs_.cluster.tree().meet(group[i], next);
          if (!level) continue;
          const double sent = all * static_cast<double>(bytes.value);
          levels_[level->index()].*purpose += sent;
          if (domains_ == nullptr) continue;
          for (const LinkId link : traffic_.links().path(group[i], next))
            domains_->add(traffic_.links(), link, sent);
        }
      }
      return;
    }
    const Job job = traffic_.collective(kind, bytes, groups);
    for (const LevelBytes& level : job.by_level) {
      levels_[level.level.index()].*purpose += all * level.bytes;
    }
    if (domains_ != nullptr) domains_->add(traffic_.links(), job, all);
  }

  const Plan& plan_;
  const PlanInputs& inputs_;
  DomainTraffic* domains_;
  CostBook book_;
  Traffic traffic_;
  std::vector<PassTraffic> levels_;
};

}  // namespace

std::vector<PassTraffic> pass_traffic(const Plan& placed, const PlanInputs& inputs, DomainTraffic* domains) {
  return PassCounter(placed, inputs, domains).count();
}

}  // namespace nest::report
