#include "nest/strategies/transform.hpp"

#include <gtest/gtest.h>

#include "nest/model/graph/layer_builder.hpp"

namespace nest::strategies {
namespace {

const Shape kRows{{Axis::batch, 2}, {Axis::sequence, 8}};
const Dim kHidden{Axis::hidden, 16};
const Dim kFfn{Axis::ffn, 32};

LayerType one_product() {
  LayerBuilder b("x");
  const TensorIndex x = b.input("x", join(kRows, {kHidden}));
  return b.finish({b.matmul("up", x, {kHidden}, Weight{"up", {kFfn}, true})});
}

TEST(Transform, SplitsMultiplyAndCanBeUndone) {
  LayerTransform t(one_product(), {}, {});
  t.split(0, Axis::sequence, 2);
  t.split_sequence(0, 2);
  t.split(0, Axis::ffn, 4);  // which x lacks
  EXPECT_TRUE(t.is_split(0, Axis::sequence));
  EXPECT_TRUE(t.is_split(0));
  EXPECT_FALSE(t.is_split(1));
  t.unsplit(0, Axis::sequence, 2);
  EXPECT_EQ(spell(std::move(t).finish().layer.tensor(0).shape), "[2 batch, 4 sequence, 16 hidden]");
}

TEST(Transform, FlopsFollowRowsAndWeights) {
  const LayerType whole = one_product();
  EXPECT_DOUBLE_EQ(work_of(whole, whole.operators[0]), 2 * 8 * 16 * 32);  // the bias does not count
  LayerTransform t(whole, {}, {});
  t.split(0, Axis::sequence, 2);
  t.split(whole.operators[0].parameters[0], Axis::ffn, 4);
  const ShardedLayer s = std::move(t).finish();
  EXPECT_DOUBLE_EQ(8 * s.layer.operators[0].forward_flops.value, whole.operators[0].forward_flops.value);
}

TEST(Transform, PaddingComesBeforeTheSplit) {
  LayerTransform t(one_product(), {}, {});
  const TensorIndex weight = t.operators()[0].parameters[0];
  t.pad(weight, Axis::ffn, 48);
  t.split(weight, Axis::ffn, 3);
  const ShardedLayer s = std::move(t).finish();
  EXPECT_EQ(s.layer.tensor(weight).shape[1].size, 16);
  ASSERT_EQ(s.padded.size(), 1U);
  EXPECT_EQ(s.padded[0].from, 32);
  EXPECT_EQ(s.padded[0].to, 48);
}

TEST(Transform, AnAxisKeepsOneAtLeastAndStretchedRowsRoundUp) {
  LayerTransform t(one_product(), {}, {});
  t.split(0, Axis::sequence, 16);
  t.stretch(0, Axis::hidden, 1.1);
  EXPECT_EQ(spell(std::move(t).finish().layer.tensor(0).shape), "[2 batch, 1 sequence, 18 hidden]");
}

TEST(Transform, ReducedResultsKeepTheirName) {
  LayerTransform t(one_product(), {}, {});
  for (Operator& op : t.take_operators())
    t.push_reduced(op, "reduce", {CollectiveKind::all_reduce, CollectiveKind::none, GroupAxis::tensor});
  const ShardedLayer s = std::move(t).finish();
  ASSERT_EQ(s.layer.operators.size(), 2U);
  EXPECT_EQ(s.layer.operators[1].name, "up.reduce");
  EXPECT_EQ(s.layer.operators[1].outputs, s.layer.outputs);
  EXPECT_EQ(s.layer.tensor(s.layer.operators[0].outputs[0]).name, "up.partial");
  EXPECT_EQ(s.layer.operators[1].collective.forward_bytes.value, 2 * 8 * 32 * 2);
  EXPECT_EQ(s.layer.operators[1].collective.backward_bytes.value, 0);
}

TEST(Transform, StatisticsAreMadeToo) {
  LayerBuilder b("x");
  const TensorIndex x = b.input("x", join(kRows, {kHidden}));
  const LayerType layer = b.finish({b.norm("norm", x, NormKind::rms)});
  EXPECT_EQ(made_by(layer.operators[0]).size(), 2U);  // the result and the scale, not the input
  std::vector<TensorIndex> uses{1, 2, 1};
  replace(uses, 1, 7);
  EXPECT_EQ(uses, (std::vector<TensorIndex>{7, 2, 7}));
}

}  // namespace
}  // namespace nest::strategies
