#include "nest/model/blocks/steps.hpp"

#include <gtest/gtest.h>

#include "nest/base/error.hpp"

namespace nest::model {
namespace {

using K = StepSpec::Kind;
const Shape kTokens{{Axis::batch, 2}, {Axis::sequence, 16}, {Axis::hidden, 64}};

LayerType layer_of(const std::vector<StepSpec>& steps, const BlockSpec* block = nullptr) {
  LayerBuilder b("layer");
  const TensorIndex x = b.input("hidden", kTokens);
  return b.finish({add_steps(b, steps, {{"x", x}}, block)});
}

StepSpec step(K kind, std::vector<std::string> from, std::vector<StepSpec::Made> to) {
  StepSpec s;
  s.kind = kind;
  s.name = to.front().name + "_step";
  s.from = std::move(from);
  s.to = std::move(to);
  return s;
}

TEST(Steps, ProductsHaveWeightsAndFlops) {
  StepSpec up = step(K::linear, {"x"}, {{"up", {{Axis::ffn, 128}}}});
  up.bias = true;
  const LayerType layer = layer_of({up, step(K::linear, {"up"}, {{"y", {{Axis::hidden, 64}}}})});
  EXPECT_EQ(layer.parameters(), 64 * 128 + 128 + 128 * 64);
  EXPECT_EQ(layer.forward_flops().value, 2.0 * 2 * 16 * (64 * 128 + 128 * 64));
}

TEST(Steps, ScansHaveParametersAndFlopsForEachPosition) {
  StepSpec scan = step(K::scan, {"x"}, {{"y", {{Axis::hidden, 64}}}});
  scan.parameters = {{"kernel", {{Axis::hidden, 64}, {Axis::other, 4}}}};
  scan.flops = 512;
  const LayerType layer = layer_of({scan});
  EXPECT_EQ(layer.parameters(), 64 * 4);
  EXPECT_EQ(layer.forward_flops().value, 2 * 16 * 512);
  EXPECT_EQ(layer.operators.back().uncounted.value, 0);
  scan.uncounted = 128;
  EXPECT_EQ(layer_of({scan}).forward_flops().value, 2 * 16 * 512);
  EXPECT_EQ(layer_of({scan}).operators.back().uncounted.value, 2 * 16 * 128);
}

TEST(Steps, SharedParametersBelongToAnotherLayer) {
  StepSpec shared = step(K::linear, {"x"}, {{"y", {{Axis::hidden, 64}}}});
  shared.shared = true;
  const LayerType layer = layer_of({shared});
  EXPECT_EQ(layer.parameters(), 0);
  EXPECT_EQ(layer.shared_parameters(), 64 * 64);
}

TEST(Steps, FoldsPutPositionsSideBySide) {
  StepSpec fold = step(K::fold, {"x"}, {{"y", {}}});
  fold.count = 4;
  const LayerType layer = layer_of({fold});
  const Shape& out = layer.tensor(layer.outputs.front()).shape;
  EXPECT_EQ(out[1].size, 4);
  EXPECT_EQ(out[2].size, 256);
}

TEST(Steps, MistakesNameTheStep) {
  EXPECT_THROW(layer_of({step(K::pass, {"z"}, {{"y", {}}})}), InputError) << "no such value";
  EXPECT_THROW(layer_of({step(K::mixer, {"x"}, {{"y", {}}})}), InputError) << "no block";
}

}  // namespace
}  // namespace nest::model
