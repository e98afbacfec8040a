// A plan in Accelerate's words: how its ranks are grouped (plain copies, FSDP 2 or DeepSpeed), the settings that
// `accelerate launch --config_file` reads, and the values that nest_plan.py gives to scripts.
//
//   mesh_of(facts)             -> {way: fsdp, replicate 1, shard 4, tensor 2, context 1, sequence 1}
//   accelerate_yaml(facts, map)-> "distributed_type: FSDP\nfsdp_config:\n  fsdp_version: 2\n.."
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "nest/frameworks/common/export_facts.hpp"
#include "nest/frameworks/common/rank_map.hpp"

namespace nest::frameworks {

enum class AccelerateWay { one_device, copies, fsdp, deepspeed };
// Accelerate's distributed_type: "FSDP".
[[nodiscard]] std::string_view name_of(AccelerateWay way);

// The sizes of ParallelismConfig, whose product is the number of ranks.
struct AccelerateMesh {
  AccelerateWay way = AccelerateWay::one_device;
  std::int64_t replicate = 1;
  std::int64_t shard = 1;
  std::int64_t tensor = 1;
  std::int64_t context = 1;   // ring attention
  std::int64_t sequence = 1;  // Ulysses
};
[[nodiscard]] AccelerateMesh mesh_of(const ExportFacts& facts);

// Of weights as they are held: Accelerate keeps 32 bits, or 16 if the recipe has no 32-bit copy of them.
[[nodiscard]] StateDType held_weights(const ExportFacts& facts);
// "no", "bf16", "fp16" or "fp8".
[[nodiscard]] std::string_view mixed_precision(const ExportFacts& facts);

// Hosts all run equally many ranks in the order of their devices, so that `accelerate launch` can number them.
[[nodiscard]] bool launchable(const RankMap& map);

[[nodiscard]] std::string accelerate_yaml(const ExportFacts& facts, const RankMap& map);
// nest_plan.json.
[[nodiscard]] Value accelerate_plan(const ExportFacts& facts);

}  // namespace nest::frameworks
