#include "nest/plan/rules/check.hpp"

#include <gtest/gtest.h>

#include "nest/cluster/catalog.hpp"
#include "nest/model/blocks/build.hpp"
#include "nest/model/zoo.hpp"
#include "nest/plan/test_example.hpp"

namespace nest::plan {
namespace {

using test::example_inputs;
using test::example_plan;

// What check says of the example's two-stage plan after a change.
template <class Change>
std::string verdict(Change change) {
  const PlanInputs inputs = example_inputs();
  Plan plan = example_plan({{0, 1}, {2}}, 2, 1);
  change(plan);
  return check_plan(plan, LayerGraph(*inputs.profile()), inputs.cluster).value_or("fine");
}

std::vector<LayerId> ids(std::initializer_list<int> values) {
  std::vector<LayerId> out;
  for (const int v : values) out.emplace_back(v);
  return out;
}

TEST(Check, AGoodPlan) {
  EXPECT_EQ(verdict([](Plan&) {}), "fine");
}

TEST(Check, Degrees) {
  EXPECT_EQ(verdict([](Plan& p) { p.parallelism.strategy.tensor = 0; }), "degrees are at least 1");
  EXPECT_EQ(verdict([](Plan& p) { p.parallelism.strategy.context = -2; }), "degrees are at least 1");
  EXPECT_EQ(verdict([](Plan& p) { p.parallelism.data = 0; }), "degrees are at least 1");
  EXPECT_EQ(verdict([](Plan& p) { p.parallelism.strategy.tensor = 1 << 24; }),
            "a degree of 16777216 is more than the cluster's 4 devices");
  EXPECT_EQ(verdict([](Plan& p) {
              p.parallelism.strategy.tensor = 4;
              p.parallelism.strategy.context = 4;
            }),
            "a cell of tensor 4, context 4 is more than the cluster's 4 devices");
  EXPECT_EQ(verdict([](Plan& p) { p.stages[1].strategy.expert = 1 << 20; }),
            "a degree of 1048576 is more than the cluster's 4 devices");
  EXPECT_EQ(verdict([](Plan& p) { p.parallelism.pipeline = 3; }), "pipeline is 3, but there are 2 stages");
  EXPECT_EQ(verdict([](Plan& p) { p.parallelism.pipeline = 1 << 24; }),
            "pipeline is 16777216, but there are 2 stages");
  EXPECT_EQ(verdict([](Plan& p) { p.parallelism.data_inner = 3; }),
            "data_inner 3 does not divide the 2 copies");
  EXPECT_EQ(verdict([](Plan& p) { p.parallelism.data = p.parallelism.data_inner = 1 << 24; }),
            "33554432 devices are needed (cells of 1 x 16777216 copies x 2 stages), the cluster has 4");
}

// The module for multi-token prediction of DeepSeek V3 is layer 62, the head 63.
TEST(Check, ModulesForMultiTokenPredictionStandWithTheHead) {
  const Cluster cluster = load_cluster("h100-spine-leaf");
  const LayerGraph graph(build_model(zoo_model("deepseek-v3"), {.sequence = 64, .mtp = true}));
  const auto verdict = [&](std::int32_t first_of_last) {
    Plan plan = example_plan({{0}, {1}}, 1, 1);
    plan.stages[0].layers.clear();
    plan.stages[1].layers.clear();
    for (std::int32_t i = 0; i < 64; ++i) plan.stages[i < first_of_last ? 0 : 1].layers.emplace_back(i);
    return check_plan(plan, graph, cluster).value_or("fine");
  };
  EXPECT_EQ(verdict(62), "fine");
  EXPECT_EQ(verdict(40), "fine");
  EXPECT_EQ(verdict(63),
            "layer 62 (stage 0) predicts further tokens and stands in one stage with the head (1)");
}

TEST(Check, DataIsInMultiplesOfTheSide) {
  EXPECT_EQ(verdict([](Plan& p) {
              p.parallelism.strategy.expert = 2;
              p.parallelism.data = 1;
            }),
            "data 1 is no multiple of the 2 micro-batches that a cell of 2 devices runs side by side");
}

TEST(Check, Batches) {
  EXPECT_EQ(verdict([](Plan& p) { p.training.micro_batch = 0; }), "batches are at least 1");
  EXPECT_EQ(verdict([](Plan& p) { p.training.global_batch = 7; }),
            "the global batch 7 is no multiple of micro-batch 1 x data 2");
  EXPECT_EQ(verdict([](Plan& p) { p.training.micro_batch = 1'000'000'000; }),
            "the global batch 8 is no multiple of micro-batch 1000000000 x data 2");
  EXPECT_EQ(verdict([](Plan& p) { p.training.micro_batches = 3; }),
            "micro-batch 1 x data 2 x 3 micro-batches is not the global batch 8");
}

TEST(Check, Zero) {
  EXPECT_EQ(verdict([](Plan& p) { p.parallelism.zero = 4; }), "zero is 0, 1, 2 or 3");
  EXPECT_EQ(verdict([](Plan& p) {
              p.parallelism.zero = 1;
              p.parallelism.zero_shards = 3;
            }),
            "zero_shards 3 does not divide the group of 2 ranks");
  EXPECT_EQ(verdict([](Plan& p) {
              p.parallelism.zero = 1;
              p.parallelism.zero_shards = 1 << 24;
            }),
            "zero_shards 16777216 does not divide the group of 2 ranks");
  const auto reshards = [](std::int64_t zero, Resharding::Kind kind, std::int64_t number) {
    return verdict([&](Plan& p) { p.parallelism.zero = {zero, {kind, number}}; });
  };
  EXPECT_EQ(reshards(2, Resharding::Kind::never, 0),
            "reshard never needs ZeRO 3: ZeRO 2 gathers no parameters");
  EXPECT_EQ(reshards(3, Resharding::Kind::never, 0), "fine");
  EXPECT_EQ(reshards(3, Resharding::Kind::first, 99), "fine");
  EXPECT_EQ(reshards(3, Resharding::Kind::group, 2),
            "reshard group:2: the group is a part of the 2 ranks that ZeRO shards over, which it divides");
}

TEST(Check, Schedules) {
  EXPECT_EQ(verdict([](Plan& p) { p.parallelism.schedule = Schedule::interleaved; }),
            "schedule interleaved does not go with interleave 1");
  EXPECT_EQ(verdict([](Plan& p) { p.parallelism.interleave = 2; }),
            "schedule 1f1b does not go with interleave 2");
  EXPECT_EQ(verdict([](Plan& p) {
              p.parallelism.schedule = Schedule::interleaved;
              p.parallelism.interleave = 2;
              p.training.global_batch = 6;
              p.training.micro_batches = 3;
            }),
            "an interleaved schedule needs micro-batches (3) in multiples of the pipeline (2)");
  EXPECT_EQ(verdict([](Plan& p) {
              p.parallelism.schedule = Schedule::interleaved;
              p.parallelism.interleave = 2;
            }),
            "stage 0: interleave is 2, but there are 0 chunks");
}

TEST(Check, Layers) {
  EXPECT_EQ(verdict([](Plan& p) { p.stages[1].layers.clear(); }), "stage 1 has no layers");
  EXPECT_EQ(verdict([](Plan& p) { p.stages[0].layers = ids({0}); }), "layer 1 is in no stage");
  EXPECT_EQ(verdict([](Plan& p) { p.stages[1].layers = ids({2, 3}); }),
            "stage 1: there is no layer 3, the model has 3");
  EXPECT_EQ(verdict([](Plan& p) { p.stages[1].layers = ids({-1}); }),
            "stage 1: there is no layer -1, the model has 3");
  EXPECT_EQ(verdict([](Plan& p) { p.stages[1].layers = ids({2, 2}); }),
            "stage 1: layer 2 is also in stage 1");
  EXPECT_EQ(verdict([](Plan& p) { std::swap(p.stages[0].layers, p.stages[1].layers); }),
            "layer 1 (stage 1) feeds layer 2 of an earlier stage (0)");
}

TEST(Check, ChunksAreTheStagesLayers) {
  const auto interleaved = [](Plan& p) {
    p = example_plan({{0}, {1, 2}}, 1, 1);
    p.parallelism.schedule = Schedule::interleaved;
    p.parallelism.interleave = 2;
    p.stages[0].chunks = {ids({0}), {}};
    p.stages[1].chunks = {ids({1}), ids({2})};
  };
  EXPECT_EQ(verdict([&](Plan& p) {
              interleaved(p);
              p.stages[1].layers = ids({1});
            }),
            "stage 1: its chunks are not its layers");
  EXPECT_EQ(verdict([&](Plan& p) {
              interleaved(p);
              p.stages[1].layers = ids({0, 1});
            }),
            "stage 1: layer 0 is in none of its chunks");
  EXPECT_EQ(verdict([&](Plan& p) {
              interleaved(p);
              std::swap(p.stages[1].chunks[0], p.stages[1].chunks[1]);
            }),
            "layer 1 (stage 1) feeds layer 2 of an earlier stage (1)");
}

TEST(Check, StagesMatchEachOther) {
  EXPECT_EQ(verdict([](Plan& p) { p.stages[1].strategy.tensor = 2; }),
            "stage 1: tensor 2 makes cells of 2 with 1 side by side, the others have 1 and 1");
  EXPECT_EQ(verdict([](Plan& p) { p.stages[0].recompute = {RecomputePolicy::full, 2}; }), "fine");
  EXPECT_EQ(verdict([](Plan& p) { p.stages[0].recompute = {RecomputePolicy::full, 3}; }),
            "stage 0: recomputation on 3 layers, it has 2");
}

TEST(Check, Devices) {
  const auto placed = [](std::vector<Cell> first, std::vector<Cell> second) {
    return verdict([&](Plan& p) {
      p.stages[0].devices = first;
      p.stages[1].devices = second;
    });
  };
  const auto d = [](int id) { return DeviceId{id}; };
  EXPECT_EQ(placed({{d(1)}, {d(3)}}, {{d(0)}, {d(2)}}), "fine");
  EXPECT_EQ(placed({{d(1)}, {d(3)}}, {}), "stage 1: give the devices of every stage, or of none");
  EXPECT_EQ(placed({}, {{d(1)}, {d(3)}}), "stage 1: give the devices of every stage, or of none");
  EXPECT_EQ(placed({{d(1)}}, {{d(0)}, {d(2)}}), "stage 0: devices of 1 copies, there are 2");
  EXPECT_EQ(placed({{d(1)}, {}}, {{d(0)}, {d(2)}}), "stage 0: a copy has 0 devices, a cell has 1");
  EXPECT_EQ(placed({{d(1)}, {d(4)}}, {{d(0)}, {d(2)}}), "stage 0: there is no device 4, the cluster has 4");
  EXPECT_EQ(placed({{d(1)}, {d(-1)}}, {{d(0)}, {d(2)}}), "stage 0: there is no device -1, the cluster has 4");
  EXPECT_EQ(placed({{d(1)}, {d(1)}}, {{d(0)}, {d(2)}}), "stage 0: device 1 is there twice");
  EXPECT_EQ(placed({{d(1)}, {d(3)}}, {{d(0)}, {d(3)}}), "stage 1: device 3 is also in stage 0");
}

// t5's decoder reads what its encoder made: stages of branches in any order that keeps edges forward.
TEST(Check, BranchingModels) {
  PlanInputs inputs{Value("t5-small"), zoo_model("t5-small"), catalog_cluster("h100-spine-leaf"),
                    named_recipe("plain")};
  const Model model = build_model(zoo_model("t5-small"));
  const LayerGraph graph(model);
  Plan plan;
  plan.parallelism.pipeline = 2;
  plan.training.micro_batches = 1024;
  plan.stages.resize(2);
  // The decoder's embedding depends on nothing and may run early.
  for (std::int32_t i = 0; i < static_cast<std::int32_t>(graph.layers()); ++i) {
    const std::string& name = model.layers[static_cast<std::size_t>(i)].name;
    const bool early = name == "embedding" || name == "decoder_embedding" || name.starts_with("encoder");
    plan.stages[early ? 0 : 1].layers.emplace_back(i);
  }
  EXPECT_EQ(check_plan(plan, graph, inputs.cluster), std::nullopt);
  std::swap(plan.stages[0].layers, plan.stages[1].layers);
  EXPECT_NE(check_plan(plan, graph, inputs.cluster), std::nullopt);
}

TEST(CheckMemory, TheFirstStageThatDoesNotFit) {
  StageMemory small;
  small.weights = Bytes{1 << 30};
  small.capacity = Bytes{2LL << 30};
  StageMemory large = small;
  large.activations = Bytes{3LL << 30};
  EXPECT_EQ(check_memory({small, small}), std::nullopt);
  EXPECT_EQ(check_memory({small, large, large}).value_or(""),
            "stage 1 needs 4 GiB, a device has 2 GiB: 2 GiB over");
  EXPECT_EQ(check_memory({}), std::nullopt);
  small.host_capacity = small.host = Bytes{3LL << 30};
  EXPECT_EQ(check_memory({small}), std::nullopt);
  small.host = Bytes{5LL << 30};
  EXPECT_EQ(check_memory({small}).value_or(""),
            "stage 0 keeps 5 GiB of a device in host memory, where it has 3 GiB: 2 GiB over");
}

}  // namespace
}  // namespace nest::plan
