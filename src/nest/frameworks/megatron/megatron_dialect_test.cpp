#include "nest/frameworks/megatron/megatron_dialect.hpp"

#include <gtest/gtest.h>

#include "nest/frameworks/test_exports.hpp"

namespace nest::frameworks {
namespace {

// A plan's settings have the file's own names.
TEST(MegatronDialect, SpellsAPlan) {
  const Dialect& dialect = megatron_dialect();
  test::Planner planner("llama3.1-8b", "megatron");
  Plan plan = test::degrees({.tensor = 2, .sequence_parallel = dialect.framework != "deepspeed"}, 1, 8);
  const ExportQuestion question = planner.question(plan);
  const std::vector<Flag> settings = dialect.settings(export_facts(question, dialect.framework));
  const Flag* tensor = find_flag(settings, "--tensor-model-parallel-size");
  ASSERT_NE(tensor, nullptr);
  EXPECT_EQ(tensor->values, std::vector<std::string>{"2"});
  EXPECT_FALSE(dialect.knobs.empty());
  EXPECT_FALSE(dialect.rules().empty());
}

}  // namespace
}  // namespace nest::frameworks
