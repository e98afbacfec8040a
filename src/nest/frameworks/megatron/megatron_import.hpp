// Megatron-LM's arguments as a plan: an argument file, or the flags of a launch script. Where devices are is
// not in the flags: rank r runs on device r, or where the rank map of an export says.
//
//   const OpenPlan open =
//       import_megatron({.file = "train.sh", .text = text, .cluster = "h100-spine-leaf"}, warnings);
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "nest/base/error.hpp"
#include "nest/plan/text/plan_json.hpp"

namespace nest::frameworks {

struct ImportQuestion {
  std::string file;  // for messages
  std::string text;
  std::optional<std::string> model;  // name or file; none: by the shape that the flags give
  std::string cluster;
  std::optional<std::string> recipe;  // none: Megatron-LM's, with the overlap that the flags give
  // Ranks; 0: what the text says (world size, nodes x processes), else all of the cluster.
  std::int64_t devices = 0;
  std::string rank_map_file;  // for messages
  std::string rank_map;       // text of a rank_map.csv; empty: none
};

// The plan is complete. Sizes that contradict each other, and what a plan cannot say, are
// InputErrors; flags about parallelism that are not understood are warnings.
[[nodiscard]] OpenPlan import_megatron(const ImportQuestion& question, Warnings& warnings);

}  // namespace nest::frameworks
