#include "nest/validate/calibrate/measured_table.hpp"

#include <gtest/gtest.h>

#include "nest/base/files.hpp"
#include "nest/validate/runs/test_runs.hpp"
#include "support/message_of.hpp"

namespace nest::validate {
namespace {

PreparedRun open(const std::string& plan) {
  if (plan != "a.json") throw InputError(plan, "", "no such file");
  return *run_case(made_up_run()).run;
}

std::vector<MeasuredRun> read(const std::string& text) {
  Warnings warnings;
  return read_measured_csv("m.csv", text, open, false, warnings);
}

std::string message(const std::string& text) {
  return message_of([&] { static_cast<void>(read(text)); });
}

TEST(MeasuredTable, PlansStepsAndMemory) {
  const auto runs = read("plan,step_s,memory_gib,memory_kind\na.json,9.5,61,reserved\na.json,,2,\n");
  ASSERT_EQ(runs.size(), 2U);
  EXPECT_EQ(runs[0].name, "m.csv line 2");
  EXPECT_EQ(runs[0].step, Seconds{9.5});
  EXPECT_EQ(runs[0].memory->kind, MemoryKind::reserved);
  EXPECT_EQ(runs[0].memory->bytes.value, std::int64_t{61} << 30);
  EXPECT_FALSE(runs[1].step);
  EXPECT_EQ(runs[1].memory->kind, MemoryKind::device);
  EXPECT_EQ(read("plan,memory_gb\na.json,2\n")[0].memory->bytes.value, 2'000'000'000);
}

TEST(MeasuredTable, PublishedRunsAreReadByTheOneReader) {
  Warnings warnings;
  const std::string file = small_file("runs.csv");
  const auto runs = read_measured_csv(file, read_file(file), open, false, warnings);
  EXPECT_GT(runs.size(), 0U);
  for (const MeasuredRun& run : runs) EXPECT_GT(run.step->value, 0) << run.name;
}

TEST(MeasuredTable, WhatIsWrongIsSaid) {
  EXPECT_EQ(message("step_s\n9.5\n"), "m.csv: line 1: no column 'plan'");
  EXPECT_EQ(
      message("plan,time\na.json,9.5\n"),
      "m.csv: line 1: there is neither a column 'step_s' nor 'memory_gb' nor 'memory_gib'; a table has the "
      "columns plan, step_s and, where it is known, memory_gib");
  EXPECT_EQ(message("plan,step_s\na.json,9.5 s\n"),
            "m.csv: line 2: 'step_s' is '9.5 s', not a positive number");
  EXPECT_EQ(message("plan,step_s\nb.json,9.5\n"), "b.json: no such file");
  EXPECT_EQ(message("plan,step_s\na.json,\n"), "m.csv: no row has a step or memory that can be compared");
  EXPECT_EQ(message("plan,step_s,memory_kind\na.json,1,peak\n"),
            "m.csv: line 2: 'memory_kind' is 'peak', not device, allocated or reserved");
}

TEST(MeasuredTable, TheSameAsJson) {
  const auto runs = read_measured_json(
      "m.json", R"({"runs": [{"plan": "a.json", "step_s": 9.5, "memory_bytes": "61 GiB"}]})", open);
  ASSERT_EQ(runs.size(), 1U);
  EXPECT_EQ(runs[0].step, Seconds{9.5});
  EXPECT_EQ(runs[0].memory->bytes.value, std::int64_t{61} << 30);
  const auto wrong = [](const std::string& text) {
    return message_of([&] { static_cast<void>(read_measured_json("m.json", text, open)); });
  };
  EXPECT_EQ(wrong(R"({"runs": [{"plan": "a.json", "step": 9.5, "step_s": 1}]})"),
            "m.json: line 1, runs[0]: unknown key 'step'; did you mean 'step_s'?");
  EXPECT_EQ(wrong(R"({"runs": [{"plan": "a.json"}]})"),
            "m.json: line 1, runs[0]: there is neither 'step_s' nor 'memory_bytes'");
}

}  // namespace
}  // namespace nest::validate
