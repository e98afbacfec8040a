#include "nest/validate/runs/run_rows.hpp"

#include <gtest/gtest.h>

#include "nest/base/error.hpp"
#include "nest/base/files.hpp"
#include "nest/validate/runs/test_runs.hpp"

namespace nest::validate {
namespace {

const std::string kHeader =
    "heads,id,model,layers,hidden,seq_len,global_batch,micro_batch,num_gpus,accelerator,framework,tp,pp,"
    "measured_metric,measured_value,vocab,zero,usable,notes,colour\n";

TEST(RunRows, ColumnsInAnyOrderMissingAndMore) {
  const auto rows =
      read_run_rows("r.csv",
                    kHeader +
                        "16,a,Tiny,4,1024,512,32,2,8,h100-sxm,megatron,2,1,iteration_s,0.5,"
                        "~64k (64128 padded),1,1,,blue\n"
                        "16,b,Tiny,4,1024,512,32,2,8,,megatron,,,iteration_s,0.5,32000,,,FLAG odd,\n",
                    RunTable::times);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].id, "a");
  EXPECT_EQ(rows[0].heads, 16);
  EXPECT_EQ(rows[0].vocab, 64128);
  EXPECT_EQ(rows[0].measured, 0.5);
  EXPECT_FALSE(rows[0].kv_heads);
  EXPECT_TRUE(rows[0].is_usable());
  EXPECT_FALSE(rows[1].is_usable());
  EXPECT_FALSE(rows[1].tensor);
}

std::string message(const std::string& text, RunTable table = RunTable::times) {
  try {
    static_cast<void>(read_run_rows("r.csv", text, table));
  } catch (const InputError& e) {
    return e.what();
  }
  return "no error";
}

TEST(RunRows, ErrorsAreSentences) {
  const std::string start = "16,a,Tiny,4,1024,512,32,2,8,h100-sxm,megatron,";
  EXPECT_EQ(message(kHeader + start + "two,1,iteration_s,0.5,,,,,\n"),
            "r.csv: line 2: 'tp' is 'two', not a positive whole number");
  EXPECT_EQ(message(kHeader + start + "1,1,iteration_s,-3,,,,,\n"),
            "r.csv: line 2: 'measured_value' is '-3', not a positive number");
  EXPECT_EQ(message(kHeader + start + "1,1,iteration_s,3,many,,,,\n"),
            "r.csv: line 2: 'vocab' is 'many', not a number of tokens");
  EXPECT_EQ(message(kHeader + start + "1,1,iteration_s,3,,4,,,\n"),
            "r.csv: line 2: 'zero' is '4', not 0, 1, 2 or 3");
  EXPECT_EQ(message("id,modle\na,b\n"), "r.csv: line 1: no column 'model'; did you mean 'modle'?");
  EXPECT_EQ(message(kHeader, RunTable::memory), "r.csv: line 1: no column 'memory_gb_per_gpu'");
}

TEST(RunRows, ProjectsAndNotes) {
  RunRow row;
  row.source = "some-lab/their-model notes/log.md @abc (Monday)";
  EXPECT_EQ(row.project(), "some-lab/their-model");
  EXPECT_EQ(number_after("x; micro_num=4; y", "micro_num"), 4);
  EXPECT_EQ(number_after("micro_num 12", "micro_num"), 12);
  EXPECT_FALSE(number_after("micro_num: many", "micro_num"));
  EXPECT_TRUE(mentions("CP_comm A2A", "a2a"));
}

TEST(RunRows, SmallTables) {
  const auto runs = read_run_rows("runs.csv", read_file(small_file("runs.csv")), RunTable::times);
  ASSERT_EQ(runs.size(), 25U);
  EXPECT_EQ(runs.front().id, "sc21_t1_7.5B");
  EXPECT_EQ(runs.front().pipeline, 1);
  EXPECT_EQ(runs.front().tensor, 4);
  const auto memory = read_run_rows("memory.csv", read_file(small_file("memory.csv")), RunTable::memory);
  ASSERT_EQ(memory.size(), 15U);
  EXPECT_EQ(memory.front().memory, "45.63");
}

TEST(RunRows, PublishedTables) {
  const std::string runs = shared_file("runs/runs.csv");
  if (runs.empty()) GTEST_SKIP() << "the large tables are absent; the small ones are read above";
  EXPECT_EQ(read_run_rows("runs.csv", read_file(runs), RunTable::times).size(), 275U);
  const std::string memory = shared_file("runs/memory.csv");
  EXPECT_EQ(read_run_rows("memory.csv", read_file(memory), RunTable::memory).size(), 137U);
}

}  // namespace
}  // namespace nest::validate
