#include "nest/frameworks/megatron_core/ms_swift.hpp"

#include <gtest/gtest.h>

#include "nest/frameworks/common/flags.hpp"
#include "nest/frameworks/megatron_core/test_core_fields.hpp"
#include "nest/frameworks/test_exports.hpp"

namespace nest::frameworks {
namespace {

TEST(MsSwift, TheTableHasOurReleases) {
  const test::FieldTable fields("ms_swift_arguments.csv", "ms-swift");
  for (const Release& release : find_releases("ms-swift")->releases)
    EXPECT_EQ(fields.days().at(std::string(release.name)), release.released);
}

// None that the rules allow is refused; every argument and value is known, those of the smoke run included; and
// the degrees read back are the plan's.
TEST(MsSwift, TakesWhatIsWrittenForRandomPlans) {
  const test::FieldTable fields("ms_swift_arguments.csv", "ms-swift");
  test::for_random_questions("ms-swift", 200, [&](const ExportQuestion& question, unsigned seed) {
    const test::Exported out = test::exported("ms-swift", question);
    ASSERT_EQ(out.result.rule, "") << seed << out.result.sentence;
    const test::Settings settings = test::read_settings(out.files.at("swift_args.txt"), ' ');
    for (const auto& [key, value] : settings) {
      // A list is written as its words, and the layout needs no quotes here.
      const std::string said = key == "recompute_modules"                ? "[" + value + "]"
                               : key == "pipeline_model_parallel_layout" ? "'" + value + "'"
                                                                         : value;
      ASSERT_EQ(fields.problem("v4.5", key, said), "") << seed;
    }
    ASSERT_EQ(test::degrees_problem(settings, {"", "", ""}, question), "") << seed;
    const Training& t = question.plan.training;
    EXPECT_EQ(settings.at("global_batch_size"), std::to_string(t.global_batch));
    EXPECT_EQ(settings.at("micro_batch_size"), std::to_string(t.micro_batch));
    EXPECT_EQ(settings.at("max_length"), std::to_string(t.sequence));
    for (const char* variable : {"MODEL_ARGS", "TRAIN_ARGS"}) {
      for (const Flag& flag : read_flags(test::default_of(out.files.at("swift.sh"), variable)))
        ASSERT_EQ(fields.problem("v4.5", flag.name.substr(2), flag.values.front()), "") << seed;
    }
    const Parallelism& p = question.plan.parallelism;
    ASSERT_EQ(test::check_placement(out.files, p.strategy.tensor, p.strategy.context, p.pipeline, false), "");
  });
}

// Its defaults are others than Megatron-LM's: it recomputes selectively and shards optimizers.
TEST(MsSwift, SaysWhatItsDefaultsAreNot) {
  test::Planner planner("llama3.1-8b");
  const test::Exported out = test::exported("ms-swift", planner.question(test::degrees({}, 1, 8)));
  const test::Settings settings = test::read_settings(out.files.at("swift_args.txt"), ' ');
  EXPECT_EQ(settings.at("recompute_granularity"), "none");
  EXPECT_EQ(settings.at("use_distributed_optimizer"), "false");
  EXPECT_EQ(settings.at("accumulate_allreduce_grads_in_fp32"), "true");
  EXPECT_NE(out.files.at("swift.sh").find("--model meta-llama/Meta-Llama-3.1-8B --use_hf true"),
            std::string::npos);
  EXPECT_TRUE(out.result.lost.empty());
}

TEST(MsSwift, AsksForAModelThatItDoesNotKnow) {
  test::Planner planner("mixtral-8x7b");
  const test::Exported out = test::exported("ms-swift", planner.question(test::degrees({.expert = 8}, 1, 8)));
  EXPECT_NE(out.files.at("swift.sh").find("model=${MODEL_ARGS:?set it to the model"), std::string::npos);
  EXPECT_EQ(out.result.lost, std::vector<std::string>{"the model: MODEL_ARGS names it"});
}

}  // namespace
}  // namespace nest::frameworks
