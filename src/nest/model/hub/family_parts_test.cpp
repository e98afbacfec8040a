#include "nest/model/hub/family_parts.hpp"

#include <gtest/gtest.h>

#include "nest/base/document/document.hpp"
#include "nest/base/error.hpp"

namespace nest::model {
namespace {

// The steps of the part "p" of a family in YAML, for a config.
std::vector<StepSpec> steps(const std::string& yaml, const std::string& config = R"({"width": 32})") {
  const Document file = parse_yaml("family.yaml", yaml);
  Described family;
  for (const auto& [name, part] : *file.root.as_object()) family.parts.emplace(name, part);
  const Document document = parse_json("config.json", config);
  Reader reader(document);
  Fields fields(reader, family, family.block);
  return steps_of(fields, "p", 16);
}

std::string message(const std::string& yaml, const std::string& config = R"({"width": 32})") {
  try {
    static_cast<void>(steps(yaml, config));
  } catch (const InputError& e) {
    return e.what();
  }
  return "no error";
}

TEST(FamilyParts, AStepHasShapesAndParameters) {
  const auto made =
      steps("p: [{linear: x, to: {q: {heads: 4, head_dim: width / 4}, z: hidden}, bias: true}]");
  ASSERT_EQ(made.size(), 1U);
  EXPECT_EQ(made[0].kind, StepSpec::Kind::linear);
  EXPECT_TRUE(made[0].bias);
  ASSERT_EQ(made[0].to.size(), 2U);
  EXPECT_EQ(made[0].to[0].features, (Shape{{Axis::heads, 4}, {Axis::head_dim, 8}}));
  EXPECT_EQ(made[0].to[1].features, (Shape{{Axis::hidden, 16}}));
}

TEST(FamilyParts, OtherPartsAndConditions) {
  const std::string yaml =
      "p: [{use: twice, repeat: 2}, {norm: x, kind: \"'layer'\", when: width > 100}, {add: [x, y], as: x}]\n"
      "twice: [{pass: x, as: y, kind: \"'gelu'\"}]";
  const auto made = steps(yaml);
  ASSERT_EQ(made.size(), 3U);
  EXPECT_EQ(made[0].pass, OperatorKind::gelu);
  EXPECT_NE(made[0].name, made[1].name) << "repeated steps have names of their own";
  EXPECT_EQ(made[2].kind, StepSpec::Kind::add);
  EXPECT_EQ(steps(yaml, R"({"width": 128})").size(), 4U);
}

// 12,000,000 layers of a tower were minutes of work.
TEST(FamilyParts, RepeatedStepsHaveTheLimitOfLayers) {
  EXPECT_EQ(
      message("p: [{use: q, repeat: width}]\nq: [{pass: x, kind: \"'gelu'\"}]", R"({"width": 12000000})"),
      "config.json: line 1, width: 12000000 is more than the 10000 layers that any model has");
}

// Both ended the program once, or never ended.
TEST(FamilyParts, PartsThatUseThemselvesOrRepeatWithoutEnd) {
  EXPECT_EQ(message("p: [{use: q}]\nq: [{use: p}]"),
            "data/families: the part p: it is used by the part p, which it uses");
  EXPECT_EQ(
      message("p: [{use: q, repeat: 10000}]\nq: [{use: r, repeat: 10000}]\nr: [{pass: x, kind: \"'gelu'\"}]"),
      "data/families: the part p: it would have more than 200,000 steps");
  EXPECT_EQ(message("p: [{use: q, repeat: width}]\nq: [{use: r, repeat: width}]\nr: [{pass: x, when: false}]",
                    R"({"width": 9000})"),
            "config.json: line 1, width: the part p would have more than 200,000 steps");
}

TEST(FamilyParts, Mistakes) {
  EXPECT_EQ(message("p: [{twist: x}]"), "data/families: the part p: a step has no kind that is known");
  EXPECT_EQ(message("p: [{use: q}]"), "data/families: the part p: there is no part 'q'");
  EXPECT_EQ(message("p: [{norm: x, kind: \"'odd'\"}]"),
            "data/families: the part p: the norm 'odd' is not known");
  EXPECT_EQ(message("p: [{linear: x, to: {q: {wings: 4}}}]"),
            "data/families: the part p: there is no axis 'wings'");
  EXPECT_EQ(message("p: [{fold: x, count: width}]", R"({"width": 0})"),
            "config.json: line 1, width: a count must be 1 or more");
}

}  // namespace
}  // namespace nest::model
