#include "nest/solve/baselines/alpa/alpa_layer.hpp"

#include <gtest/gtest.h>

#include "nest/model/blocks/build.hpp"

namespace nest::solve::alpa {
namespace {

struct Story {
  PlanInputs inputs;
  TwoLevelMesh mesh;
  Model model;
};

Story story(const std::string& model, std::int64_t micro_batch) {
  Warnings warnings;
  PlanInputs inputs = load_inputs(model, "h100-spine-leaf", "plain", warnings);
  const TwoLevelMesh mesh = two_level_mesh(inputs.cluster);
  Model built = build_model(std::get<ModelSpec>(inputs.source),
                            {.micro_batch = micro_batch, .sequence = 1024, .fused = true});
  return {std::move(inputs), mesh, std::move(built)};
}

const LayerType& block_of(const Model& model) {
  for (const LayerType& type : model.types) {
    if (type.is_block()) return type;
  }
  return model.types.front();
}

// Specs that were chosen, by the operators' names.
std::string spec_of(const LayerType& layer, const ShardProblem& problem, const ShardChoice& choice,
                    const std::string& name) {
  for (std::size_t o = 0; o < layer.operators.size(); ++o) {
    if (layer.operators[o].name != name) continue;
    const std::size_t at = layer.inputs.size() + o;
    return std::string(name_of(problem.operators[at].ways[choice.ways[at]].spec));
  }
  return "no such operator";
}

// Megatron's split, found rather than known: columns, then contractions, rows between them.
TEST(AlpaLayer, FindsMegatronsSplitOfABlock) {
  const Story s = story("llama3.1-70b", 1);
  LayerSharder sharder(s.inputs, s.mesh, Precision::bf16);
  const LayerType& block = block_of(s.model);
  const LayerSplit split{{.tensor = 8, .sequence_parallel = true}, 16, 8};
  const ShardProblem problem = sharder.problem(block, true, split);
  const ShardChoice choice = solve_sharding(problem);
  const auto spec = [&](const std::string& name) { return spec_of(block, problem, choice, name); };
  EXPECT_EQ(spec("qkv"), "column");
  EXPECT_EQ(spec("attention"), "feature");
  EXPECT_EQ(spec("output"), "contract");
  EXPECT_EQ(spec("attention_add"), "row");
  EXPECT_EQ(spec("gate_up"), "column");
  EXPECT_EQ(spec("down"), "contract");
}

TEST(AlpaLayer, AnySpecIsNeverSlowerThanThoseOfAPlan) {
  for (const char* name : {"llama3.1-70b", "gpt2-xl", "mixtral-8x7b", "t5-11b"}) {
    const Story s = story(name, 2);
    LayerSharder sharder(s.inputs, s.mesh, Precision::bf16);
    for (const LayerType& type : s.model.types) {
      for (const std::int64_t t : {1, 2, 4}) {
        LayerSplit split{{.tensor = t, .sequence_parallel = t > 1}, 4, 16};
        const Seconds plan = solve_sharding(sharder.problem(type, true, split)).time;
        split.any_spec = true;
        const Seconds any = solve_sharding(sharder.problem(type, true, split)).time;
        EXPECT_LE(any.value, plan.value * (1 + 1e-12)) << name << " " << type.name << " " << t;
        EXPECT_GT(any.value, 0);
      }
    }
  }
}

// A large batch and few weights: rows are split, as data parallelism does.
TEST(AlpaLayer, SplitsRowsWhereThatIsCheaper) {
  const Story s = story("gpt2-xl", 16);
  LayerSharder sharder(s.inputs, s.mesh, Precision::bf16);
  const LayerType& block = block_of(s.model);
  const LayerSplit split{{.tensor = 4, .sequence_parallel = true}, 1, 64, false, true};
  const ShardProblem problem = sharder.problem(block, true, split);
  const ShardChoice choice = solve_sharding(problem);
  EXPECT_EQ(spec_of(block, problem, choice, "qkv"), "row");
  EXPECT_EQ(spec_of(block, problem, choice, "attention"), "row");
  EXPECT_EQ(spec_of(block, problem, choice, "down"), "row");
}

// On one device a layer takes what the estimator says of its operators; a second forward pass adds one.
TEST(AlpaLayer, AddsUpOperatorsOnOneDevice) {
  const Story s = story("gpt2-xl", 1);
  LayerSharder sharder(s.inputs, s.mesh, Precision::bf16);
  const OperatorTimes times(s.inputs.cluster.accelerator(), {});
  const LayerType& block = block_of(s.model);
  Seconds forward;
  Seconds backward;
  for (const Operator& op : block.operators) {
    const OperatorTime time = times.time(block, op);
    forward += time.forward;
    backward += time.backward();
  }
  const auto time = [&](bool again) {
    return solve_sharding(sharder.problem(block, true, {{}, 1, 1, again})).time.value;
  };
  EXPECT_NEAR(time(false), (forward + backward).value, 1e-12);
  EXPECT_NEAR(time(true), (2 * forward + backward).value, 1e-12);
}

// 10 M parameters in 32 bits or 16 as the recipe says, over 8 copies of 8 tensor ranks: between nodes.
TEST(AlpaLayer, SumsGradientsOverCopies) {
  const Story s = story("gpt2-xl", 1);
  const LayerSplit split{{.tensor = 8, .sequence_parallel = true}, 8, 1};
  const auto bytes = 1e7 * static_cast<double>(size_of(s.inputs.recipe.reduce_dtype));
  const MeshAxis axis{8, s.mesh.between};
  EXPECT_DOUBLE_EQ(dense_gradients(1e7, s.mesh, split, s.inputs.recipe).value, axis.all_reduce(bytes).value);
  const LayerSplit experts{{.tensor = 1, .expert = 8, .expert_tensor = 1}, 1, 1};
  EXPECT_EQ(expert_gradients(1e7, s.mesh, experts, s.inputs.recipe).value, 0);
  EXPECT_GT(dense_gradients(1e7, s.mesh, experts, s.inputs.recipe).value, 0);
}

}  // namespace
}  // namespace nest::solve::alpa
