// read_plan: plans as people and other tools write them. (Writing is tested in plan_json_test.cpp.)
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nest/plan/text/plan_json.hpp"
#include "support/message_of.hpp"

namespace nest::plan {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Warnings last_warnings;

Plan read(const std::string& text, const std::string& recipe = "megatron") {
  last_warnings.clear();
  const Document document = parse_json("p.json", text);
  Reader reader(document);
  return read_plan(reader, named_recipe(recipe), last_warnings);
}

std::string message(const std::string& text) {
  return message_of([&] { static_cast<void>(read(text)); });
}

TEST(ReadPlan, NothingIsEverythingOpen) {
  const Plan plan = read("{}", "plain");
  EXPECT_EQ(plan.training.global_batch, 1024);
  EXPECT_EQ(plan.training.sequence, 0);
  EXPECT_EQ(plan.training.micro_batch, 0);
  EXPECT_EQ(plan.training.micro_batches, 0);
  EXPECT_EQ(plan.training.optimizer, Optimizer::sgd);  // the recipe's
  EXPECT_EQ(plan.parallelism.pipeline, 0);
  EXPECT_EQ(plan.parallelism.data, 0);
  EXPECT_EQ(plan.parallelism.interleave, 1);
  EXPECT_TRUE(plan.stages.empty());
  EXPECT_FALSE(plan.status);
  EXPECT_FALSE(plan.predicted);
}

TEST(ReadPlan, EveryChoice) {
  const Plan plan =
      read(R"({"training": {"global_batch": 64, "sequence": 4096, "micro_batch": 2, "micro_batches": 8,
      "precision": "fp8", "optimizer": "sgd"},
    "parallelism": {"tensor": 4, "sequence_parallel": false, "context": 2, "context_method": "all_to_all",
      "expert": 8, "expert_tensor": 1, "pipeline": 2, "data": 4, "data_inner": 2, "block_devices": 64, "zero": 2,
      "zero_shards": 8, "recompute": "full", "interleave": 2, "schedule": "interleaved", "first_stage_first": true,
      "split": {"embedding": true, "loss": true}}})");
  EXPECT_EQ(plan.training, (Training{64, 4096, 2, 8, Precision::fp8, Optimizer::sgd}));
  const Parallelism& p = plan.parallelism;
  EXPECT_EQ(p.strategy, (Strategy{4, false, 2, ContextMethod::all_to_all, 8, 1}));
  EXPECT_EQ(p.block_devices, 64);
  EXPECT_EQ(p.zero_shards, 8);
  EXPECT_EQ(p.schedule, Schedule::interleaved);
  EXPECT_TRUE(p.first_stage_first);
  EXPECT_EQ(plan.default_recompute.policy, RecomputePolicy::full);
  EXPECT_TRUE(plan.split.embedding_slot);
  EXPECT_TRUE(plan.split.loss_slot);
  EXPECT_THAT(last_warnings, IsEmpty());
}

TEST(ReadPlan, WhatFollowsFromOtherKeys) {
  EXPECT_EQ(read(R"({"parallelism": {"interleave": 3}})").parallelism.schedule, Schedule::interleaved);
  EXPECT_EQ(read(R"({"parallelism": {"schedule": "zb-v"}})").parallelism.interleave, 2);
  // What hides exchanges in pairs does so unless the plan says otherwise.
  const auto overlaps = [](const char* schedule, const char* more) {
    const std::string text =
        std::string(R"({"parallelism": {"expert": 2, "schedule": ")") + schedule + "\"" + more + "}}";
    return read(text).parallelism.strategy.overlaps_experts();
  };
  EXPECT_TRUE(overlaps("dualpipe-v", ""));
  EXPECT_FALSE(overlaps("dualpipe-v", R"(, "expert_overlap": false)"));
  EXPECT_FALSE(overlaps("zb-v", ""));
  EXPECT_TRUE(read(R"({"parallelism": {"tensor": 2}})").parallelism.strategy.sequence_parallel);
  EXPECT_EQ(read(R"({"parallelism": {"tensor": 2}})").parallelism.strategy.expert_tensor_degree(), 2);
  // Stages take the plan's strategy and recomputation, and a plan without parallelism its first stage's.
  const Plan plan = read(R"({"parallelism": {"tensor": 2, "recompute": "full"}, "stages": [{"layers": [0]},
      {"layers": [1], "recompute": "none", "strategy": {"tensor": 1, "context": 2}}]})");
  EXPECT_EQ(plan.stages[0].strategy.tensor, 2);
  EXPECT_EQ(plan.stages[0].recompute.policy, RecomputePolicy::full);
  EXPECT_EQ(plan.stages[1].strategy.context, 2);
  EXPECT_EQ(plan.stages[1].recompute.policy, RecomputePolicy::none);
  EXPECT_EQ(read(R"({"stages": [{"layers": [0], "strategy": {"tensor": 4}}]})").parallelism.strategy.tensor,
            4);
}

TEST(ReadPlan, StagesInAnyForm) {
  const Plan plan = read(R"({"stages": [
      {"layers": [2, 0, 1], "recompute": {"policy": "full", "layers": 2}, "devices": [[3, 1], [0, 2]]},
      {"chunks": [[5, 6], [3, 4]]}, {"layers": null, "devices": null, "recompute": null}]})");
  EXPECT_THAT(plan.stages[0].layers, ElementsAre(LayerId{0}, LayerId{1}, LayerId{2}));
  EXPECT_EQ(plan.stages[0].recompute, (Recompute{RecomputePolicy::full, 2}));
  EXPECT_EQ(plan.stages[0].devices,
            (std::vector<Cell>{{DeviceId{3}, DeviceId{1}}, {DeviceId{0}, DeviceId{2}}}));
  EXPECT_THAT(plan.stages[1].layers, ElementsAre(LayerId{3}, LayerId{4}, LayerId{5}, LayerId{6}));
  EXPECT_THAT(plan.stages[1].chunks[0], ElementsAre(LayerId{5}, LayerId{6}));
  EXPECT_TRUE(plan.stages[2].layers.empty());
}

TEST(ReadPlan, WrongTypes) {
  EXPECT_EQ(message("[]"), "p.json: line 1: a group of keys is expected here, not a list");
  EXPECT_EQ(message(R"({"training": 3})"),
            "p.json: line 1, training: a group of keys is expected here, not a whole number");
  EXPECT_EQ(message(R"({"training": {"global_batch": "many"}})"),
            "p.json: line 1, training.global_batch: a whole number is expected, not 'many'");
  EXPECT_EQ(message(R"({"training": {"global_batch": 1.5}})"),
            "p.json: line 1, training.global_batch: a whole number is expected, not '1.5'");
  EXPECT_EQ(message(R"({"training": {"precision": "bf61"}})"),
            "p.json: line 1, training.precision: 'bf61' is none of bf16, fp16, fp8, fp8-block, mxfp8, nvfp4; "
            "did you mean 'bf16'?");
  EXPECT_EQ(message(R"({"parallelism": {"schedule": "1F1B"}})"),
            "p.json: line 1, parallelism.schedule: '1F1B' is none of 1f1b, gpipe, interleaved, zb-h1, zb-v, "
            "dualpipe-v; "
            "did you mean '1f1b'?");
  EXPECT_EQ(message(R"({"parallelism": {"offload": "weights"}})"),
            "p.json: line 1, parallelism.offload: 'weights' is none of none, optimizer, activations, "
            "activations+optimizer");
  EXPECT_EQ(message(R"({"parallelism": {"offload": ["weights"]}})"),
            "p.json: line 1, parallelism.offload: what is offloaded is \"activations\" and \"optimizer\"");
  EXPECT_EQ(message(R"({"stages": {}})"), "p.json: line 1, stages: a list is expected, not a group of keys");
  EXPECT_EQ(message("{\"stages\": [{},\n 7]}"),
            "p.json: line 2, stages[1]: a group of keys is expected here, not a whole number");
  EXPECT_EQ(message(R"({"stages": [{"layers": 3}]})"),
            "p.json: line 1, stages[0].layers: a list of ids is expected, not a whole number");
  EXPECT_EQ(message(R"({"stages": [{"devices": [3]}]})"),
            "p.json: line 1, stages[0].devices: a list of ids is expected, not a whole number");
  EXPECT_EQ(message(R"({"stages": [{"devices": "all"}]})"),
            "p.json: line 1, stages[0].devices: a list with one list of ids a copy is expected");
  EXPECT_EQ(message(R"({"stages": [{"chunks": 2}]})"),
            "p.json: line 1, stages[0].chunks: a list of lists of layer ids is expected");
  EXPECT_EQ(message(R"({"stages": [{"recompute": "half"}]})"),
            "p.json: line 1, stages[0].recompute: 'half' is none of none, selective, full, modules");
  EXPECT_EQ(message(R"({"stages": [{"recompute": "mixed"}]})"),
            "p.json: line 1, stages[0].recompute: 'mixed' is none of none, selective, full, modules");
  EXPECT_EQ(message(R"({"status": "good"})"),
            "p.json: line 1, status: 'good' is none of optimal, feasible, infeasible, limit");
}

TEST(ReadPlan, AbsurdNumbers) {
  const std::string ids = ": an id is a whole number from 0 to 16777215";
  EXPECT_EQ(message(R"({"stages": [{"layers": [-1]}]})"), "p.json: line 1, stages[0].layers" + ids);
  EXPECT_EQ(message(R"({"stages": [{"layers": [0.5]}]})"), "p.json: line 1, stages[0].layers" + ids);
  EXPECT_EQ(message(R"({"stages": [{"layers": [16777216]}]})"), "p.json: line 1, stages[0].layers" + ids);
  EXPECT_EQ(message(R"({"stages": [{"devices": [[4294967296]]}]})"),
            "p.json: line 1, stages[0].devices" + ids);
  EXPECT_EQ(message(R"({"stages": [{"chunks": [[99999999999999999999]]}]})"),
            "p.json: line 1, stages[0].chunks" + ids);
  EXPECT_EQ(message(R"({"training": {"global_batch": 0}})"),
            "p.json: line 1, training.global_batch: 0 is outside 1 to 1,000,000,000");
  EXPECT_EQ(message(R"({"training": {"micro_batch": -1}})"),
            "p.json: line 1, training.micro_batch: -1 is outside 0 to 1,000,000,000");
  EXPECT_EQ(message(R"({"parallelism": {"data": 16777217}})"),
            "p.json: line 1, parallelism.data: 16777217 is outside 0 to 16,777,216");
  EXPECT_EQ(message(R"({"parallelism": {"pipeline": 1e30}})"),
            "p.json: line 1, parallelism.pipeline: 1e30 is outside 0 to 16,777,216");
  EXPECT_EQ(message(R"({"parallelism": {"zero": 4}})"),
            "p.json: line 1, parallelism.zero: 4 is outside 0 to 3");
  EXPECT_EQ(message(R"({"parallelism": {"interleave": 0}})"),
            "p.json: line 1, parallelism.interleave: 0 is outside 1 to 1,024");
  EXPECT_EQ(message(R"({"stages": [{"recompute": {"policy": "selective", "layers": 2}}]})"),
            "p.json: line 1, stages[0].recompute.layers: a number of layers goes with the policies 'full' "
            "and 'modules'");
  EXPECT_EQ(message(R"({"parallelism": {"data": 16777216, "pipeline": 16777216}})"), "(no error)");
}

TEST(ReadPlan, OtherKeysAreFineAndNearMissesAreTold) {
  static_cast<void>(read(R"({"comment": "mine", "parallelism": {"tensr": 2, "colour": "blue"},
      "training": {"globl_batch": 4}, "stages": [{"layer": [0]}], "stage": []})"));
  EXPECT_THAT(
      last_warnings,
      ElementsAre("p.json: line 2: the key 'layer' is not known and was passed over; did you mean 'layers'?",
                  "p.json: line 2: the key 'globl_batch' is not known and was passed over; did you mean "
                  "'global_batch'?",
                  "p.json: line 1: the key 'tensr' is not known and was passed over; did you mean 'tensor'?",
                  "p.json: line 2: the key 'stage' is not known and was passed over; did you mean 'stages', "
                  "which is given too?"));
}

// Groups inside a stage are read the same way as the rest.
TEST(ReadPlan, NearMissesInsideAStageAreTold) {
  static_cast<void>(read(R"({"stages": [{"layers": [0], "strategy": {"tensr": 2}}]})"));
  EXPECT_EQ(last_warnings.size(), 1U);
  static_cast<void>(read(R"({"stages": [{"layers": [0], "recompute": {"policy": "full", "layrs": 2}}]})"));
  EXPECT_EQ(last_warnings.size(), 1U);
  static_cast<void>(read(R"({"predicted": {"stpe_s": 2}})"));
  EXPECT_EQ(last_warnings.size(), 1U);
}

TEST(ReadPlan, PredictionsAreKept) {
  const Plan plan = read(R"({"status": "optimal", "lower_bound_s": 1.5, "predicted": {"step_s": 2, "mfu": 0.5,
      "breakdown": {"compute_s": 1.75}}, "stages": [{"time": {"forward_s": 1, "total_s": 9},
      "memory": {"weights_bytes": 7, "capacity_bytes": 8}}]})");
  EXPECT_EQ(plan.status, PlanStatus::optimal);
  EXPECT_EQ(plan.lower_bound, Seconds{1.5});
  EXPECT_EQ(plan.predicted->step, Seconds{2});
  EXPECT_EQ(plan.predicted->breakdown.compute, Seconds{1.75});
  EXPECT_EQ(plan.stages[0].time->total(), Seconds{1});  // always the sum
  EXPECT_EQ(plan.stages[0].memory->capacity, Bytes{8});
}

TEST(ReadPlan, APlanFileNamesItsInputs) {
  const auto open = [](const std::string& text) {
    Warnings warnings;
    static_cast<void>(read_plan_file(parse_json("p.json", text), warnings));
  };
  EXPECT_EQ(
      message_of([&] { open("{}"); }),
      "p.json: line 1: 'inputs' is missing: a plan file says which model, cluster and recipe it is for; give "
      "--model and --cluster; 'nest evaluate FILE --model NAME --cluster NAME -o plan.json' writes them into "
      "a "
      "plan file");
  EXPECT_EQ(message_of([&] { open(R"({"inputs": {"cluster": "h100-spine-leaf"}})"); }),
            "p.json: line 1, inputs: 'model' is missing: a name or a group of keys");
  EXPECT_EQ(message_of([&] { open(R"({"inputs": {"model": "gpt2", "cluster": "h100-spine-leaf"}})"); }),
            "(no error)");
}

}  // namespace
}  // namespace nest::plan
