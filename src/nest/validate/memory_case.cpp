#include "nest/validate/memory_case.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "nest/estimate/layers/fixed_memory.hpp"

namespace nest::validate {
namespace {

constexpr double kGb = 1e9;
constexpr double kGib = 1024.0 * 1024 * 1024;

struct KindWords {
  std::string_view words;
  MemoryKind kind;
  double unit;
};
// The first that the kind mentions. nvidia-smi prints MiB and people divide by 1,024: the chronicles that
// quote "GB" from it name 77 as the most that a device of 81,251 MiB gives, which only GiB allow. Alpa's GB
// is 2^30 too. A method that is not stated is taken as the driver's, the one that needs no instrumentation.
constexpr std::array<KindWords, 9> kKinds{{
    {"OOM", MemoryKind::out_of_memory, kGb},
    {"params+optimizer", MemoryKind::computed, kGib},
    {"max reserved", MemoryKind::reserved, kGib},
    {"bytes/1e9, torch max_memory_allocated", MemoryKind::allocated, kGb},
    {"max_memory_allocated", MemoryKind::allocated, kGib},
    {"nvidia-smi", MemoryKind::device, kGib},
    {"(device)", MemoryKind::device, kGib},
    {"Alpa peak", MemoryKind::allocated, kGib},
    {"method not stated", MemoryKind::device, kGib},
}};

const StageMemory& stage_of(MemoryKind kind, const RunPrediction& prediction) {
  if (kind == MemoryKind::computed) return prediction.stages.front();
  return *std::max_element(prediction.stages.begin(), prediction.stages.end(),
                           [](const StageMemory& a, const StageMemory& b) { return a.total() < b.total(); });
}

// Process groups that a device takes part in: the world and every degree above 1.
std::int64_t communicators(const Parallelism& p) {
  std::int64_t groups = 1;
  for (const std::int64_t degree :
       {p.strategy.tensor, p.strategy.context, p.strategy.expert, p.pipeline, p.data}) {
    if (degree > 1) ++groups;
  }
  return groups;
}

}  // namespace

std::string_view name_of(MemoryKind kind) {
  static constexpr std::array<std::string_view, 5> kNames{"allocated", "reserved", "device", "computed",
                                                          "out of memory"};
  return kNames[static_cast<std::size_t>(kind)];
}

MemoryFigureOr memory_figure(const RunRow& row) {
  if (row.flagged()) return {std::nullopt, "flagged by its table"};
  if (row.memory == "OOM") return {MemoryFigure{MemoryKind::out_of_memory, Bytes{}}, ""};
  const auto found = std::find_if(kKinds.begin(), kKinds.end(),
                                  [&](const KindWords& k) { return mentions(row.memory_kind, k.words); });
  if (row.memory.empty()) return {std::nullopt, "no memory figure"};
  if (found == kKinds.end() || found->kind == MemoryKind::out_of_memory) {
    return {std::nullopt, "the kind of figure is not known: " + row.memory_kind};
  }
  double value = 0;
  std::from_chars(row.memory.data(), row.memory.data() + row.memory.size(), value);
  return {MemoryFigure{found->kind, round_up_bytes(value * found->unit)}, ""};
}

Bytes predicted_bytes(MemoryKind kind, const PreparedRun& run, const RunPrediction& prediction) {
  const StageMemory& stage = stage_of(kind, prediction);
  const Bytes allocated = stage.allocated();
  if (kind == MemoryKind::computed) return allocated - stage.workspace;
  if (kind == MemoryKind::allocated) return allocated;
  const FixedMemory fixed = fixed_memory(run.inputs.recipe, communicators(run.plan.parallelism));
  const Bytes reserved = allocated + fragmentation_of(allocated, fixed.fragmentation);
  return kind == MemoryKind::reserved ? reserved : reserved + fixed.outside();
}

Bytes static_bytes(MemoryKind kind, const RunPrediction& prediction) {
  const StageMemory& stage = stage_of(kind, prediction);
  return stage.weights + stage.gradients + stage.optimizer;
}

}  // namespace nest::validate
