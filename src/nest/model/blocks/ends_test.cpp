#include "nest/model/blocks/ends.hpp"

#include <gtest/gtest.h>

namespace nest::model {
namespace {

const Shape kTokens{{Axis::batch, 2}, {Axis::sequence, 16}};

StackSpec stack() {
  StackSpec s;
  s.prefix = "layer";
  s.hidden = 64;
  s.stem.vocab = 1000;
  return s;
}

TEST(Ends, AStemReadsNothingOverEdges) {
  const LayerType stem = stem_layer(stack(), kTokens, false);
  EXPECT_TRUE(stem.inputs.empty());
  EXPECT_EQ(stem.parameters(), 1000 * 64);
  EXPECT_EQ(stem.output_bytes().value, 2 * 16 * 64 * 2);
}

TEST(Ends, ASharedTableIsHeldAndNotCounted) {
  const LayerType stem = stem_layer(stack(), kTokens, true);
  EXPECT_EQ(stem.parameters(), 0);
  EXPECT_EQ(stem.shared_parameters(), 1000 * 64);
}

// Two convolutions of width 3: 3 * 80 * 64 + 64, then 3 * 64 * 64 + 64, and 16 positions.
TEST(Ends, FramesGoThroughTwoConvolutions) {
  StackSpec s = stack();
  s.stem = {};
  s.stem.kind = StemSpec::Kind::frames;
  s.stem.patch_values = 80;
  s.stem.positions = 16;
  const LayerType stem = stem_layer(s, kTokens, false);
  EXPECT_EQ(stem.parameters(), 3 * 80 * 64 + 64 + 3 * 64 * 64 + 64 + 16 * 64);
  EXPECT_DOUBLE_EQ(stem.forward_flops().value, 2.0 * 2 * 32 * 240 * 64 + 2.0 * 2 * 16 * 192 * 64);
}

// The loss keeps its log-probabilities in fp32: 2 * 16 * 1000 * 4 bytes of the head's stash.
TEST(Ends, TheHeadKeepsItsLogProbabilities) {
  ModelSpec spec;
  spec.stacks.push_back(stack());
  spec.head.outputs = 1000;
  const LayerType head = head_layer(spec, {join(kTokens, {{Axis::hidden, 64}})});
  EXPECT_EQ(head.parameters(), 64 + 64 * 1000);
  const std::int64_t hidden = 2 * 16 * 64 * 2;
  EXPECT_EQ(head.stash_bytes().value, 2 * hidden + 2 * 16 * 4 + 2 * 16 * 1000 * 4);
}

TEST(Ends, PredictionModulesAreApart) {
  ModelSpec spec;
  spec.stacks = {stack()};
  BlockSpec block;
  block.attention.heads = block.attention.kv_heads = 4;
  block.attention.head_dim = 16;
  block.ffn = {128, Activation::swiglu};
  spec.stacks.front().blocks = {block};
  const LayerType mtp = mtp_layer(spec, kTokens);
  EXPECT_EQ(mtp.part, LayerPart::prediction);
  EXPECT_EQ(mtp.parameters(), 0);
  // three norms, the joining projection, one block with two norms
  EXPECT_EQ(mtp.apart_parameters(), 3 * 64 + 2 * 64 * 64 + (4 * 64 * 64 + 3 * 64 * 128 + 2 * 64));
  EXPECT_EQ(mtp.shared_parameters(), 1000 * 64);
  // A block of its own, half as wide inside.
  spec.mtp_block = block;
  spec.mtp_block->ffn.ffn = 64;
  EXPECT_EQ(mtp.apart_parameters() - mtp_layer(spec, kTokens).apart_parameters(), 3 * 64 * 64);
}

}  // namespace
}  // namespace nest::model
