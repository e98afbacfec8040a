#include "nest/validate/validate_memory.hpp"

#include <gtest/gtest.h>

#include <map>

#include "nest/base/files.hpp"
#include "nest/validate/runs/test_runs.hpp"

namespace nest::validate {
namespace {

RunRow with(const std::string& id, const std::string& value, const std::string& kind) {
  RunRow row = made_up_run();
  row.id = id;
  row.memory = value;
  row.memory_kind = kind;
  return row;
}

// Says 11 GiB for everything, and that it fits.
RunPrediction eleven(const PreparedRun& /*run*/) {
  RunPrediction p;
  StageMemory stage;
  stage.weights = Bytes{11LL << 30};
  stage.capacity = Bytes{80LL << 30};
  p.stages = {stage};
  return p;
}

TEST(ValidateMemory, CountsFiguresAndFits) {
  const std::string allocated = "GiB, torch max_memory_allocated";
  std::vector<RunRow> rows{with("a", "10", allocated), with("b", "11", allocated),
                           with("c", "OOM", "OOM on 80GB")};
  rows.push_back(with("d", "10", "handfuls"));
  rows.push_back(with("e", "OOM", "OOM on 80GB"));
  rows.back().zero.reset();
  const MemoryValidation v = validate_memory(rows, eleven);
  EXPECT_EQ(v.all.rows, 2);
  EXPECT_NEAR(v.all.p90, 0.1, 1e-9);
  EXPECT_EQ(v.ran, 2);
  EXPECT_EQ(v.ran_fit, 2);
  EXPECT_EQ(v.out_of_memory, 1);
  EXPECT_EQ(v.out_of_memory_right, 0);
  EXPECT_EQ(v.rows[4].why_skipped, "the ZeRO stage is not stated");
  const Value json = to_value(v);
  EXPECT_EQ(*json.find("rows")->as_int(), 5);
  EXPECT_EQ(*json.find("usable")->as_int(), 5);
  EXPECT_EQ(*json.find("skipped")->as_int(), 2);
  EXPECT_EQ(*json.find("out_of_memory")->find("right")->as_int(), 0);
}

// 11 GiB fit a device of 11.5 by themselves, and not with what the allocator and the driver take.
TEST(ValidateMemory, WhatLiesOutsideTheAllocatorCounts) {
  const std::vector<RunRow> rows{with("c", "OOM", "OOM on 80GB")};
  const MemoryValidation v = validate_memory(rows, [](const PreparedRun& run) {
    RunPrediction p = eleven(run);
    p.stages.front().capacity = Bytes{23LL << 29};
    return p;
  });
  EXPECT_EQ(v.out_of_memory_right, 1);
}

// How many rows of each kind could be scored; the others lack what the question needs.
std::map<std::string, int> scored_kinds(const std::string& file) {
  const auto rows = read_run_rows("memory.csv", read_file(file), RunTable::memory);
  std::map<std::string, int> kinds;
  for (const MemoryResult& r : validate_memory(rows, eleven).rows) {
    if (r.scored()) ++kinds[std::string(name_of(r.kind))];
  }
  return kinds;
}

TEST(ValidateMemory, FiguresOfASmallTable) {
  EXPECT_EQ(scored_kinds(small_file("memory.csv")),
            (std::map<std::string, int>{
                {"allocated", 4}, {"computed", 1}, {"device", 3}, {"out of memory", 1}, {"reserved", 1}}));
}

TEST(ValidateMemory, PublishedFigures) {
  const std::string file = shared_file("runs/memory.csv");
  if (file.empty()) GTEST_SKIP() << "the large table is absent; the small one is read above";
  std::map<std::string, int> kinds = scored_kinds(file);
  EXPECT_EQ(kinds["allocated"], 29);
  EXPECT_EQ(kinds["reserved"], 11);
  EXPECT_EQ(kinds["computed"], 5);
  EXPECT_EQ(kinds["out of memory"], 3);
  EXPECT_GE(kinds["device"], 30);
}

}  // namespace
}  // namespace nest::validate
