#include "nest/validate/memory_case.hpp"

#include <gtest/gtest.h>

#include "nest/validate/runs/test_runs.hpp"

namespace nest::validate {
namespace {

RunRow with(const std::string& value, const std::string& kind) {
  RunRow row = made_up_run();
  row.memory = value;
  row.memory_kind = kind;
  return row;
}

TEST(MemoryCase, KindsAndUnits) {
  const auto figure = [](const std::string& value, const std::string& kind) {
    return memory_figure(with(value, kind)).figure.value_or(MemoryFigure{});
  };
  EXPECT_EQ(figure("2", "GiB, max over ranks torch.cuda.max_memory_allocated").bytes.value, 2LL << 30);
  EXPECT_EQ(figure("2", "bytes/1e9, torch max_memory_allocated").bytes.value, 2'000'000'000);
  EXPECT_EQ(figure("2", "GiB, torch peak (torchtitan metric: max reserved)").kind, MemoryKind::reserved);
  EXPECT_EQ(figure("2", "GB, nvidia-smi (incl. CUDA context)").kind, MemoryKind::device);
  EXPECT_EQ(figure("2", "GiB: params+optimizer (+grads) and activations").kind, MemoryKind::computed);
  EXPECT_EQ(figure("OOM", "OOM on 80GB").kind, MemoryKind::out_of_memory);
}

TEST(MemoryCase, WhatIsNotKnown) {
  EXPECT_EQ(memory_figure(with("2", "handfuls")).why_not, "the kind of figure is not known: handfuls");
  EXPECT_EQ(memory_figure(with("", "GiB")).why_not, "no memory figure");
  RunRow flagged = with("2", "nvidia-smi");
  flagged.notes = "FLAG odd";
  EXPECT_EQ(memory_figure(flagged).why_not, "flagged by its table");
}

TEST(MemoryCase, WhatEachKindCounts) {
  RunPrediction p;
  StageMemory first;
  first.weights = Bytes{10};
  first.activations = Bytes{5};
  first.workspace = Bytes{2};
  first.reserve = Bytes{100};
  StageMemory second = first;
  second.activations = Bytes{9};
  p.stages = {first, second};
  const PreparedRun run = *run_case(made_up_run()).run;
  EXPECT_EQ(predicted_bytes(MemoryKind::allocated, run, p).value, 21);  // the fuller stage, without reserve
  EXPECT_EQ(predicted_bytes(MemoryKind::computed, run, p).value, 15);   // the first stage, without workspace
  EXPECT_EQ(predicted_bytes(MemoryKind::reserved, run, p).value, 22);   // 4 % more, rounded up
  EXPECT_GT(predicted_bytes(MemoryKind::device, run, p).value, 1LL << 30);
  EXPECT_EQ(static_bytes(MemoryKind::allocated, p).value, 10);
}

}  // namespace
}  // namespace nest::validate
