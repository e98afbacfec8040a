#include "nest/frameworks/maxtext/maxtext_mesh.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>
#include <set>

#include "nest/cluster/cluster.hpp"
#include "nest/plan/plan.hpp"

namespace nest::frameworks {
namespace {

// The axes with their degrees in `ici`.
std::array<MaxTextAxis, 7> axes_of(const Parallelism& p) {
  const Strategy& s = p.strategy;
  const std::int64_t shards = p.zero.shards_parameters() ? p.zero_shards / (s.context * s.expert) : 1;
  const bool sequence = s.shards_sequence();
  return {{{"data", 1, p.data / (shards * s.expert)},
           {"pipeline", 1, p.pipeline},
           {"fsdp", 1, shards},
           {"context", 1, s.context},
           {"tensor", 1, sequence ? 1 : s.tensor},
           {"tensor_sequence", 1, sequence ? s.tensor : 1},
           {"expert", 1, s.expert}}};
}

// Ranks by slice.
std::map<std::int32_t, std::int64_t> used_slices(const ExportFacts& f, const RankMap& map) {
  std::map<std::int32_t, std::int64_t> used;
  for (const RankRow& row : map.ranks)
    ++used[f.question->inputs.cluster.tree().domain_of(row.device, LevelId{0})];
  return used;
}

// Slices that the ranks of one data group, one pipeline or one cell lie in, of the first rank.
std::int64_t slices_of(const ExportFacts& f, const RankMap& map,
                       bool (*same)(const RankRow&, const RankRow&)) {
  std::set<std::int32_t> slices;
  for (const RankRow& row : map.ranks) {
    if (same(row, map.ranks.front()))
      slices.insert(f.question->inputs.cluster.tree().domain_of(row.device, LevelId{0}));
  }
  return static_cast<std::int64_t>(slices.size());
}

}  // namespace

bool on_tpus(const ExportFacts& f) {
  return !f.question->inputs.cluster.device_software().empty();
}

const MaxTextAxis& MaxTextMesh::axis(std::string_view name) const {
  return *std::find_if(axes.begin(), axes.end(), [&](const MaxTextAxis& a) { return a.name == name; });
}

MaxTextMesh maxtext_mesh(const ExportFacts& f, const RankMap& map) {
  const DeviceTree& tree = f.question->inputs.cluster.tree();
  MaxTextMesh mesh;
  mesh.axes = axes_of(f.parallelism());
  mesh.slice_devices = f.parallelism().devices();
  if (!on_tpus(f)) return mesh;
  const auto used = used_slices(f, map);
  const bool even = std::all_of(used.begin(), used.end(),
                                [&](const auto& slice) { return slice.second == used.begin()->second; });
  mesh.whole = std::all_of(used.begin(), used.end(), [&](const auto& slice) {
    return slice.second == tree.devices_in(LevelId{0}, slice.first);
  });
  if (!even) return mesh;
  mesh.slices = static_cast<std::int64_t>(used.size());
  mesh.slice_devices /= mesh.slices;
  // Slow links carry copies first, then stages, and only then what talks more often.
  std::int64_t rest = mesh.slices;
  for (MaxTextAxis& axis : mesh.axes) {
    axis.dcn = std::gcd(rest, axis.ici);
    axis.ici /= axis.dcn;
    rest /= axis.dcn;
  }
  const std::int64_t stages = slices_of(f, map, [](const RankRow& a, const RankRow& b) {
    return a.copy == b.copy && a.side == b.side && a.context == b.context && a.tensor == b.tensor;
  });
  const std::int64_t tensors = slices_of(f, map, [](const RankRow& a, const RankRow& b) {
    return a.copy == b.copy && a.side == b.side && a.context == b.context && a.stage == b.stage;
  });
  mesh.as_planned = stages == mesh.axis("pipeline").dcn &&
                    tensors == mesh.axis("tensor").dcn * mesh.axis("tensor_sequence").dcn;
  return mesh;
}

std::string maxtext_topology(const ExportFacts& f, const MaxTextMesh& mesh) {
  if (!on_tpus(f) || !mesh.whole || !std::has_single_bit(static_cast<std::uint64_t>(mesh.slice_devices)))
    return "";
  struct System {
    std::string_view accelerator;
    std::string_view name;
    std::int64_t cores;  // that its names count for a device
    std::int64_t least;
    std::int64_t most;
  };
  static constexpr std::array kSystems{
      System{"tpu-v4", "v4", 2, 4, 2048}, System{"tpu-v5e", "v5e", 1, 4, 256},
      System{"tpu-v5p", "v5p", 2, 4, 4096}, System{"tpu-v6e", "v6e", 1, 4, 256}};
  for (const System& s : kSystems) {
    if (s.accelerator == f.question->inputs.cluster.device_name() && mesh.slice_devices >= s.least &&
        mesh.slice_devices <= s.most)
      return fmt::format("{}-{}", s.name, mesh.slice_devices * s.cores);
  }
  return "";
}

}  // namespace nest::frameworks
