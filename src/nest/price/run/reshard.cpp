#include "nest/price/run/reshard.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <vector>

#include "nest/price/layers/cost_book.hpp"
#include "nest/price/stage_cost.hpp"

namespace nest::price {
namespace {

struct Part {
  std::int64_t index = 0;
  std::int64_t of = 1;

  [[nodiscard]] double from() const { return static_cast<double>(index) / static_cast<double>(of); }
  [[nodiscard]] double to() const { return static_cast<double>(index + 1) / static_cast<double>(of); }
  auto operator<=>(const Part&) const = default;
};

using Box = std::array<Part, 3>;  // by expert, by the tensor axis, by ZeRO

double volume(const Box& box) {
  double v = 1;
  for (const Part& part : box) v *= part.to() - part.from();
  return v;
}

double common(const Box& a, const Box& b) {
  double v = 1;
  for (std::size_t i = 0; i < a.size(); ++i)
    v *= std::max(0.0, std::min(a[i].to(), b[i].to()) - std::max(a[i].from(), b[i].from()));
  return v;
}

// Dense weights, dense states, expert weights, expert states.
constexpr std::size_t kKinds = 4;

struct Holding {
  std::size_t stage = 0;
  std::array<Box, kKinds> boxes;
};

Holding holding(const Plan& plan, std::size_t stage, std::int64_t copy, std::int64_t rank) {
  const Strategy& s = plan.stages[stage].strategy;
  const Parallelism& p = plan.parallelism;
  const std::int64_t cell = s.cell();
  const std::int64_t x = s.expert_tensor_degree();
  Holding out{stage, {}};
  const auto fill = [&](std::size_t first, Part expert, Part tensor, std::int64_t width) {
    const std::int64_t members = plan.parallelism.copies() * cell / width;
    const std::int64_t shards = shards_of(members, p.zero_shards);
    const Part shard{(copy * (cell / width) + rank / width) % shards, shards};
    out.boxes[first] = {expert, tensor, p.zero.shards_parameters() ? shard : Part{}};
    out.boxes[first + 1] = {expert, tensor, p.zero.shards_optimizer() ? shard : Part{}};
  };
  fill(0, {}, {rank % s.tensor, s.tensor}, s.tensor);
  fill(2, {rank / x % s.expert, s.expert}, {rank % x, x}, x * s.expert);
  return out;
}

// By device id.
std::vector<std::optional<Holding>> holdings(const Plan& plan) {
  std::vector<std::optional<Holding>> all;
  for (std::size_t stage = 0; stage < plan.stages.size(); ++stage) {
    const std::vector<Cell>& cells = plan.stages[stage].devices;
    for (std::size_t copy = 0; copy < cells.size(); ++copy) {
      for (std::size_t rank = 0; rank < cells[copy].size(); ++rank) {
        const std::size_t id = cells[copy][rank].index();
        if (id >= all.size()) all.resize(id + 1);
        all[id] = holding(plan, stage, static_cast<std::int64_t>(copy), static_cast<std::int64_t>(rank));
      }
    }
  }
  return all;
}

using Sizes = std::array<double, kKinds>;  // bytes of whole layers

class Resharder {
 public:
  Resharder(const PlanInputs& inputs, const Plan& before, const Plan& after)
      : before_(before), after_(after), left_(static_cast<std::size_t>(inputs.cluster.devices())) {
    CostBook book(inputs);
    const Recipe recipe = recipe_for(inputs.recipe, after.training);
    const auto weights = static_cast<double>(recipe.weight_bytes_per_parameter());
    const auto states = static_cast<double>(recipe.optimizer_bytes_per_parameter());
    const double fewer = states - static_cast<double>(recipe.matrix_bytes_per_parameter());
    const auto network = book.network(after.stages, {after.parallelism.zero_shards, false, 0, 0});
    for (std::size_t i = 0; i < after.stages.size(); ++i) {
      const Stage& stage = after.stages[i];
      const Strategy& s = stage.strategy;
      const LayerTable& table = book.table(after.training, s, RecomputePolicy::none, network->stages[i]);
      for (const LayerId id : stage.layers) {
        if (id.index() >= layers_.size()) layers_.resize(id.index() + 1);
        const LayerTerms& own = table.of(id);
        const double dense = own.of(Term::dense_parameters) * static_cast<double>(s.tensor);
        const double expert =
            own.of(Term::expert_parameters) * static_cast<double>(s.expert_tensor_degree() * s.expert);
        const double dense_states =
            dense * states - own.of(Term::matrix_dense) * static_cast<double>(s.tensor) * fewer;
        const double expert_states =
            expert * states -
            own.of(Term::matrix_expert) * static_cast<double>(s.expert_tensor_degree() * s.expert) * fewer;
        const double frozen = own.of(Term::frozen_dense) * static_cast<double>(s.tensor);
        const double frozen_expert =
            own.of(Term::frozen_expert) * static_cast<double>(s.expert_tensor_degree() * s.expert);
        layers_[id.index()] = {dense * weights + frozen, dense_states, expert * weights + frozen_expert,
                               expert_states};
      }
    }
  }

  [[nodiscard]] Reshard find() const {
    const auto old = holdings(before_);
    const auto now = holdings(after_);
    const auto shared = shared_layers();
    std::vector<Sizes> of_stage;
    of_stage.reserve(after_.stages.size());
    for (const Stage& stage : after_.stages) of_stage.push_back(sum(stage.layers));
    double total = 0;
    double state = 0;
    double most = 0;
    for (std::size_t id = 0; id < now.size(); ++id) {
      if (!now[id]) continue;
      const Holding& mine = *now[id];
      double needs = 0;
      double has = 0;
      for (std::size_t k = 0; k < kKinds; ++k) {
        needs += of_stage[mine.stage][k] * volume(mine.boxes[k]);
        if (id < old.size() && old[id])
          has += shared[mine.stage][old[id]->stage][k] * common(mine.boxes[k], old[id]->boxes[k]);
      }
      state += needs;
      total += std::max(0.0, needs - has);
      most = std::max(most, needs - has);
    }
    return {round_up_bytes(state), round_up_bytes(total), round_up_bytes(most), round_up_bytes(lost(old))};
  }

 private:
  [[nodiscard]] Sizes sum(const std::vector<LayerId>& ids) const {
    Sizes out{};
    for (const LayerId id : ids) {
      for (std::size_t k = 0; k < kKinds; ++k) out[k] += layers_[id.index()][k];
    }
    return out;
  }

  // Bytes of the layers that a new and an old stage have in common: [new][old].
  [[nodiscard]] std::vector<std::vector<Sizes>> shared_layers() const {
    std::vector<std::vector<Sizes>> out;
    for (const Stage& now : after_.stages) {
      std::vector<Sizes>& row = out.emplace_back();
      for (const Stage& old : before_.stages) {
        std::vector<LayerId> both;
        std::set_intersection(now.layers.begin(), now.layers.end(), old.layers.begin(), old.layers.end(),
                              std::back_inserter(both));
        row.push_back(sum(both));
      }
    }
    return out;
  }

  // Boxes of one kind and stage are parts of one grid: those that nobody left has are lost.
  [[nodiscard]] double lost(const std::vector<std::optional<Holding>>& old) const {
    std::set<std::tuple<std::size_t, std::size_t, Box>> kept;
    std::set<std::tuple<std::size_t, std::size_t, Box>> gone;
    for (std::size_t id = 0; id < old.size(); ++id) {
      if (!old[id]) continue;
      for (std::size_t k = 0; k < kKinds; ++k)
        (id < left_ ? kept : gone).emplace(old[id]->stage, k, old[id]->boxes[k]);
    }
    double bytes = 0;
    for (const auto& piece : gone) {
      const auto& [stage, kind, box] = piece;
      if (!kept.contains(piece)) bytes += sum(before_.stages[stage].layers)[kind] * volume(box);
    }
    return bytes;
  }

  const Plan& before_;
  const Plan& after_;
  std::size_t left_;  // devices
  std::vector<Sizes> layers_;
};

}  // namespace

Reshard reshard(const PlanInputs& inputs, const Plan& before, const Plan& after) {
  return Resharder(inputs, before, after).find();
}

}  // namespace nest::price
