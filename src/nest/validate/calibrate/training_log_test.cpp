#include "nest/validate/calibrate/training_log.hpp"

#include <gtest/gtest.h>

#include "support/message_of.hpp"

namespace nest::validate {
namespace {

constexpr LogBatch kBatch{.global_batch = 256, .sequence = 4096, .devices = 64};

std::string message(const std::string& text) {
  return message_of([&] { static_cast<void>(read_training_log("x.log", text, kBatch)); });
}

std::string megatron(int iteration, double ms, int batch = 256) {
  return " [2026-11-10 10:11:12] iteration       " + std::to_string(iteration) +
         "/     100 | consumed samples:         2560 | elapsed time per iteration (ms): " +
         std::to_string(ms) +
         " | throughput per GPU (TFLOP/s/GPU): 372.1 | learning rate: 3.000000E-06 | global batch size:   " +
         std::to_string(batch) + " | lm loss: 1.021342E+01 | loss scale: 1.0 |\n";
}

TEST(TrainingLog, MegatronTheMedianWithoutTheWarmUp) {
  const std::string memory =
      "[Rank 0] (after 1 iterations) memory (MB) | allocated: 20034.75 | max allocated: 30227.5 | reserved: "
      "31086.0 | max reserved: 31086.0\n[Rank 1] (after 1 iterations) memory (MB) | allocated: 1.0 | max "
      "allocated: 40000.0 | reserved: 2 | max reserved: 2\n";
  const LogReading log = read_training_log(
      "x.log", megatron(1, 40000) + memory + megatron(2, 10000) + megatron(3, 9000) + megatron(4, 9500),
      kBatch);
  EXPECT_EQ(log.format, "Megatron-LM");
  EXPECT_EQ(log.dropped, 1);
  EXPECT_DOUBLE_EQ(log.step().value, 9.5);
  EXPECT_DOUBLE_EQ(log.low().value, 9.0);
  EXPECT_DOUBLE_EQ(log.high().value, 10.0);
  ASSERT_TRUE(log.memory);
  EXPECT_EQ(log.memory->kind, MemoryKind::allocated);
  EXPECT_EQ(log.memory->bytes.value, std::int64_t{40000} << 20);  // its MB are MiB; the fullest rank
}

TEST(TrainingLog, MegatronOnAmdPrintsAMeanToo) {
  const std::string line = "iteration 7/ 50 | elapsed time per iteration (ms): 4520.1/4600.3 |\n";
  EXPECT_DOUBLE_EQ(read_training_log("x.log", line, kBatch).step().value, 4.5201);
}

TEST(TrainingLog, StepsOfARampAreLeftOut) {
  const LogReading log =
      read_training_log("x.log", megatron(1, 1000, 32) + megatron(2, 1000, 64) + megatron(3, 9000), kBatch);
  ASSERT_EQ(log.steps.size(), 1U);
  EXPECT_DOUBLE_EQ(log.step().value, 9);
  EXPECT_EQ(message(megatron(1, 1000, 32)),
            "x.log: the log's global batch is 32 sequences, the plan's is 256; give the plan that ran");
}

TEST(TrainingLog, TorchtitanCountsTokensOfOneDevice) {
  // 256 * 4096 tokens on 64 devices at 2,048 tokens/s each: 8 s.
  const std::string line =
      "[rank0]:[titan] 2026-01-01 00:00:00,000 - root - INFO - \33[31mstep: 10  \33[32mloss:  8.1234  "
      "\33[33mmemory: 42.50GiB(44.30%)  \33[34mtps: 2,048  \33[36mtflops: 123.45  \33[35mmfu: "
      "38.12%\33[39m\n";
  const LogReading log = read_training_log("x.log", line, kBatch);
  EXPECT_EQ(log.format, "torchtitan");
  EXPECT_DOUBLE_EQ(log.step().value, 8);
  EXPECT_EQ(log.memory->kind, MemoryKind::reserved);
  EXPECT_EQ(log.memory->bytes.value, std::int64_t{85} << 29);
}

TEST(TrainingLog, DeepSpeedCountsSequencesOfAll) {
  const std::string line =
      "[2023-11-07 01:55:23,714] [INFO] [timer.py:260:stop] epoch=0/micro_step=40/global_step=10, "
      "RunningAvgSamplesPerSec=25.02, CurrSamplesPerSec=32.0, MemAllocated=4.32GB, MaxMemAllocated=38.5GB\n";
  const LogReading log = read_training_log("x.log", line, kBatch);
  EXPECT_EQ(log.format, "DeepSpeed");
  EXPECT_DOUBLE_EQ(log.step().value, 8);
  EXPECT_EQ(log.memory->bytes.value, std::int64_t{77} << 29);
  const std::string pipeline = "steps: 10 loss: 6.2 iter time (s): 1.25 samples/sec: 204.8\n";
  EXPECT_DOUBLE_EQ(read_training_log("x.log", pipeline, kBatch).step().value, 1.25);
}

TEST(TrainingLog, MegatronDeepSpeedHasLinesOfBoth) {
  const std::string both =
      "[timer.py:260:stop] RunningAvgSamplesPerSec=1, CurrSamplesPerSec=1\n" + megatron(1, 9000);
  EXPECT_EQ(read_training_log("x.log", both, kBatch).format, "Megatron-LM");
}

TEST(TrainingLog, TrainersHaveABarAndASummary) {
  std::string bar = "Loading checkpoint shards: 100%|####| 4/4 [00:05<00:00,  9.99s/it]\n";
  for (const char* rate : {"5.00s/it", "2.50s/it", "2.40s/it", "2.50s/it", "2.60s/it"})
    bar += std::string("\r 10%|#   | 20/200 [00:22<03:24,  ") + rate + "]";
  const std::string summary =
      "\n{'train_runtime': 500.0, 'train_samples_per_second': 3.543, 'train_steps_per_second': 0.25}\n";
  EXPECT_DOUBLE_EQ(read_training_log("x.log", bar + summary, kBatch).step().value, 2.5);
  EXPECT_DOUBLE_EQ(read_training_log("x.log", summary, kBatch).step().value, 4);
  std::string fast;
  for (int i = 0; i < 5; ++i) fast += "\r 10%|#   | 20/200 [00:22<03:24,  4.00it/s]";
  EXPECT_DOUBLE_EQ(read_training_log("x.log", fast, kBatch).step().value, 0.25);
}

TEST(TrainingLog, NemoAndNothing) {
  EXPECT_DOUBLE_EQ(
      read_training_log("x.log", "| global_step: 3 | train_step_timing in s: 9.35 | lr: 1\n", kBatch)
          .step()
          .value,
      9.35);
  EXPECT_EQ(
      message("loss 3.1\nloss 2.9\n"),
      "x.log: no line says how long a step took; lines of Megatron-LM ('elapsed time per iteration (ms)'), "
      "NeMo ('train_step_timing in s'), torchtitan ('tps'), DeepSpeed ('CurrSamplesPerSec') or the Hugging "
      "Face Trainer ('s/it', 'train_steps_per_second') are understood");
}

}  // namespace
}  // namespace nest::validate
