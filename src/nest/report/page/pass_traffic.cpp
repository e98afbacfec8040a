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
      const Held held =
          inputs_.profile() == nullptr ? count_layers(plan_.stages[i]) : profile_parameters(plan_.stages[i]);
      if (plan_.parallelism.zero.reduces_every_micro_batch()) count_zero(i, held);
    }
    return std::move(levels_);
  }

 private:
  struct Parameters {  // of one device
    double dense = 0;
    double expert = 0;
    double frozen_dense = 0;  // bytes that ZeRO-3 gathers for a forward pass
    double frozen_expert = 0;
    double again_dense = 0;  // and for a backward pass
    double again_expert = 0;
  };
  // Of layers whose gathered parameters are freed after each pass, and of those that keep them.
  struct Held {
    Parameters freed;
    Parameters kept;
  };

  // Of a stage's layer, counted from 0.
  [[nodiscard]] bool keeps(std::int64_t layer) const {
    const Resharding& resharding = plan_.parallelism.zero.resharding();
    return resharding.keeps() && (resharding.kind == Resharding::Kind::never || layer < resharding.number);
  }

  // Equal collectives of a stage: kind, axis, bytes, members and stride of a part of the axis.
  using Key = std::tuple<CollectiveKind, GroupAxis, std::int64_t, std::int64_t, std::int64_t>;

  static double PassTraffic::* purpose_of(GroupAxis axis) {
    switch (axis) {
      case GroupAxis::tensor:
        return &PassTraffic::tensor;
      case GroupAxis::context:
      case GroupAxis::context_inner:
      case GroupAxis::context_outer:
        return &PassTraffic::context;
      case GroupAxis::expert:
      case GroupAxis::expert_tensor:
        break;
    }
    return &PassTraffic::expert;
  }

  Held count_layers(const Stage& stage) {
    const BuiltModel& built = book_.model(plan_.training.micro_batch, plan_.training);
    std::map<Key, double> times;
    Held all;
    std::int64_t number = 0;
    RecomputeWalk walk(stage.recompute);
    for (const LayerId id : stage.layers) {
      Parameters& held = keeps(number++) ? all.kept : all.freed;
      const LayerPolicy policy = walk.next(built.graph.recomputes(id));
      const LayerCompute& layer =
          book_.computes(plan_.training, stage.strategy, policy)[built.model->layers[id.index()].type];
      held.dense += static_cast<double>(layer.dense_parameters);
      held.expert += static_cast<double>(layer.expert_parameters);
      held.frozen_dense += gathered(layer.frozen_dense);
      held.frozen_expert += gathered(layer.frozen_experts);
      if (layer.has_backward) {
        held.again_dense += gathered(layer.frozen_dense);
        held.again_expert += gathered(layer.frozen_experts);
      }
      for (const LayerCollective& c : layer.collectives) {
        std::int64_t runs = 0;
        for (const std::int64_t n : c.count) runs += n;
        const Key key{c.shape.forward, c.shape.group, c.shape.forward_bytes.value, c.shape.members,
                      c.shape.stride};
        times[key] += static_cast<double>(runs * c.shape.repeats);
      }
    }
    for (const auto& [key, runs] : times) count_collective(stage, key, runs);
    return all;
  }

  void count_collective(const Stage& stage, const Key& key, double runs) {
    const auto& [kind, axis, bytes, members, stride] = key;
    const std::int64_t inner = inner_ids(stage.strategy)[static_cast<std::size_t>(axis)] * stride;
    const std::int64_t count = members > 0 ? members : degree_of(stage.strategy, axis);
    if (kind == CollectiveKind::none || count < 2) return;
    add(kind, Bytes{bytes}, axis_groups(stage.devices, inner, count), runs, purpose_of(axis));
  }

  Held profile_parameters(const Stage& stage) const {
    const LayerProfile& profile = *inputs_.profile();
    for (const ProfileStrategy& s : profile.strategies) {
      if (s.tensor != stage.strategy.tensor || s.expert != stage.strategy.expert ||
          s.context != stage.strategy.context)
        continue;
      Held all;
      std::int64_t number = 0;
      for (const LayerId id : stage.layers) {
        Parameters& held = keeps(number++) ? all.kept : all.freed;
        const ProfileLayer& layer = s.layers[id.index()];
        const auto size = static_cast<double>(profile.parameter_dtype_bytes);
        held.dense += static_cast<double>((layer.parameters - layer.expert_parameters).value) / size;
        held.expert += static_cast<double>(layer.expert_parameters.value) / size;
      }
      return all;
    }
    return {};
  }

  static double gathered(const FrozenWeights& weights) {
    return static_cast<double>(weights.wide + weights.low) * kGatherBytes + weights.packed_bytes;
  }

  // What is left to the end of the step, or gathered at its start, is counted there.
  void count_zero(std::size_t stage, const Held& held) {
    using Group = StepCollective::Group;
    const Recipe recipe = recipe_for(inputs_.recipe, plan_.training);
    const Zero& zero = plan_.parallelism.zero;
    const bool pipeline = plan_.parallelism.pipeline > 1;
    const auto reduced = static_cast<double>(size_of(recipe.reduce_dtype));
    const bool near = zero.resharding().group() > 0;
    struct Row {
      double Parameters::* parameters;
      double Parameters::* frozen;
      double Parameters::* again;
      Group group;
      Group near;
    };
    constexpr std::array kRows{Row{&Parameters::dense, &Parameters::frozen_dense, &Parameters::again_dense,
                                   Group::dense_inner, Group::dense_near},
                               Row{&Parameters::expert, &Parameters::frozen_expert, &Parameters::again_expert,
                                   Group::expert_inner, Group::expert_near}};
    for (const Row& row : kRows) {
      const double trained = held.freed.*row.parameters + held.kept.*row.parameters;
      const Groups groups = step_groups(plan_, stage, row.group);
      if (trained > 0 && !(pipeline && recipe.late_reduces))
        add(CollectiveKind::reduce_scatter, round_up_bytes(trained * reduced), groups, 1,
            &PassTraffic::gradients);
      if (!zero.gathers_every_pass()) continue;
      const double forward = held.freed.*row.parameters * kGatherBytes + held.freed.*row.frozen;
      const double kept = held.kept.*row.parameters * kGatherBytes + held.kept.*row.frozen;
      const double again = held.freed.*row.parameters * kGatherBytes + held.freed.*row.again;
      add(CollectiveKind::all_gather, round_up_bytes(forward + (pipeline ? 0 : kept)), groups, 1,
          &PassTraffic::parameters);
      add(CollectiveKind::all_gather, round_up_bytes(again),
          near ? step_groups(plan_, stage, row.near) : groups, 1, &PassTraffic::parameters);
    }
  }

  // `runs`: of one micro-batch.
  void add(CollectiveKind kind, Bytes bytes, const Groups& groups, double runs,
           double PassTraffic::* purpose) {
    if (bytes.value <= 0) return;
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
          for (const LinkUse& use : traffic_.links().path(group[i], next))
            domains_->add(traffic_.links(), use.link, use.bytes * sent);
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
