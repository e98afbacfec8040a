#include "nest/plan/text/plan_json.hpp"

#include <gtest/gtest.h>

#include "nest/base/files.hpp"
#include "nest/plan/test_example.hpp"
#include "nest/plan/test_plans.hpp"
#include "nest/price/price.hpp"
#include "support/message_of.hpp"
#include "support/temporary_folder.hpp"

namespace nest::plan {
using namespace price;
namespace {

using test::example_inputs;
using test::example_plan;

// Writes, reads, and expects the same text from what was read; the text itself is returned.
std::string there_and_back(const Plan& plan, const PlanInputs& inputs) {
  std::string text = to_json(plan_value(plan, inputs));
  Warnings warnings;
  const OpenPlan open = read_plan_file(parse_json("p.json", text), warnings);
  EXPECT_TRUE(warnings.empty()) << warnings.front();
  EXPECT_EQ(to_json(plan_value(open.plan, open.inputs)), text);
  return text;
}

PlanInputs zoo_inputs(const std::string& model, const std::string& cluster, const std::string& recipe) {
  Warnings warnings;
  return load_inputs(model, cluster, recipe, warnings);
}

// Completed, placed, priced and written.
std::string priced_there_and_back(Plan plan, const PlanInputs& inputs) {
  Pricer pricer(inputs);
  plan = pricer.place(pricer.complete(std::move(plan)));
  const PricedPlan priced = pricer.price(plan);
  EXPECT_NE(priced.status, PriceStatus::invalid) << priced.reason;
  Plan full = with_results(plan, priced);
  full.lower_bound = Seconds{priced.predicted.step.value * 0.9};
  const std::string text = there_and_back(full, inputs);
  // What was read costs what was written.
  Warnings warnings;
  OpenPlan open = read_plan_file(parse_json("p.json", text), warnings);
  const PricedPlan again = Pricer(std::move(open.inputs)).price(open.plan);
  EXPECT_EQ(again.reason, priced.reason);
  EXPECT_EQ(again.predicted.step, priced.predicted.step);
  return text;
}

TEST(PlanJson, APlainPlan) {
  const Plan plan = example_plan({{0, 1}, {2}}, 2, 1);
  const std::string text = there_and_back(plan, example_inputs());
  const Document document = parse_json("p.json", text);
  const Value& root = document.root;
  for (const char* key : {"nest", "inputs", "model", "cluster", "training", "parallelism", "stages"})
    EXPECT_NE(root.find(key), nullptr) << key;
  for (const char* key : {"status", "predicted", "lower_bound_s"}) EXPECT_EQ(root.find(key), nullptr) << key;
  EXPECT_EQ(
      to_json_line(*root.find("parallelism")),
      R"({"tensor": 1, "sequence_parallel": false, "context": 1, "context_method": "ring", "expert": 1, )"
      R"("expert_tensor": 1, "dispatcher": "alltoall", "expert_overlap": false, "cell": 1, "pipeline": 2, "data": 2, "data_inner": 1, "block_devices": 0, )"
      R"("zero": 0, "zero_shards": 0, "recompute": "none", "interleave": 1, "schedule": "1f1b"})");
  EXPECT_EQ(
      to_json_line(*root.find("cluster")),
      R"({"name": "four", "devices": 4, "levels": [{"name": "node", "size": 2, "bandwidth_bytes_per_s": )"
      R"(1e+11, "latency_s": 1e-06}, {"name": "rack", "size": 2, "bandwidth_bytes_per_s": )"
      R"(1e+10, "latency_s": 5e-06}]})");
}

// Both groups say which dtypes were chosen: whoever reads only the inputs prices the same plan.
TEST(PlanJson, DtypesThatThePlanChooses) {
  Plan plan = example_plan({{0, 1}, {2}}, 2, 1);
  plan.training.states = {StateDType::fp16, StateDType::bf16, StateDType::fp8, true};
  const Document document = parse_json("p.json", priced_there_and_back(plan, example_inputs()));
  for (const Value* group : {document.root.find("training"), document.root.find("inputs")->find("recipe")}) {
    EXPECT_EQ(*group->find("gradient_dtype")->as_string(), "fp16");
    EXPECT_EQ(*group->find("reduce_dtype")->as_string(), "bf16");
    EXPECT_EQ(*group->find("optimizer_dtype")->as_string(), "fp8");
    EXPECT_TRUE(*group->find("master_weights")->as_bool());
  }
}

TEST(PlanJson, AnOffloadedOptimizer) {
  Plan plan = example_plan({{0, 1}, {2}}, 2, 1);
  plan.training.states.offload = {.optimizer = true, .activations = true};
  const Document document = parse_json("p.json", priced_there_and_back(plan, example_inputs()));
  EXPECT_EQ(to_json_line(*document.root.find("parallelism")->find("offload")),
            R"(["activations", "optimizer"])");
  const Value& memory = *document.root.find("stages")->as_array()->front().find("memory");
  EXPECT_GT(*memory.find("host_bytes")->as_int(), 0);
  EXPECT_GT(*memory.find("host_capacity_bytes")->as_int(), *memory.find("host_bytes")->as_int());
  plan.training.states.offload = {};
  EXPECT_EQ(there_and_back(plan, example_inputs()).find("offload"), std::string::npos);
}

TEST(PlanJson, MixedRecomputation) {
  Plan plan = example_plan({{0, 1}, {2}}, 2, 1);
  plan.stages[0].recompute = {RecomputePolicy::full, 1};
  EXPECT_NE(there_and_back(plan, example_inputs()).find(R"("recompute": "mixed")"), std::string::npos);
  plan.stages[0].recompute = plan.stages[1].recompute = {RecomputePolicy::full, 0};
  EXPECT_NE(there_and_back(plan, example_inputs()).find(R"("recompute": "full")"), std::string::npos);
}

TEST(PlanJson, PlacedAndPricedLayerProfile) {
  const std::string text = priced_there_and_back(example_plan({{0, 1}, {2}}, 2, 1), example_inputs());
  EXPECT_NE(text.find(R"("devices": [
        [1],
        [3]
      ])"),
            std::string::npos)
      << text;
}

TEST(PlanJson, Interleaved) {
  Plan plan;
  plan.training.global_batch = 64;
  plan.training.micro_batches = 0;
  plan.parallelism.strategy = {.tensor = 2, .sequence_parallel = true};
  plan.parallelism.pipeline = 4;
  plan.parallelism.data = 8;
  plan.parallelism.data_inner = 4;
  plan.parallelism.interleave = 4;
  plan.parallelism.schedule = Schedule::interleaved;
  plan.default_recompute = {RecomputePolicy::selective, 0};
  const std::string text =
      priced_there_and_back(plan, zoo_inputs("llama3.1-8b", "dgx-a100-superpod", "megatron"));
  EXPECT_NE(text.find(R"("chunks")"), std::string::npos);
}

TEST(PlanJson, ExpertsContextAndShards) {
  Plan plan;
  plan.training.global_batch = 256;
  plan.training.micro_batches = 0;
  plan.training.precision = Precision::fp8;
  Parallelism& p = plan.parallelism;
  p.strategy = {.tensor = 2,
                .sequence_parallel = true,
                .context = 2,
                .context_method = ContextMethod::all_to_all,
                .expert = 8,
                .expert_tensor = 1};
  p.pipeline = 2;
  p.data = 16;
  p.data_inner = 2;
  p.zero = 3;
  p.zero_shards = 8;
  p.first_stage_first = true;
  const PlanInputs inputs = zoo_inputs("qwen3-30b-a3b", "h100-spine-leaf", "torchtitan");
  const std::string text = priced_there_and_back(plan, inputs);
  EXPECT_NE(text.find(R"("first_stage_first": true)"), std::string::npos);
}

TEST(PlanJson, BranchingModelOnATorus) {
  Plan plan;
  plan.training.global_batch = 64;
  plan.training.micro_batches = 0;
  plan.parallelism.pipeline = 2;
  plan.parallelism.data = plan.parallelism.data_inner = 4;
  static_cast<void>(priced_there_and_back(plan, zoo_inputs("t5-small", "tpu-v5p-256", "plain")));
}

// Uneven clusters, every schedule, every recomputation.
TEST(PlanJson, RandomPlans) {
  constexpr unsigned kSeed = 20261121;
  for (unsigned i = 0; i < 200; ++i) {
    SCOPED_TRACE("seed " + std::to_string(kSeed + i));
    test::Dice dice(kSeed + i);
    PlanInputs inputs = test::random_inputs(dice, dice.once_in(2) ? "plain" : "deepspeed");
    Pricer pricer(inputs);
    Plan plan = test::random_plan(dice, inputs);
    const PricedPlan priced = pricer.price(plan);
    if (priced.status == PriceStatus::invalid) continue;
    // Of the model only names and the way to read it again are written: any that can be read will do.
    inputs.model = example_inputs().model;
    inputs.source = example_inputs().source;
    static_cast<void>(there_and_back(with_results(pricer.place(plan), priced), inputs));
    if (HasFailure()) return;
  }
}

// Numbers as odd as they come are written so that they read back the same.
TEST(PlanJson, NumbersToTheLastBit) {
  Plan plan = example_plan({{0, 1}, {2}}, 2, 1);
  plan.predicted.emplace();
  plan.predicted->step = Seconds{0.1 + 0.2};
  plan.predicted->tokens_per_s = 1.0 / 3;
  plan.predicted->mfu = 5e-324;
  plan.stages[0].memory.emplace().weights = Bytes{std::int64_t{1} << 60};
  plan.stages[0].time.emplace().backward = Seconds{1e-9 / 7};
  for (const PlanStatus status :
       {PlanStatus::optimal, PlanStatus::feasible, PlanStatus::infeasible, PlanStatus::limit}) {
    plan.status = status;
    static_cast<void>(there_and_back(plan, example_inputs()));
  }
}

TEST(PlanJson, StepsAndStagesOfOneTime) {
  StageTime time;
  time.forward = Seconds{1};
  time.zero = Seconds{0.5};
  EXPECT_EQ(to_json_line(to_value(time)),
            R"({"forward_s": 1, "backward_s": 0, "recompute_s": 0, "tensor_s": 0, "expert_s": 0, )"
            R"("context_s": 0, "pipeline_s": 0, "zero_s": 0.5, "total_s": 1.5})");
}

// A config.json in place of a zoo name.
TEST(PlanJson, ConfigFiles) {
  const TemporaryFolder folder;
  write_file(folder.file("mine.json"),
             R"({"model_type": "llama", "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4,
                 "intermediate_size": 128, "vocab_size": 100, "max_position_embeddings": 128})");
  Plan plan;
  plan.training.micro_batches = 0;
  static_cast<void>(
      priced_there_and_back(plan, zoo_inputs(folder.file("mine.json"), "h100-spine-leaf", "plain")));
}

TEST(PlanJson, FilesOfModelsAreWrittenOutWhole) {
  const TemporaryFolder folder;
  write_file(folder.file("mine.json"), test::kExampleProfile);
  write_file(folder.file("four.yaml"), test::kExampleCluster);
  Plan plan = example_plan({{0, 1}, {2}}, 2, 1);
  const PlanInputs inputs = zoo_inputs(folder.file("mine.json"), folder.file("four.yaml"), "plain");
  write_file(folder.file("plan.json"), to_json(plan_value(plan, inputs)));
  std::filesystem::remove(folder.file("mine.json"));
  std::filesystem::remove(folder.file("four.yaml"));
  Warnings warnings;
  const OpenPlan open = open_plan(folder.file("plan.json"), warnings);
  EXPECT_NEAR(Pricer(open.inputs).price(open.plan).predicted.step.value, 78.515e-3, 1e-12);
  EXPECT_NE(message_of([&] { static_cast<void>(open_plan(folder.file("none.json"), warnings)); }),
            "(no error)");
}

}  // namespace
}  // namespace nest::plan
