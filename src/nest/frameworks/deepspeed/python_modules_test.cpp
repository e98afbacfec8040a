#include "nest/frameworks/deepspeed/python_modules.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "nest/base/document/document.hpp"
#include "nest/base/files.hpp"
#include "nest/frameworks/test_exports.hpp"
#include "nest/frameworks/test_validators.hpp"

namespace nest::frameworks {
namespace {

namespace fs = std::filesystem;

// The value of a constant of the module.
std::string constant(const std::string& text, const std::string& name) {
  for (const std::string& line : test::split(text, '\n')) {
    if (line.starts_with(name + " = "))
      return line.substr(name.size() + 3, line.find("  #") - name.size() - 3);
  }
  return "";
}

TEST(PythonModules, PipelinesHaveThePlansStages) {
  test::Planner planner("llama3.1-8b", "deepspeed");
  Plan plan = test::degrees({.tensor = 2}, 4, 2);
  plan.default_recompute = {RecomputePolicy::full, 0};
  std::int32_t next = 0;
  for (const int layers : {10, 8, 8, 8}) {
    Stage& stage = plan.stages.emplace_back();
    for (int i = 0; i < layers; ++i) stage.layers.emplace_back(next++);
    stage.strategy = plan.parallelism.strategy;
    stage.recompute = plan.default_recompute;
  }
  const test::Exported out = test::exported("deepspeed", planner.question(plan));
  ASSERT_EQ(out.result.rule, "") << out.result.sentence;
  const std::string& module = out.files.at("nest_pipeline.py");
  EXPECT_EQ(constant(module, "BOUNDS"), "[0, 10, 18, 26, 34]");
  EXPECT_EQ(constant(module, "STAGES, DATA, TENSOR"), "4, 2, 2");
  EXPECT_EQ(constant(module, "ACTIVATION_CHECKPOINT_INTERVAL"), "1");
  for (const std::string& sentence : out.result.lost)
    EXPECT_EQ(sentence.find("stages"), std::string::npos) << sentence;
}

TEST(PythonModules, ContextRanksAreUlysses) {
  test::Planner planner("llama3.1-8b", "deepspeed");
  const Plan plan = test::degrees({.context = 4, .context_method = ContextMethod::all_to_all}, 1, 4);
  const test::Exported out = test::exported("deepspeed", planner.question(plan));
  ASSERT_EQ(out.result.rule, "") << out.result.sentence;
  const std::string& module = out.files.at("nest_ulysses.py");
  EXPECT_EQ(constant(module, "CONTEXT"), "4");
  EXPECT_EQ(constant(module, "MESH"), "(4, 4)");
  EXPECT_EQ(constant(module, "MICRO_BATCH, SEQUENCE"), "1, 2048");
  EXPECT_FALSE(out.files.contains("nest_pipeline.py"));
}

// Modules are there where the plan needs them, and have its bounds. NEST_KEEP_EXPORTS=DIR keeps them.
TEST(PythonModules, RandomPlansHaveTheirBounds) {
  const char* kept = std::getenv("NEST_KEEP_EXPORTS");
  int pipelines = 0;
  int contexts = 0;
  test::for_random_questions("deepspeed", 200, [&](const ExportQuestion& question, unsigned seed) {
    const test::Exported out = test::exported("deepspeed", question);
    const Parallelism& p = question.plan.parallelism;
    ASSERT_EQ(out.files.contains("nest_pipeline.py"), p.pipeline > 1) << "seed " << seed;
    ASSERT_EQ(out.files.contains("nest_ulysses.py"), p.strategy.context > 1) << "seed " << seed;
    contexts += p.strategy.context > 1 ? 1 : 0;
    if (p.pipeline == 1) return;
    ++pipelines;
    std::string bounds = "[0";
    std::size_t end = 0;
    for (const Stage& stage : question.plan.stages)
      bounds += ", " + std::to_string(end += stage.layers.size());
    const std::string& module = out.files.at("nest_pipeline.py");
    ASSERT_EQ(constant(module, "BOUNDS"), bounds + "]") << "seed " << seed;
    const Document layers = parse_json("LAYERS", constant(module, "LAYERS"));
    ASSERT_EQ(layers.root.as_array()->size(), end);
    if (kept != nullptr) {
      const fs::path folder = fs::path(kept) / std::to_string(seed);
      fs::create_directories(folder);
      write_file((folder / "nest_pipeline.py").string(), module);
      write_file((folder / "rank_map.csv").string(), out.files.at("placement/rank_map.csv"));
    }
  });
  EXPECT_GT(pipelines, 20);
  EXPECT_GT(contexts, 5);
}

TEST(PythonModules, ArePython) {
  if (std::system("command -v python3 > /dev/null 2>&1") != 0) GTEST_SKIP() << "SKIPPED: python3 is absent";
  test::Planner planner("llama3.1-8b", "deepspeed");
  const fs::path folder = fs::temp_directory_path() / ("nest_python_" + std::to_string(std::rand()));
  fs::create_directories(folder);
  for (const Plan& plan :
       {test::degrees({}, 4, 4),
        test::degrees({.context = 2, .context_method = ContextMethod::all_to_all}, 1, 4)}) {
    for (const auto& [name, bytes] : test::exported("deepspeed", planner.question(plan)).files) {
      if (!name.ends_with(".py")) continue;
      write_file((folder / name).string(), bytes);
      EXPECT_EQ(std::system(("python3 -m py_compile " + (folder / name).string()).c_str()), 0) << bytes;
    }
  }
  fs::remove_all(folder);
}

}  // namespace
}  // namespace nest::frameworks
