#include "nest/validate/collectives/dispatch_runs.hpp"

#include <gtest/gtest.h>

#include "nest/base/error.hpp"
#include "nest/base/files.hpp"
#include "nest/validate/runs/test_runs.hpp"

namespace nest::validate {
namespace {

const std::string kHeader =
    "source,hardware,num_nodes,hidden,tokens_per_gpu,topk,experts,dispatch_sms,dispatch_us,dispatch_notify_"
    "us,"
    "combine_sms,combine_us,combine_notify_us\n";

// DeepEP's own table for H800 and 8 devices: 4,096 tokens of 7,168 values, 153 GB/s out and 158 GB/s back, where the
// bytes are those of all copies that leave for a device, its own included: 5.295 of 8 devices by random routing.
TEST(DispatchRuns, TheAuthorsOwnTable) {
  const double copies = 4096 * 5.295;
  const double out = copies * 7168 * (1 + 4.0 / 128) / 153e9 * 1e6;
  const double back = copies * 7168 * 2 / 158e9 * 1e6;
  const CollectiveRuns runs =
      check_dispatches("d.csv", kHeader + "x,NVIDIA H800,1,7168,4096,8,256,24," + std::to_string(out) +
                                    ",0,24," + std::to_string(back) + ",0\n");
  ASSERT_EQ(runs.rows.size(), 2U);
  EXPECT_NEAR(runs.rows[0].error(), 0, 0.12);
  EXPECT_NEAR(runs.rows[1].error(), 0, 0.12);
  EXPECT_EQ(runs.rows[0].stratum, "dispatch, one node");
}

TEST(DispatchRuns, UnknownHardwareIsSkippedAndBadNumbersAreSentences) {
  const CollectiveRuns runs =
      check_dispatches("d.csv", kHeader + "x,NVIDIA Q9,1,7168,4096,8,256,24,100,0,24,100,0\n");
  EXPECT_EQ(runs.rows[0].why_skipped, "the hardware 'NVIDIA Q9' is not known");
  EXPECT_THROW(static_cast<void>(check_dispatches(
                   "d.csv", kHeader + "x,NVIDIA H100,1,7168,4096,512,256,24,100,0,24,100,0\n")),
               InputError);
}

TEST(DispatchRuns, PublishedTable) {
  const std::string file = shared_file("runs/expert_dispatch.csv");
  if (file.empty()) GTEST_SKIP() << "the large table is absent";
  const CollectiveRuns runs = check_dispatches(file, read_file(file));
  EXPECT_EQ(runs.rows.size(), 1032U);
  EXPECT_LT(runs.all.median, 0.08);
  for (const ErrorSummary& s : runs.strata) EXPECT_LT(s.median, 0.12) << s.name;
}

}  // namespace
}  // namespace nest::validate
