#include "nest/plan/rules/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "nest/plan/plan.hpp"
#include "nest/plan/schedules/schedule.hpp"

namespace nest::plan {
namespace {

using Problem = std::optional<std::string>;

// Cells beyond the cluster are refused before their size is multiplied out, which could overflow.
Problem check_width(const Strategy& s, const Cluster& cluster) {
  for (const std::int64_t degree : {s.tensor, s.context, s.expert, s.expert_tensor_degree()}) {
    if (degree < 1) return "degrees are at least 1";
    if (degree > cluster.devices())
      return fmt::format("a degree of {} is more than the cluster's {} devices", degree, cluster.devices());
  }
  if (s.tensor * s.context > cluster.devices() || s.expert_tensor_degree() * s.expert > cluster.devices() ||
      s.cell() > cluster.devices())
    return fmt::format("a cell of {} is more than the cluster's {} devices", spell(s), cluster.devices());
  return std::nullopt;
}

Problem check_resharding(const Parallelism& p) {
  const Resharding& r = p.zero.resharding();
  if (r == Resharding{}) return std::nullopt;
  if (!p.zero.shards_parameters())
    return fmt::format("reshard {} needs ZeRO 3: ZeRO {} gathers no parameters", spell(r), p.zero.number());
  const std::int64_t ranks = p.copies() * p.strategy.cell() / p.strategy.tensor;
  const std::int64_t shards = p.zero_shards > 0 ? p.zero_shards : ranks;
  if (r.group() > 0 && !resharding_group_fits(r.group(), shards))
    return fmt::format(
        "reshard {}: the group is a part of the {} ranks that ZeRO shards over, which it divides", spell(r),
        shards);
  return std::nullopt;
}

Problem check_degrees(const Plan& plan, const Cluster& cluster) {
  const Parallelism& p = plan.parallelism;
  const Training& t = plan.training;
  if (Problem problem = check_width(p.strategy, cluster)) return problem;
  for (const Stage& stage : plan.stages) {
    if (stage.strategy == p.strategy) continue;
    if (Problem problem = check_width(stage.strategy, cluster)) return problem;
  }
  if (p.pipeline < 1 || p.data < 1 || p.data_inner < 1 || p.interleave < 1) return "degrees are at least 1";
  if (static_cast<std::int64_t>(plan.stages.size()) != p.pipeline)
    return fmt::format("pipeline is {}, but there are {} stages", p.pipeline, plan.stages.size());
  const std::int64_t side = p.strategy.side();
  if (p.data % side != 0) {
    return fmt::format(
        "data {} is no multiple of the {} micro-batches that a cell of {} devices runs side by side", p.data,
        side, p.strategy.cell());
  }
  if (p.copies() % p.data_inner != 0)
    return fmt::format("data_inner {} does not divide the {} copies", p.data_inner, p.copies());
  if (p.devices() > cluster.devices()) {
    return fmt::format("{} devices are needed (cells of {} x {} copies x {} stages), the cluster has {}",
                       p.devices(), p.strategy.cell(), p.copies(), p.pipeline, cluster.devices());
  }
  if (t.micro_batch < 1 || t.global_batch < 1) return "batches are at least 1";
  if (t.micro_batch * p.data > t.global_batch || t.global_batch % (t.micro_batch * p.data) != 0) {
    return fmt::format("the global batch {} is no multiple of micro-batch {} x data {}", t.global_batch,
                       t.micro_batch, p.data);
  }
  if (t.micro_batches != t.global_batch / (t.micro_batch * p.data)) {
    return fmt::format("micro-batch {} x data {} x {} micro-batches is not the global batch {}",
                       t.micro_batch, p.data, t.micro_batches, t.global_batch);
  }
  if (!p.zero.valid()) return "zero is 0, 1, 2 or 3";
  if (p.zero_shards > 0) {
    const std::int64_t group = p.copies() * p.strategy.cell() / p.strategy.tensor;
    if (group % p.zero_shards != 0)
      return fmt::format("zero_shards {} does not divide the group of {} ranks", p.zero_shards, group);
  }
  return check_resharding(p);
}

Problem check_schedule(const Plan& plan) {
  const Parallelism& p = plan.parallelism;
  std::string refusal = schedule_refusal(p.schedule, {p.pipeline, plan.training.micro_batches, p.interleave});
  if (refusal.empty()) return std::nullopt;
  return refusal;
}

// The plain case, without bookkeeping: stages are ranges of layers one after the other, and every edge runs
// from a lower to a higher layer.
bool consecutive(const Plan& plan, const LayerGraph& graph) {
  if (plan.parallelism.interleave != 1 || !graph.ascending()) return false;
  const auto layers = static_cast<std::int32_t>(graph.layers());
  std::int32_t next = 0;
  for (const Stage& stage : plan.stages) {
    // A plan may name layers that there are not.
    if (stage.layers.empty() || next == layers || stage.layers.front().value != next) return false;
    if (graph.is_joined(stage.layers.front())) return false;
    for (const LayerId id : stage.layers) {
      if (id.value != next++) return false;
    }
  }
  return next == layers;
}

// Every layer once, and no edge that runs backwards: then the layers of any suffix of the pipeline are closed
// under successors, and every stage is a difference of two such sets.
Problem check_layers(const Plan& plan, const LayerGraph& graph) {
  const auto ordered = [](const std::vector<LayerId>& ids) { return std::is_sorted(ids.begin(), ids.end()); };
  for (std::size_t i = 0; i < plan.stages.size(); ++i) {
    const Stage& stage = plan.stages[i];
    if (!ordered(stage.layers) || !std::all_of(stage.chunks.begin(), stage.chunks.end(), ordered))
      return fmt::format("stage {}: layers are listed in ascending order", i);
  }
  if (consecutive(plan, graph)) return std::nullopt;
  const auto v = static_cast<std::size_t>(plan.parallelism.interleave);
  const std::size_t p = plan.stages.size();
  std::vector<std::int32_t> part(graph.layers(), -1);
  const auto stage_of = [&](LayerId id) {
    return place_of_part(plan.parallelism.schedule, p, static_cast<std::size_t>(part[id.index()])).stage;
  };
  const auto put = [&](std::size_t stage, LayerId id, std::size_t at) -> Problem {
    if (id.value < 0 || id.index() >= graph.layers())
      return fmt::format("stage {}: there is no layer {}, the model has {}", stage, id.value, graph.layers());
    if (part[id.index()] >= 0)
      return fmt::format("stage {}: layer {} is also in stage {}", stage, id.value, stage_of(id));
    part[id.index()] = static_cast<std::int32_t>(at);
    return std::nullopt;
  };
  for (std::size_t i = 0; i < p; ++i) {
    const Stage& stage = plan.stages[i];
    if (stage.layers.empty()) return fmt::format("stage {} has no layers", i);
    if (v == 1) {
      for (const LayerId id : stage.layers) {
        if (Problem problem = put(i, id, i)) return problem;
      }
      continue;
    }
    if (stage.chunks.size() != v)
      return fmt::format("stage {}: interleave is {}, but there are {} chunks", i, v, stage.chunks.size());
    std::size_t count = 0;
    for (std::size_t c = 0; c < v; ++c) {
      count += stage.chunks[c].size();
      for (const LayerId id : stage.chunks[c]) {
        if (Problem problem = put(i, id, part_of(plan.parallelism.schedule, p, {i, c}))) return problem;
      }
    }
    if (count != stage.layers.size()) return fmt::format("stage {}: its chunks are not its layers", i);
    for (const LayerId id : stage.layers) {
      if (id.index() >= graph.layers() || part[id.index()] < 0 || stage_of(id) != i)
        return fmt::format("stage {}: layer {} is in none of its chunks", i, id.value);
    }
  }
  for (std::size_t id = 0; id < part.size(); ++id) {
    if (part[id] < 0) return fmt::format("layer {} is in no stage", id);
  }
  if (const auto id = graph.parted(part))
    return fmt::format(
        "layer {} (stage {}) predicts further tokens and stands in one stage with the head ({})",
        id->value - 1, stage_of(LayerId(id->value - 1)), stage_of(*id));
  for (const Edge& edge : graph.edges()) {
    if (part[edge.from.index()] > part[edge.to.index()]) {
      return fmt::format("layer {} (stage {}) feeds layer {} of an earlier stage ({})", edge.from.value,
                         stage_of(edge.from), edge.to.value, stage_of(edge.to));
    }
  }
  return std::nullopt;
}

Problem check_stages(const Plan& plan, const LayerGraph& graph) {
  const Parallelism& p = plan.parallelism;
  for (std::size_t i = 0; i < plan.stages.size(); ++i) {
    const Stage& stage = plan.stages[i];
    const Strategy& s = stage.strategy;
    if (!(s == p.strategy) && (s.cell() != p.strategy.cell() || s.side() != p.strategy.side())) {
      return fmt::format("stage {}: {} makes cells of {} with {} side by side, the others have {} and {}", i,
                         spell(s), s.cell(), s.side(), p.strategy.cell(), p.strategy.side());
    }
    if (stage.recompute.policy == RecomputePolicy::modules && stage.recompute.modules.empty())
      return fmt::format("stage {}: it is not said which modules run again", i);
    if (stage.recompute.layers <= 0) continue;
    std::int64_t blocks = 0;
    for (const LayerId id : stage.layers) blocks += graph.recomputes(id) ? 1 : 0;
    if (stage.recompute.layers > blocks)
      return fmt::format("stage {}: recomputation on {} layers, it has {}", i, stage.recompute.layers,
                         blocks);
  }
  return std::nullopt;
}

Problem check_devices(const Plan& plan, const Cluster& cluster) {
  std::vector<std::int32_t> owner(static_cast<std::size_t>(cluster.devices()), -1);
  const auto copies = static_cast<std::size_t>(plan.parallelism.copies());
  const auto cell = static_cast<std::size_t>(plan.parallelism.strategy.cell());
  for (std::size_t i = 0; i < plan.stages.size(); ++i) {
    const Stage& stage = plan.stages[i];
    if (stage.devices.empty() != plan.stages.front().devices.empty())
      return fmt::format("stage {}: give the devices of every stage, or of none", i);
    if (stage.devices.empty()) continue;
    if (stage.devices.size() != copies)
      return fmt::format("stage {}: devices of {} copies, there are {}", i, stage.devices.size(), copies);
    for (const Cell& ids : stage.devices) {
      if (ids.size() != cell)
        return fmt::format("stage {}: a copy has {} devices, a cell has {}", i, ids.size(), cell);
      for (const DeviceId id : ids) {
        if (id.value < 0 || id.value >= cluster.devices()) {
          return fmt::format("stage {}: there is no device {}, the cluster has {}", i, id.value,
                             cluster.devices());
        }
        std::int32_t& by = owner[id.index()];
        if (by >= 0) {
          return by == static_cast<std::int32_t>(i)
                     ? fmt::format("stage {}: device {} is there twice", i, id.value)
                     : fmt::format("stage {}: device {} is also in stage {}", i, id.value, by);
        }
        by = static_cast<std::int32_t>(i);
      }
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> check_plan(const Plan& plan, const LayerGraph& graph, const Cluster& cluster) {
  if (Problem problem = check_degrees(plan, cluster)) return problem;
  if (Problem problem = check_schedule(plan)) return problem;
  if (Problem problem = check_layers(plan, graph)) return problem;
  if (Problem problem = check_stages(plan, graph)) return problem;
  const bool placed =
      std::any_of(plan.stages.begin(), plan.stages.end(), [](const Stage& s) { return !s.devices.empty(); });
  return placed ? check_devices(plan, cluster) : std::nullopt;
}

std::optional<std::string> check_memory(const std::vector<StageMemory>& stages) {
  for (std::size_t i = 0; i < stages.size(); ++i) {
    const StageMemory& m = stages[i];
    if (m.fits()) continue;
    if (!m.fits_host())
      return fmt::format("stage {} keeps {} of a device in host memory, where it has {}: {} over", i,
                         format_memory(m.host), format_memory(m.host_capacity),
                         format_memory(m.host - m.host_capacity));
    return fmt::format("stage {} needs {}, a device has {}{}: {} over", i, format_memory(m.total()),
                       format_memory(m.capacity),
                       m.margin.value > 0 ? ", of which " + format_memory(m.margin) + " are kept free" : "",
                       format_memory(m.over()));
  }
  return std::nullopt;
}

}  // namespace nest::plan
