#include "nest/validate/runs/tuning_rows.hpp"

#include <gtest/gtest.h>

#include "nest/validate/runs/run_case.hpp"

namespace nest::validate {
namespace {

constexpr std::string_view kTable =
    "source,model,kind,gpu,num_gpus,tp,pp,cp,vpp,micro_batch,global_batch,seq_len,precision,measured_metric,"
    "measured_value,notes\n"
    "lab/a,Llama 3 8B,LoRA,H100,8,1,1,1,1,1,32,4096,bf16,iteration_s,0.92,\n"
    "lab/b,Llama 2 70B,LoRA,MI350X,8,1,1,1,1,1,8,8192,fp8,samples_per_s,4.8,LoRA rank 8 on attention\n"
    "NVIDIA/c,Llama 3 70B,SFT,GB200,32,1,8,1,10,1,32,4096,mxfp8,tokens_per_s_per_gpu,3593,\n";

TEST(TuningRows, NamesBecomeShapesAndDevices) {
  const auto rows = read_run_rows("finetune.csv", kTable, RunTable::times);
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0].id, "LoRA of Llama 3 8B, line 2");
  EXPECT_EQ(rows[0].accelerator, "h100-sxm");
  EXPECT_EQ(rows[0].layers, 32);
  EXPECT_EQ(rows[1].accelerator, "mi350x");
  EXPECT_EQ(rows[1].tuning.rank, 8);
  EXPECT_EQ(rows[0].tuning.rank, 16);
  EXPECT_EQ(rows[0].tuning.targets, default_targets());
  EXPECT_TRUE(rows[2].tuning.whole());
  EXPECT_EQ(rows[2].hidden, 8192);
  EXPECT_EQ(rows[0].precision_class, "16bit");
  EXPECT_EQ(rows[1].precision_class, "fp8");
  EXPECT_EQ(rows[2].precision_class, "fp8");
  EXPECT_EQ(rows[2].tuning_kind, "SFT");
}

TEST(TuningRows, CanBePriced) {
  for (const RunRow& row : read_run_rows("finetune.csv", kTable, RunTable::times)) {
    const RunCase prepared = run_case(row);
    ASSERT_TRUE(prepared.run) << prepared.why_not;
    EXPECT_EQ(prepared.run->plan.training.tuning, row.tuning);
    const auto& lengths = prepared.run->plan.training.contents.lengths;
    EXPECT_EQ(lengths ? lengths->mean() : 0, row.documents ? 200 : 0);
  }
}

TEST(TuningRows, OtherKindsAreRefused) {
  std::string text(kTable);
  text.replace(text.find("LoRA"), 4, "DPO");
  try {
    (void)read_run_rows("finetune.csv", text, RunTable::times);
    FAIL();
  } catch (const InputError& e) {
    EXPECT_STREQ(e.what(), "finetune.csv: line 2: 'kind' is 'DPO', not SFT or LoRA");
  }
}

}  // namespace
}  // namespace nest::validate
