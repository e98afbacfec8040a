#include "nest/model/onnx/step_shapes.hpp"

#include <gtest/gtest.h>

namespace nest::model {
namespace {

StepSpec step(StepSpec::Kind kind, std::vector<std::string> from, std::vector<StepSpec::Made> to) {
  StepSpec s;
  s.kind = kind;
  s.name = "s";
  s.from = std::move(from);
  s.to = std::move(to);
  return s;
}

const Shape kHeads{{Axis::heads, 8}, {Axis::head_dim, 8}};
const Shape kGroups{{Axis::kv_heads, 2}, {Axis::head_dim, 8}};

TEST(StepShapes, FollowSteps) {
  StepShapes shapes(64, false);
  EXPECT_EQ(shapes.add(step(StepSpec::Kind::linear, {"x"}, {{"q", kHeads}, {"k", kGroups}, {"v", kGroups}})),
            "");
  EXPECT_EQ(shapes.add(step(StepSpec::Kind::attention, {"q", "k", "v"}, {{"a", {}}})), "");
  EXPECT_EQ(shapes.add(step(StepSpec::Kind::linear, {"a"}, {{"o", {{Axis::hidden, 64}}}})), "");
  EXPECT_EQ(shapes.weights(), 64 * 64 + 2 * 64 * 16 + 64 * 64);
}

TEST(StepShapes, FindWhatIsMissing) {
  StepShapes shapes(64, false);
  EXPECT_EQ(shapes.add(step(StepSpec::Kind::norm, {"y"}, {{"n", {}}})),
            "there is no value 'y' for the step s");
  EXPECT_EQ(shapes.add(step(StepSpec::Kind::norm, {"x"}, {})), "the step s makes nothing");
  EXPECT_EQ(shapes.add(step(StepSpec::Kind::norm, {}, {{"n", {}}})), "the step s reads nothing");
  EXPECT_EQ(shapes.add(step(StepSpec::Kind::experts, {"x"}, {{"e", {}}})), "the block of s has no experts");
  EXPECT_EQ(shapes.add(step(StepSpec::Kind::attention, {"x", "x", "x"}, {{"a", {}}})),
            "queries, keys and values of s have heads and the width of one");
  EXPECT_EQ(shapes.add(step(StepSpec::Kind::linear, {"x"}, {{"q", {{Axis::other, 1'000'000'000'000'000}}}})),
            "the weight of s has more than 10^15 elements");
  StepSpec held = step(StepSpec::Kind::pass, {"x"}, {{"y", {}}});
  held.parameters = {{"p", {}}};
  EXPECT_EQ(shapes.add(held), "a parameter of the step s has no shape");
}

TEST(StepShapes, CompareHeads) {
  StepShapes shapes(64, false);
  const Shape odd{{Axis::kv_heads, 3}, {Axis::head_dim, 8}};
  EXPECT_EQ(shapes.add(step(StepSpec::Kind::linear, {"x"}, {{"q", kHeads}, {"k", odd}})), "");
  EXPECT_EQ(shapes.add(step(StepSpec::Kind::attention, {"q", "k", "k"}, {{"a", {}}})),
            "the heads of s do not go together");
}

}  // namespace
}  // namespace nest::model
