#include <gtest/gtest.h>

#include "nest/base/document/document.hpp"
#include "nest/model/onnx/model_text.hpp"
#include "support/message_of.hpp"

namespace nest::model {
namespace {

constexpr const char* kModel = R"({
  "format": "nest-model", "version": 1, "name": "tiny", "family": "onnx",
  "stacks": [{"prefix": "layer", "hidden": 8, "norm": "rms", "final_norm": true,
    "stem": {"kind": "tokens", "vocab": 99},
    "kinds": [{"norm": "rms", "steps": [
      {"linear": ["x"], "name": "up", "to": {"u": [["ffn", 16]]}},
      {"pass": ["u"], "name": "act", "kind": "relu", "to": {"a": []}},
      {"linear": ["a"], "name": "down", "to": {"d": [["hidden", 8]]}},
      {"add": ["x", "d"], "name": "sum", "to": {"y": []}}]}],
    "blocks": [0, 0]}],
  "head": {"kind": "vocabulary", "outputs": 99}
})";

std::string with(const std::string& before, const std::string& after) {
  std::string text = kModel;
  const std::size_t at = text.find(before);
  EXPECT_NE(at, std::string::npos) << before;
  return text.replace(at, before.size(), after);
}

std::string message(const std::string& text) {
  return message_of([&] { static_cast<void>(read_model_text(parse_json("m.json", text))); });
}

TEST(ModelTextRead, BuildsWhatItSays) {
  const ModelSpec spec = read_model_text(parse_json("m.json", kModel));
  EXPECT_EQ(spec.name, "tiny");
  ASSERT_EQ(spec.stacks[0].blocks.size(), 2U);
  EXPECT_EQ(spec.stacks[0].blocks[0].steps[1].pass, OperatorKind::relu);
}

TEST(ModelTextRead, NamesWhatIsWrong) {
  EXPECT_EQ(message(with("\"version\": 1", "\"version\": 2")),
            "m.json: line 2, version: 2 is outside 1 to 1");
  EXPECT_EQ(message(with("[\"a\"]", "[\"b\"]")),
            "m.json: line 8, stacks[0].kinds[0].steps[2]: there is no value 'b' for the step down");
  EXPECT_EQ(message(with("\"relu\"", "\"rely\"")),
            "m.json: line 7, stacks[0].kinds[0].steps[1].kind: 'rely' is none of scale, rotary, gelu, relu, "
            "tanh, swiglu, geglu; did you mean 'relu'?");
  EXPECT_EQ(
      message(with("[[\"ffn\", 16]]", "[[\"fnf\", 16]]")),
      "m.json: line 6, stacks[0].kinds[0].steps[0].to.u: an axis is a name with its size: [\"heads\", 16]");
  EXPECT_EQ(message(with("[0, 0]", "[0, 1]")), "m.json: line 10, stacks[0].blocks[1]: 1 is outside 0 to 0");
  EXPECT_EQ(
      message(with("\"pass\": [\"u\"]", "\"mixer\": [\"u\"]")),
      "m.json: line 7, stacks[0].kinds[0].steps[1]: a step that stands for parts which such a model does not "
      "describe");
  EXPECT_EQ(message(with("\"outputs\": 99", "\"outputs\": 0")),
            "m.json: line 11, head.outputs: it has no size");
  EXPECT_EQ(
      message(with("\"hidden\": 8,", "\"hidden\": 8, \"heads\": 2,")),
      "m.json: line 3, stacks[0]: unknown key 'heads'; known here: prefix, hidden, sequence, stem_sequence, "
      "norm, final_norm, stem, entry, kinds, blocks, shares");
}

// Ten thousand blocks of eleven steps would be a list of 110,000 made of one line.
TEST(ModelTextRead, RefusesLongListsOfShortTexts) {
  std::string blocks = "[0";
  for (int i = 1; i < 10'000; ++i) blocks += ", 0";
  const std::string four = with("[0, 0]", blocks + "]");
  EXPECT_EQ(read_model_text(parse_json("m.json", four)).stacks[0].blocks.size(), 10'000U);
  std::string steps;
  for (int i = 0; i < 7; ++i)
    steps +=
        R"({"pass": ["x"], "name": "more", "kind": "relu", "to": {"m)" + std::to_string(i) + R"(": []}}, )";
  std::string eleven = four;
  eleven.insert(eleven.find("{\"linear\""), steps);
  EXPECT_EQ(message(eleven),
            "m.json: line 10, stacks[0].blocks: the blocks have more than 100,000 steps together");
}

}  // namespace
}  // namespace nest::model
