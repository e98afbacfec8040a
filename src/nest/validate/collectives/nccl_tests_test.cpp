#include "nest/validate/collectives/nccl_tests.hpp"

#include <gtest/gtest.h>

#include "support/message_of.hpp"

namespace nest::validate {
namespace {

constexpr const char* kHead =
    "# nThread 1 nGpus 1 minBytes 8 maxBytes 134217728 step: 2(factor) warmup iters: 5 iters: 20 agg iters: "
    "1 "
    "validation: 1 graph: 0\n#\n# Using devices\n";

std::string ranks(int hosts, int each, const std::string& prefix = "") {
  std::string out;
  for (int i = 0; i < hosts * each; ++i)
    out += prefix + "#  Rank  " + std::to_string(i) + " Group  0 Pid   17 on node-" +
           std::to_string(i / each) + " device  " + std::to_string(i % each) +
           " [0x0f] NVIDIA H100 80GB HBM3\n";
  return out;
}

TEST(NcclTests, NewAndOldTables) {
  const std::string text = "$ mpirun ./build/all_gather_perf -b 8\n" + std::string(kHead) + ranks(2, 8) +
                           "#       size         count      type   redop    root     time   algbw   busbw "
                           "#wrong     time   algbw   busbw\n"
                           "     1048576         16384     float    none      -1    45.67   22.96   21.52    "
                           "  0    44.1   23.8   22.3      0\n"
                           "   134217728       2097152     float    none      -1   512.50  261.89  245.52    "
                           "N/A   511.0   262.6  246.2    N/A\n"
                           "# Out of bounds values : 0 OK\n" +
                           kHead + ranks(1, 4) +
                           "     1048576        262144     float     sum    20.00   52.43   78.64  0e+00    "
                           "20.0   52.4   78.6  0e+00\n";
  const auto tests = read_nccl_tests("n.txt", text);
  ASSERT_EQ(tests.size(), 2U);
  EXPECT_EQ(tests[0].kind, CollectiveKind::all_gather);
  EXPECT_EQ(tests[0].ranks, 16);
  EXPECT_EQ(tests[0].hosts, 2);
  ASSERT_EQ(tests[0].rows.size(), 2U);
  EXPECT_EQ(tests[0].rows[1].size.value, 134217728);
  EXPECT_NEAR(tests[0].rows[1].time.value, 512.5e-6, 1e-12);
  EXPECT_EQ(tests[1].kind, CollectiveKind::all_reduce);  // by its bus bandwidth: 2 * 3 / 4 of the rate
  EXPECT_EQ(tests[1].hosts, 1);
}

TEST(NcclTests, LinesWithAPrefixOfTheLauncher) {
  const std::string text =
      "[1,0]<stdout>:# Collective test starting: reduce_scatter_perf\n[1,0]<stdout>:" + std::string(kHead) +
      ranks(1, 8, "[1,0]<stdout>:") +
      "[1,0]<stdout>:  1048576  16384  float  sum  -1  45.67  22.96  20.1  0  44.1  23.8  20.8  0\n";
  const auto tests = read_nccl_tests("n.txt", text);
  ASSERT_EQ(tests.size(), 1U);
  EXPECT_EQ(tests[0].kind, CollectiveKind::reduce_scatter);
  EXPECT_EQ(tests[0].ranks, 8);
}

TEST(NcclTests, WhatIsMissingIsSaid) {
  const auto message = [](const std::string& text) {
    return message_of([&] { static_cast<void>(read_nccl_tests("n.txt", text)); });
  };
  const std::string row = "  1048576  16384  float  sum  -1  45.67  22.96  3.3  0  44.1  23.8  20.8  0\n";
  EXPECT_EQ(message(std::string(kHead) + ranks(1, 8)), "n.txt: there is no table of sizes and times");
  EXPECT_EQ(message(kHead + row),
            "n.txt: the lines that list ranks and devices ('# Rank  0 ..') name fewer than two");
  EXPECT_EQ(message(kHead + ranks(1, 8) + row),
            "n.txt: nothing says which collective this is a test of; keep the line of the command, such as "
            "'./all_reduce_perf -b 8 -e 8G'");
}

}  // namespace
}  // namespace nest::validate
