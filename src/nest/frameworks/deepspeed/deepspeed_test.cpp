#include "nest/frameworks/deepspeed/deepspeed.hpp"

#include <gtest/gtest.h>

#include <regex>

#include "nest/base/document/document.hpp"
#include "nest/frameworks/test_exports.hpp"
#include "nest/frameworks/test_validators.hpp"

namespace nest::frameworks {
namespace {

// DeepSpeed's own arithmetic, on the text of the files.
std::string check_deepspeed(const test::Files& files) {
  const Document document = parse_json("ds_config.json", files.at("ds_config.json"));
  const auto number = [&](const char* group, const char* key, std::int64_t otherwise) {
    const Value* at = &document.root;
    if (*group != '\0') at = at->find(group);
    if (at != nullptr) at = at->find(key);
    return at != nullptr ? *at->as_int() : otherwise;
  };
  const std::int64_t tensor = number("tensor_parallel", "autotp_size", 1);
  const std::int64_t context = number("", "sequence_parallel_size", 1);
  const std::int64_t stages = number("pipeline", "stages", 1);
  const auto world =
      static_cast<std::int64_t>(test::split(files.at("placement/rank_map.csv"), '\n').size()) - 1;
  if (world % (tensor * context * stages) != 0) return "world";
  const std::int64_t data = world / (tensor * context * stages);
  if (number("", "train_batch_size", 0) !=
      number("", "train_micro_batch_size_per_gpu", 0) * number("", "gradient_accumulation_steps", 0) * data)
    return "batch";
  const std::int64_t zero = number("zero_optimization", "stage", -1);
  if (zero < 0 || zero > 3 || (stages > 1 && zero >= 2)) return "zero";
  if (tensor > 1 && zero == 3) return "tensor parallelism with ZeRO 3";
  const std::int64_t shards = number("zero_optimization", "mics_shard_size", data * context);
  if (data * context % shards != 0 || (zero != 3 && shards != data * context)) return "shards";
  if (files.contains("partition.json") != (stages > 1)) return "partition";
  std::int64_t slots = 0;
  for (const std::string& line : test::split(files.at("hostfile"), '\n')) {
    std::smatch match;
    static const std::regex kLine("^(\\S+)\\s+slots=(\\d+)$");
    if (!std::regex_match(line, match, kLine)) return "hostfile";
    slots += std::stol(match[2]);
  }
  if (slots != world) return "slots";
  return test::check_placement(files, tensor, context, stages, false);
}

TEST(DeepSpeed, PlansThatTheRulesAllowKeepItsArithmetic) {
  int pipelines = 0;
  test::for_random_questions("deepspeed", 1000, [&](const ExportQuestion& question, unsigned seed) {
    const test::Exported out = test::exported("deepspeed", question);
    ASSERT_EQ(out.result.rule, "") << "seed " << seed << ": " << out.result.sentence;
    ASSERT_EQ(check_deepspeed(out.files), "") << "seed " << seed << "\n" << out.files.at("ds_config.json");
    pipelines += question.plan.parallelism.pipeline > 1 ? 1 : 0;
  });
  EXPECT_GT(pipelines, 100);
}

// 34 layers over 3 stages: 12, 11, 11 are uniform, 12, 11, 11 blocks and ends are not.
TEST(DeepSpeed, NamesTheNearestPartition) {
  test::Planner planner("llama3.1-8b", "deepspeed");
  const auto method = [&](const std::vector<std::int64_t>& layers) {
    Plan plan = test::degrees({}, static_cast<std::int64_t>(layers.size()), 4);
    std::int32_t next = 0;
    for (const std::int64_t n : layers) {
      Stage& stage = plan.stages.emplace_back();
      for (std::int64_t i = 0; i < n; ++i) stage.layers.emplace_back(next++);
    }
    const ExportQuestion question = planner.question(plan);
    const PartitionMethod found = partition_method(export_facts(question));
    return found.name + (found.exact ? "" : " at best");
  };
  EXPECT_EQ(method({12, 11, 11}), "uniform");
  EXPECT_EQ(method({17, 17}), "uniform");
  EXPECT_EQ(method({9, 8, 8, 9}), "type:block");
  EXPECT_EQ(method({10, 8, 8, 8}), "type:block at best");
}

TEST(DeepSpeed, TellsWhatPythonMustSay) {
  test::Planner planner("llama3.1-8b", "deepspeed");
  Plan plan = test::degrees({}, 4, 4);
  plan.default_recompute = {RecomputePolicy::full, 0};
  const test::Exported out = test::exported("deepspeed", planner.question(plan));
  EXPECT_NE(out.files.at("NOTES.md")
                .find("the model: nest_pipeline.NestPipelineModule(layers), which has the plan's stages; "
                      "PipelineModule(num_stages=4, partition_method='type:block', "
                      "activation_checkpoint_interval=1) has the same"),
            std::string::npos);
}

}  // namespace
}  // namespace nest::frameworks
