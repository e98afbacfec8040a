#include "nest/frameworks/megatron/megatron_import.hpp"

#include <gtest/gtest.h>

#include "nest/frameworks/test_exports.hpp"
#include "support/message_of.hpp"

namespace nest::frameworks {
namespace {

OpenPlan imported(const std::string& text, Warnings& warnings, std::int64_t devices = 0) {
  return import_megatron({.file = "x.sh", .text = text, .cluster = "h100-spine-leaf", .devices = devices},
                         warnings);
}

constexpr const char* kLlama =
    "--num-layers 32 --hidden-size 4096 --ffn-hidden-size 14336 --num-attention-heads 32 "
    "--group-query-attention "
    "--num-query-groups 8 --normalization RMSNorm --swiglu --disable-bias-linear --position-embedding-type "
    "rope "
    "--untie-embeddings-and-output-weights --vocab-size 128256 --max-position-embeddings 131072 --seq-length "
    "8192 "
    "--micro-batch-size 1 --global-batch-size 128 --tensor-model-parallel-size 4 --sequence-parallel ";

std::string problem(const std::string& more, std::int64_t devices = 64) {
  return message_of([&] {
    Warnings warnings;
    static_cast<void>(imported(kLlama + more, warnings, devices));
  });
}

TEST(MegatronImport, ReadsALaunchScript) {
  Warnings warnings;
  const OpenPlan open = imported(
      std::string("NODES=8\ntorchrun --nnodes $NODES --nproc_per_node 8 pretrain_gpt.py \\\n") + kLlama +
          "--pipeline-model-parallel-size 2 --num-layers-per-virtual-pipeline-stage 4 "
          "--use-distributed-optimizer "
          "--recompute-activations --fp8-format hybrid --bf16 --lr 1e-4 --expert-magic-parallel 3",
      warnings);
  EXPECT_EQ(warnings, Warnings{"x.sh: --expert-magic-parallel is not understood: the plan does not have it"});
  const Parallelism& p = open.plan.parallelism;
  EXPECT_EQ(open.inputs.model_name(), "llama3.1-8b");
  EXPECT_EQ(p.data, 8);
  EXPECT_EQ(p.interleave, 4);
  EXPECT_EQ(p.zero.number(), 1);
  EXPECT_EQ(open.plan.training.micro_batches, 16);
  EXPECT_EQ(open.plan.training.precision, Precision::fp8);
  EXPECT_EQ(open.plan.stages[0].recompute.policy, RecomputePolicy::selective);
  EXPECT_EQ(open.plan.stages[0].devices[0][0], DeviceId{0});
  EXPECT_EQ(open.plan.stages[1].devices[0][0], DeviceId{32});
  EXPECT_EQ(open.inputs.recipe.overlap.gradient_reduce, 0);
}

TEST(MegatronImport, MomentsOfThePrecisionAwareOptimizer) {
  Warnings warnings;
  const auto states = [&](const std::string& more) {
    return imported(kLlama + ("--use-distributed-optimizer " + more), warnings, 64).plan.training.states;
  };
  EXPECT_EQ(states("--use-precision-aware-optimizer --exp-avg-dtype bf16 --exp-avg-sq-dtype bf16"),
            States{.moments = StateDType::bf16});
  EXPECT_EQ(states("--exp-avg-dtype bf16 --exp-avg-sq-dtype bf16"),
            States{});  // does nothing without the other
  EXPECT_EQ(problem("--use-precision-aware-optimizer --exp-avg-dtype bf16"),
            "x.sh: --exp-avg-sq-dtype: a plan has one dtype for both moments, that of --exp-avg-dtype");
  EXPECT_EQ(problem("--use-precision-aware-optimizer --exp-avg-dtype int8 --exp-avg-sq-dtype int8"),
            "x.sh: --exp-avg-dtype: fp32, fp16, bf16 or fp8 is expected, not 'int8'");
}

// Offloading takes the code path of the precision-aware optimizer, without its dtypes.
TEST(MegatronImport, AnOptimizerInHostMemory) {
  Warnings warnings;
  const std::string flags =
      kLlama +
      std::string("--use-distributed-optimizer --optimizer-cpu-offload --use-precision-aware-optimizer");
  EXPECT_EQ(imported(flags, warnings, 64).plan.training.states, States{.offload = {.optimizer = true}});
  EXPECT_EQ(imported(flags + " --optimizer-offload-fraction 1.0", warnings, 64).plan.training.states,
            States{.offload = {.optimizer = true}});
  EXPECT_TRUE(warnings.empty());
  static_cast<void>(imported(flags + " --optimizer-offload-fraction 0.5", warnings, 64));
  EXPECT_EQ(warnings,
            Warnings{"x.sh: --optimizer-offload-fraction 0.5: all of the optimizer is priced as offloaded"});
}

TEST(MegatronImport, Muon) {
  Warnings warnings;
  const Plan alone = imported(kLlama + std::string("--optimizer muon"), warnings, 64).plan;
  EXPECT_EQ(alone.training.optimizer, Optimizer::muon);
  EXPECT_EQ(alone.parallelism.zero.number(), 0);
  const Plan shared = imported(kLlama + std::string("--optimizer dist_muon"), warnings, 64).plan;
  EXPECT_EQ(shared.training.optimizer, Optimizer::muon);
  EXPECT_EQ(shared.parallelism.zero.number(), 1);
  EXPECT_TRUE(warnings.empty());
  EXPECT_EQ(problem("--optimizer lion"),
            "x.sh: --optimizer: adam, sgd, muon or dist_muon is expected, not 'lion'");
}

TEST(MegatronImport, RefusesWhatContradictsItself) {
  EXPECT_EQ(problem("--pipeline-model-parallel-size 3"),
            "x.sh: 64 ranks are not a multiple of tensor x context x pipeline = 12");
  EXPECT_EQ(problem("--global-batch-size 24"),
            "x.sh: --global-batch-size: 24 is not a multiple of micro-batch 1 x data 16");
  EXPECT_EQ(problem("--micro-batch-size zero"),
            "x.sh: --micro-batch-size: a whole number from 1 on is expected, not 'zero'");
  EXPECT_EQ(problem("--num-distributed-optimizer-instances 3"),
            "x.sh: --num-distributed-optimizer-instances: 3 does not divide 16 ranks");
  EXPECT_EQ(problem("--pipeline-model-parallel-size 2 --pipeline-model-parallel-layout Et*30|L"),
            "x.sh: --pipeline-model-parallel-layout: it has 30 layers, the model 32");
  EXPECT_EQ(problem("--pipeline-model-parallel-size 2 --pipeline-model-parallel-layout Et|t|L"),
            "x.sh: --pipeline-model-parallel-layout: 3 parts are not a multiple of 2 ranks");
  EXPECT_EQ(problem("--use-torch-fsdp2"), "x.sh: --use-torch-fsdp2: a plan cannot say this");
  EXPECT_EQ(problem("--context-parallel-size 2 --cp-comm-type allgather"),
            "x.sh: --cp-comm-type: a plan has p2p and a2a, not 'allgather'");
  EXPECT_EQ(problem("--use-megatron-fsdp --data-parallel-sharding-strategy all"),
            "x.sh: --data-parallel-sharding-strategy: no_shard, optim, optim_grads or optim_grads_params is "
            "expected, "
            "not 'all'");
  EXPECT_EQ(
      problem("--hybrid-layer-pattern M*"),
      "x.sh: state-space layers are not known here (--hybrid-layer-pattern); name a model with --model");
  Warnings warnings;
  EXPECT_EQ(message_of([&] { static_cast<void>(imported("echo", warnings)); }),
            "x.sh: no flags of Megatron-LM in it");
}

// Where the file leaves things out, something is assumed and said.
TEST(MegatronImport, AssumesWhatIsNotThere) {
  Warnings warnings;
  const OpenPlan open = imported(
      "TEST_TYPE: regular\nMODEL_ARGS:\n  --num-layers: 12\n  --hidden-size: 512  # small\n"
      "  --num-attention-heads: 8\n  --micro-batch-size: 4\n  --global-batch-size: 32\n  --seq-length: 1024\n"
      "  --max-position-embeddings: 1024\n  --bf16: true\n  --sequence-parallel: false\n"
      "  --tensor-model-parallel-size: 2\nMETRICS:\n  --num-layers: 7\n",
      warnings);
  EXPECT_EQ(open.plan.parallelism.strategy.tensor, 2);
  EXPECT_EQ(open.plan.parallelism.data, 8) << "as many as the batch allows";
  ASSERT_EQ(warnings.size(), 2U);
  EXPECT_EQ(warnings[0],
            "x.sh: --vocab-size is missing, because the tokenizer says it: 50257 tokens are assumed");
  EXPECT_EQ(warnings[1], "x.sh: the number of ranks is not in it: 16 are assumed, --devices sets another");
}

TEST(MegatronImport, RefusesAModelOfAnotherShape) {
  Warnings warnings;
  EXPECT_EQ(message_of([&] {
              static_cast<void>(import_megatron(
                  {.file = "x.sh", .text = kLlama, .model = "llama3.1-70b", .cluster = "h100-spine-leaf"},
                  warnings));
            }),
            "x.sh: --num-layers: 32, but llama3.1-70b has 80");
}

// What export writes, import reads back as the same plan, devices included.
TEST(MegatronImport, ReadsBackWhatExportWrites) {
  test::for_random_questions("megatron", 1000, [](const ExportQuestion& question, unsigned seed) {
    const test::Exported out = test::exported("megatron", question);
    ASSERT_EQ(out.result.rule, "");
    Warnings warnings;
    const OpenPlan back = import_megatron({.file = "args",
                                           .text = out.files.at("megatron_args.txt"),
                                           .model = question.inputs.model_name(),
                                           .cluster = "h100-spine-leaf",
                                           .rank_map_file = "rank_map.csv",
                                           .rank_map = out.files.at("placement/rank_map.csv")},
                                          warnings);
    EXPECT_TRUE(warnings.empty()) << warnings.front();
    EXPECT_EQ(back.plan.training, question.plan.training) << "seed " << seed;
    const Parallelism& a = question.plan.parallelism;
    const Parallelism& b = back.plan.parallelism;
    EXPECT_EQ(a.strategy, b.strategy) << "seed " << seed;
    EXPECT_EQ(std::tie(a.pipeline, a.data, a.zero, a.zero_shards, a.interleave, a.schedule),
              std::tie(b.pipeline, b.data, b.zero, b.zero_shards, b.interleave, b.schedule))
        << "seed " << seed;
    ASSERT_EQ(question.plan.stages.size(), back.plan.stages.size());
    for (std::size_t i = 0; i < back.plan.stages.size(); ++i) {
      const Stage& x = question.plan.stages[i];
      const Stage& y = back.plan.stages[i];
      EXPECT_EQ(x.layers, y.layers) << "seed " << seed;
      EXPECT_EQ(x.chunks, y.chunks) << "seed " << seed;
      EXPECT_EQ(x.devices, y.devices) << "seed " << seed;
      for (std::int64_t k = 0; k < static_cast<std::int64_t>(x.layers.size()); ++k) {
        const bool end = k >= static_cast<std::int64_t>(x.layers.size()) - 2;  // ends are no blocks
        if (!end) {
          EXPECT_EQ(x.recompute.of_layer(k), y.recompute.of_layer(k)) << "seed " << seed;
        }
      }
    }
  });
}

TEST(MegatronImport, ModulesForMultiTokenPrediction) {
  test::Planner planner("glm-4.5");
  Plan plan = test::degrees({.expert = 8}, 3, 8);
  plan.training.mtp = true;
  const ExportQuestion question = planner.question(plan);
  const test::Exported out = test::exported("megatron", question);
  Warnings warnings;
  const auto read = [&](const std::string& model, std::string text) {
    return import_megatron(
        {.file = "args", .text = std::move(text), .model = model, .cluster = "h100-spine-leaf"}, warnings);
  };
  const std::string& text = out.files.at("megatron_args.txt");
  const OpenPlan back = read("glm-4.5", text);
  EXPECT_TRUE(warnings.empty()) << warnings.front();
  EXPECT_TRUE(back.plan.training.mtp);
  EXPECT_EQ(back.plan.stages.back().layers, question.plan.stages.back().layers);
  // Another number of modules than the model has: the plan is without them, and a layout with them has no place.
  std::string two = text;
  two.replace(two.find("--mtp-num-layers 1"), 18, "--mtp-num-layers 2");
  EXPECT_EQ(
      message_of([&] { static_cast<void>(read("glm-4.5", two)); }),
      "args: --pipeline-model-parallel-layout: it has 1 modules for multi-token prediction, the plan 0");
  EXPECT_EQ(warnings.back(),
            "args: --mtp-num-layers 2: glm-4.5 has 1 modules for multi-token prediction, and the plan none");
}

// The same bytes again.
TEST(MegatronImport, ExportsAgainAsTheSameArguments) {
  test::Planner planner("mixtral-8x7b");
  Plan plan = test::degrees({.tensor = 2, .sequence_parallel = true, .expert = 8}, 3, 16);
  plan.parallelism.zero = 1;
  const ExportQuestion question = planner.question(plan);
  const test::Exported first = test::exported("megatron", question);
  Warnings warnings;
  OpenPlan back = import_megatron({.file = "args",
                                   .text = first.files.at("megatron_args.txt"),
                                   .cluster = "h100-spine-leaf",
                                   .rank_map_file = "rank_map.csv",
                                   .rank_map = first.files.at("placement/rank_map.csv")},
                                  warnings);
  EXPECT_EQ(back.inputs.model_name(), "mixtral-8x7b");
  const test::Exported again = test::exported("megatron", {back.plan, back.inputs, {}, 0});
  EXPECT_EQ(first.files.at("megatron_args.txt"), again.files.at("megatron_args.txt"));
  EXPECT_EQ(first.files.at("placement/rank_map.csv"), again.files.at("placement/rank_map.csv"));
}

}  // namespace
}  // namespace nest::frameworks
