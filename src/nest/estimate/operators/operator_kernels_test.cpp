#include "nest/estimate/operators/operator_kernels.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nest/estimate/operators/test_kernel_uses.hpp"
#include "nest/estimate/operators/test_operator_layers.hpp"
#include "nest/model/blocks/build.hpp"
#include "nest/model/blocks/ends.hpp"
#include "nest/model/zoo.hpp"
#include "nest/strategies/registry.hpp"

namespace nest::estimate {
namespace {

using enum KernelKind;
using testing::ElementsAre;
using testing::IsEmpty;

using test::find;
using test::kinds;

TEST(OperatorKernels, ThreeWeightsAreThreeProductsOrOne) {
  const LayerType layer = test::shard_block(test::test_model("llama3-8b"), 2, 2, 1024);
  const Operator& qkv = find(layer, "qkv");
  const auto separate = kernels_of(layer, qkv, {});
  EXPECT_THAT(kinds(separate, Pass::forward), ElementsAre(matmul_forward, matmul_forward, matmul_forward));
  EXPECT_EQ(separate[0].call.sizes, (std::array<std::int64_t, 8>{2048, 2048, 4096}));
  EXPECT_EQ(separate[3].call.sizes, (std::array<std::int64_t, 8>{2048, 512, 4096}));
  const auto joined = kernels_of(layer, qkv, {.fused_projections = true});
  EXPECT_THAT(kinds(joined, Pass::forward), ElementsAre(matmul_forward));
  EXPECT_THAT(kinds(joined, Pass::backward_input), ElementsAre(copy, matmul_input));
  EXPECT_EQ(joined[1].call.sizes, (std::array<std::int64_t, 8>{2048, 3072, 4096}));
}

TEST(OperatorKernels, BiasesAddTheirGradients) {
  const LayerType layer = test::shard_block(test::test_model("gpt3-13b"), 1, 1, 512);
  const auto uses = kernels_of(layer, find(layer, "down"), {});
  EXPECT_THAT(kinds(uses, Pass::backward_weight), ElementsAre(matmul_weight, bias_gradient));
  EXPECT_EQ(uses.back().call.sizes, (std::array<std::int64_t, 8>{512, 5120}));
}

TEST(OperatorKernels, AttentionHasItsHeadsAndItsMask) {
  const LayerType layer = test::shard_block(test::test_model("llama3-70b"), 8, 4, 2048);
  const auto uses = kernels_of(layer, find(layer, "attention"), {});
  ASSERT_EQ(uses.size(), 2U);
  EXPECT_EQ(uses[0].call.sizes, (std::array<std::int64_t, 8>{4, 2048, 8, 1, 128, 128, 1, 0}));
}

// Rows of blocks are those of the documents, and a ring's turn has its share of them.
TEST(OperatorKernels, PackedDocumentsAreBlocks) {
  BuildOptions options{.micro_batch = 1, .sequence = 4096};
  options.contents.lengths = std::make_shared<const Lengths>(Lengths({{512, 4}, {2048, 1}}));
  const Model model = build_model(zoo_model("llama3.1-8b"), options);
  const LayerType layer = model.types[1];
  const auto uses = kernels_of(layer, find(layer, "attention"), {});
  ASSERT_EQ(uses.size(), 2U);
  EXPECT_EQ(uses[0].call.blocks, 4 * 10 + 136);
  EXPECT_EQ(uses[0].call.block_rows, 32);
  EXPECT_EQ(uses[0].call.longest_row, 16);
  EXPECT_EQ(uses[0].call.document, 1280);
  const auto masked = kernels_of(layer, find(layer, "attention"), {.masked_time = 2});
  EXPECT_EQ(masked[0].call.blocks, uses[0].call.blocks);  // it has no window
}

// Chunks are documents of their own, or a mask over all keys where windows are.
TEST(OperatorKernels, ChunksAreBlocks) {
  const Model model = build_model(zoo_model("llama4-scout"), {.sequence = 32'768});
  const auto chunked = std::ranges::find_if(model.types, [](const LayerType& type) {
    return type.is_block() && type.name == "layer with experts";
  });
  ASSERT_NE(chunked, model.types.end());
  const Operator& op = find(*chunked, "attention");
  ASSERT_EQ(op.attention.chunk, 8192);
  const auto uses = kernels_of(*chunked, op, {});
  EXPECT_EQ(uses[0].call.window, 0);
  EXPECT_EQ(uses[0].call.blocks, 4 * 64 * 65 / 2);
  EXPECT_EQ(uses[0].call.longest_row, 64);
  EXPECT_EQ(uses[0].call.document, 8192);
  const auto masked = kernels_of(*chunked, op, {.masked_time = 2});
  EXPECT_EQ(masked[0].call.sizes[6], 0);  // the whole square
  EXPECT_EQ(masked[0].call.blocks, 0);
}

// Two products forward and four backward over the whole square, masked or not; one pass each for softmax and
// dropout.
// Of every second layer of Gemma 2, whose window is 4,096: a mask over all keys where there are as many.
TEST(OperatorKernels, AWindowMayBeAMask) {
  LayerType layer = test::shard_block(test::test_model("llama3-8b"), 1, 1, 4096);
  Operator op = find(layer, "attention");
  const OperatorSettings masks{.attention_time = 1.5, .masked_time = 2};
  EXPECT_EQ(kernels_of(layer, op, masks)[0].repeats, 1.5);
  op.attention.window = 8192;
  EXPECT_EQ(kernels_of(layer, op, masks)[0].call.sizes[6], 1);
  op.attention.window = 4096;
  const auto uses = kernels_of(layer, op, masks);
  ASSERT_EQ(uses.size(), 2U);
  EXPECT_EQ(uses[0].call.sizes[6], 0);  // the whole square
  EXPECT_EQ(uses[1].repeats, 2);
  EXPECT_EQ(kernels_of(layer, op, {})[0].call.sizes[6], 1);
}

TEST(OperatorKernels, NormsMayBeWrittenOut) {
  const LayerType layer = test::shard_block(test::test_model("llama3-8b"), 1, 1, 1024);
  const Operator& norm = find(layer, "attention_norm");
  const auto uses = kernels_of(layer, norm, {.plain_norms = true});
  EXPECT_THAT(kinds(uses, Pass::forward), ElementsAre(fused));
  EXPECT_EQ(uses[0].call.sizes[0], 55 * 1024 * 4096);
  // A compiler joins what is written out.
  EXPECT_THAT(kinds(kernels_of(layer, norm, {.plain_norms = true, .compiled = true}), Pass::forward),
              ElementsAre(rms_norm_forward));
  const LayerType gpt = test::shard_block(test::test_model("gpt3-13b"), 1, 1, 512);
  EXPECT_THAT(kinds(kernels_of(gpt, find(gpt, "attention_norm"), {.plain_norms = true}), Pass::forward),
              ElementsAre(layer_norm_forward));
}

TEST(OperatorKernels, AttentionWithoutAFlashKernelWritesItsScores) {
  const Model model = build_model(zoo_model("gpt3-1.3b"),
                                  {.micro_batch = 2, .sequence = 1024, .flash = false, .dropout = true});
  const LayerType& layer = model.type_of(LayerId(1));
  const auto uses = kernels_of(layer, find(layer, "attention"), {});
  EXPECT_THAT(kinds(uses, Pass::forward),
              ElementsAre(batched_matmul, softmax_forward, dropout_forward, batched_matmul, copy));
  EXPECT_THAT(kinds(uses, Pass::backward_input),
              ElementsAre(softmax_backward, dropout_backward, copy, batched_matmul, batched_matmul,
                          batched_matmul, batched_matmul));
  const std::int64_t heads = 2 * layer.tensor(find(layer, "attention").inputs[0]).shape[2].size;
  EXPECT_EQ(uses[0].call.sizes, (std::array<std::int64_t, 8>{1024, 1024, 2048 / (heads / 2), heads}));
  const std::int64_t scores = heads * 1024 * 1024;
  EXPECT_EQ(uses[1].call.sizes, (std::array<std::int64_t, 8>{scores, scores / 2}));
  // Masks of residual additions: in their own pass where such passes are fused.
  const Operator& residual = find(layer, "ffn_add");
  EXPECT_THAT(kinds(kernels_of(layer, residual, {}), Pass::forward), ElementsAre(add, dropout_forward));
  EXPECT_THAT(kinds(kernels_of(layer, residual, {.fused_projections = true}), Pass::forward),
              ElementsAre(add, fused));
  EXPECT_THAT(kinds(kernels_of(layer, residual, {}), Pass::backward_input), ElementsAre(dropout_backward));
}

// The FLOPs that a model counts as its own stay those that the mask leaves.
TEST(OperatorKernels, TheModelsOwnFlopsDoNotDependOnTheKernel) {
  for (const char* name : {"gpt3-1.3b", "bert-large"}) {
    const Model flash = build_model(zoo_model(name), {.sequence = 512});
    const Model old = build_model(zoo_model(name), {.sequence = 512, .flash = false});
    EXPECT_EQ(flash.type_of(LayerId(1)).forward_flops(), old.type_of(LayerId(1)).forward_flops());
  }
}

TEST(OperatorKernels, ARingTurnsTheScoresOfEachChunk) {
  const Model model = build_model(zoo_model("gpt3-1.3b"), {.sequence = 2048, .flash = false});
  const ShardedLayer ring = shard_layer(model.type_of(LayerId(1)), {.context = 4});
  for (const KernelUse& use : kernels_of(ring.layer, find(ring.layer, "attention"), {}))
    EXPECT_EQ(use.repeats, 4);
}

TEST(OperatorKernels, ExpertsAreGrouped) {
  LayerBuilder b("moe");
  const TensorIndex x = b.input("hidden", {{Axis::batch, 1}, {Axis::sequence, 1024}, {Axis::hidden, 512}});
  const TensorIndex y = add_experts(b, x, {.experts = 8, .top_k = 2, .ffn = 256}, Activation::swiglu);
  const LayerType layer = b.finish({y});
  const auto up = kernels_of(layer, find(layer, "experts.gate_up"), {});
  EXPECT_THAT(kinds(up, Pass::forward), ElementsAre(grouped_forward, grouped_forward));
  EXPECT_EQ(up[0].call.sizes, (std::array<std::int64_t, 8>{8, 2048, 256, 512}));
  EXPECT_EQ(kernels_of(layer, find(layer, "dispatch"), {})[0].call.sizes,
            (std::array<std::int64_t, 8>{1024, 2, 512}));
  EXPECT_EQ(kernels_of(layer, find(layer, "combine"), {})[0].call.sizes,
            (std::array<std::int64_t, 8>{1024, 2, 512}));
  EXPECT_EQ(kernels_of(layer, find(layer, "top_k"), {})[0].call.sizes,
            (std::array<std::int64_t, 8>{1024, 8, 2}));
}

TEST(OperatorKernels, EmbeddingAndLoss) {
  StackSpec stack;
  stack.hidden = 64;
  stack.stem.vocab = 1000;
  const LayerType stem = stem_layer(stack, {{Axis::batch, 2}, {Axis::sequence, 128}}, false);
  EXPECT_EQ(kernels_of(stem, stem.operators.front(), {})[0].call.sizes,
            (std::array<std::int64_t, 8>{1000, 64, 256}));
  LayerBuilder b("head");
  const TensorIndex x = b.input("logits", {{Axis::batch, 2}, {Axis::sequence, 128}, {Axis::vocab, 1000}});
  b.general({"loss", OperatorKind::loss, {x}, {}, {{"loss", {{Axis::batch, 2}}}}});
  const LayerType head = b.finish({});
  EXPECT_EQ(kernels_of(head, head.operators.front(), {})[0].call.sizes,
            (std::array<std::int64_t, 8>{256, 1000}));
}

TEST(OperatorKernels, CollectivesRunNone) {
  Operator op{"gather", OperatorKind::collective};
  EXPECT_THAT(kernels_of(LayerType{}, op, {}), IsEmpty());
}

TEST(GradientSums, OneLessThanUsers) {
  // Hidden states: norm and residual, twice. Normed ones: q, k, v, and gate, up.
  const LayerType layer = test::shard_block(test::test_model("llama3-8b"), 1, 1, 512);
  double separate = 0;
  for (const KernelUse& use : gradient_sums(layer, {})) separate += use.repeats;
  EXPECT_EQ(separate, 5);
  double joined = 0;
  for (const KernelUse& use : gradient_sums(layer, {.fused_projections = true})) joined += use.repeats;
  EXPECT_EQ(joined, 2);
}

}  // namespace
}  // namespace nest::estimate
