// A plan's degrees as the axes of MaxText's mesh, each with a part between slices (dcn) and one inside them (ici).
// A slice is what fast links join: a domain of the innermost level of TPUs; for GPUs all devices are one.
//
//   mesh.axes  -> {data: dcn 8, ici 1}, {pipeline: 1, 1}, {fsdp: 1, 32}, .., {tensor: 1, 8}
//   mesh.slices == 8, mesh.slice_devices == 256
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "nest/frameworks/common/export_facts.hpp"
#include "nest/frameworks/common/rank_map.hpp"

namespace nest::frameworks {

struct MaxTextAxis {
  std::string_view name;  // of ici_NAME_parallelism
  std::int64_t dcn = 1;
  std::int64_t ici = 1;
};

struct MaxTextMesh {
  // In the order of MaxText's mesh, the last of which varies fastest.
  std::array<MaxTextAxis, 7> axes;
  std::int64_t slices = 1;
  std::int64_t slice_devices = 1;  // that the plan uses of each
  bool whole = true;               // which are all that the slices have
  bool as_planned = true;          // every axis crosses slices where the plan's does

  [[nodiscard]] const MaxTextAxis& axis(std::string_view name) const;
};
[[nodiscard]] MaxTextMesh maxtext_mesh(const ExportFacts& facts, const RankMap& map);

[[nodiscard]] bool on_tpus(const ExportFacts& facts);
// The name of one slice in MaxText's table of systems: "v5p-128"; empty where it has none of this size.
[[nodiscard]] std::string maxtext_topology(const ExportFacts& facts, const MaxTextMesh& mesh);

}  // namespace nest::frameworks
