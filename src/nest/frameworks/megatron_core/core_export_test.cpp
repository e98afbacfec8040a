#include "nest/frameworks/megatron_core/core_export.hpp"

#include <gtest/gtest.h>

#include "nest/frameworks/test_exports.hpp"

namespace nest::frameworks {
namespace {

constexpr CoreTarget kUsualOrder{"verl", "core_v0.15", CoreDialect::verl, "key in verl"};
constexpr CoreTarget kBothOrders{"megatron-bridge", "core_v0.19", CoreDialect::bridge, "field", true};

// Whole copies on consecutive devices: only some frameworks have the order of ranks that torchrun can give.
TEST(CoreExport, TakesTheOrderThatTheFrameworkHas) {
  test::Planner planner("llama3.1-8b");
  Plan plan = test::degrees({.tensor = 2, .sequence_parallel = true}, 4, 4);
  plan.parallelism.data_inner = 1;
  const ExportQuestion question = planner.question(plan);
  EXPECT_EQ(begin_core_export(question, kUsualOrder).map.order, RankOrder::data_before_stage);
  const CoreExport both = begin_core_export(question, kBothOrders);
  EXPECT_EQ(both.map.order, RankOrder::stage_before_data);
  EXPECT_EQ(core_header(both, "Overrides"),
            "# Overrides of a plan by nest for Megatron Bridge v0.6; world size: 32\n\n");
}

TEST(CoreExport, NamesTheRuleThatIsBroken) {
  test::Planner planner("llama3.1-8b");
  Plan plan = test::degrees({}, 1, 8);
  plan.parallelism.zero = 3;
  const CoreExport out = begin_core_export(planner.question(plan), kUsualOrder);
  EXPECT_EQ(out.result.rule, "no-fsdp");
  EXPECT_TRUE(out.settings.empty());
}

TEST(CoreExport, EndsWithScriptsPlacementAndNotes) {
  test::Planner planner("llama3.1-8b");
  const ExportQuestion question = planner.question(test::degrees({}, 1, 8));
  const CoreExport out = begin_core_export(question, kBothOrders);
  std::map<std::string, std::string> files;
  end_core_export(question, out, "Megatron Bridge", {"own.sh", "#!/bin/bash\n", "job"}, {"data"},
                  [&](const ExportFile& file) { files[file.name] = file.bytes; });
  for (const char* name : {"own.sh", "run_host.sh", "run_slurm.sh", "placement/rank_map.csv"})
    EXPECT_TRUE(files.contains(name)) << name;
  EXPECT_NE(files.at("NOTES.md").find("## Yours to say\n\n- data\n"), std::string::npos);
}

}  // namespace
}  // namespace nest::frameworks
