#include "nest/validate/calibrate/kineto_trace.hpp"

#include <gtest/gtest.h>

#include "support/message_of.hpp"

namespace nest::validate {
namespace {

std::string event(const char* category, const char* name, double start, double duration) {
  return std::string(R"({"ph": "X", "cat": ")") + category + R"(", "name": ")" + name +
         R"(", "pid": 0, "ts": )" + std::to_string(start) + R"(, "dur": )" + std::to_string(duration) +
         R"(, "args": {"stream": 7, "list": [1, {"a": "}"}]}})";
}

std::string trace(const std::vector<std::string>& events) {
  std::string out = R"({"schemaVersion": 1, "deviceProperties": [{"id": 0}], "traceEvents": [)";
  for (std::size_t i = 0; i < events.size(); ++i) out += (i == 0 ? "" : ",\n") + events[i];
  return out + "]}";
}

TEST(KinetoTrace, WhereTheTimeOfStepsWent) {
  // Two steps of 100 us. Kernels 0-60 and 100-160; NCCL 40-80 (20 alone) and 120-150 (none alone).
  const std::string text =
      trace({event("user_annotation", "ProfilerStep#3", 0, 100),
             event("user_annotation", "ProfilerStep#4", 100, 100), event("cpu_op", "aten::mm", 0, 100),
             event("kernel", "gemm", 0, 50), event("kernel", "add", 40, 20), event("kernel", "gemm", 100, 60),
             event("kernel", "ncclDevKernel_AllReduce_Sum_bf16_RING_LL", 40, 40),
             event("kernel", "ncclDevKernel_SendRecv", 120, 30)});
  ASSERT_TRUE(is_kineto_trace(text));
  const KinetoTrace t = read_kineto_trace("t.json", text);
  EXPECT_EQ(t.steps, 2);
  EXPECT_EQ(t.kernels, 5);
  EXPECT_NEAR(t.step.value, 100e-6, 1e-12);
  EXPECT_NEAR(t.compute.value, 60e-6, 1e-12);
  EXPECT_NEAR(t.alone.value, 10e-6, 1e-12);
  EXPECT_NEAR(t.communication.value, 35e-6, 1e-12);
  EXPECT_NEAR(t.idle.value, 30e-6, 1e-12);
}

TEST(KinetoTrace, WhatIsMissingIsSaid) {
  const auto message = [](const std::string& text) {
    return message_of([&] { static_cast<void>(read_kineto_trace("t.json", text)); });
  };
  EXPECT_EQ(message(trace({event("cpu_op", "x", 0, 1)})),
            "t.json: the trace has no kernels; profile with ProfilerActivity.CUDA");
  EXPECT_EQ(message(trace({event("kernel", "x", 0, 1)})),
            "t.json: the trace has no steps (ProfilerStep#N); call the profiler's step() after every "
            "training step");
  EXPECT_EQ(message(R"({"traceEvents": [{"name": )"), "t.json: line 1: '}' is expected here");
  EXPECT_FALSE(is_kineto_trace("{\"runs\": []}"));
}

}  // namespace
}  // namespace nest::validate
