#include "nest/model/onnx/read_onnx.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "nest/base/document/document.hpp"
#include "nest/model/blocks/build.hpp"
#include "nest/model/hub/hub_config.hpp"
#include "nest/model/onnx/test_onnx.hpp"
#include "nest/model/zoo.hpp"
#include "support/message_of.hpp"
#include "support/temporary_folder.hpp"

namespace nest::model {
namespace {

using namespace test;

ModelSpec read(const std::string& bytes, const std::string& sizes = "", Warnings* heard = nullptr) {
  ByteSource source = ByteSource::text("test.onnx", bytes);
  Warnings warnings;
  ModelSpec spec = read_onnx(source, "test", sizes, warnings);
  if (heard != nullptr) *heard = warnings;
  return spec;
}

// The same model from its config.json: layers, parameters, FLOPs and what is kept are equal.
TEST(ReadOnnx, AgreesWithTheConfig) {
  for (const bool tied : {false, true}) {
    const std::string config =
        std::string(R"({"model_type": "llama", "hidden_size": 64, "num_hidden_layers": 3,
      "num_attention_heads": 8, "num_key_value_heads": 2, "intermediate_size": 160, "vocab_size": 999,
      "max_position_embeddings": 4096, "tie_word_embeddings": )") +
        (tied ? "true}" : "false}");
    Warnings ignored;
    const ModelSpec by_config = read_hub_config(parse_json("config.json", config), "llama", ignored);
    const ModelSpec by_file = read(DecoderWriter({.blocks = 3, .tied = tied}).bytes());
    const BuildOptions options{.micro_batch = 2, .sequence = 128};
    const Model wanted = build_model(by_config, options);
    const Model made = build_model(by_file, options);
    EXPECT_EQ(made.parameters(), wanted.parameters());
    EXPECT_EQ(made.forward_flops().value, wanted.forward_flops().value);
    ASSERT_EQ(made.layers.size(), wanted.layers.size());
    for (std::size_t i = 0; i < made.layers.size(); ++i) {
      EXPECT_EQ(made.layers[i].name, wanted.layers[i].name);
      const LayerType& own = made.types[made.layers[i].type];
      const LayerType& other = wanted.types[wanted.layers[i].type];
      EXPECT_EQ(own.parameters(), other.parameters()) << made.layers[i].name;
      EXPECT_EQ(own.stash_bytes(), other.stash_bytes()) << made.layers[i].name;
      EXPECT_EQ(own.operators.size(), other.operators.size()) << made.layers[i].name;
      EXPECT_EQ(made.layers[i].type == made.layers[1].type, wanted.layers[i].type == wanted.layers[1].type);
    }
    EXPECT_EQ(made.tied.size(), wanted.tied.size());
  }
}

TEST(ReadOnnx, TakesSizesBehindTheName) {
  OnnxWriter w;
  w.input("pixels", 1, {"batch", std::int64_t{3}, "height", "width"});
  w.node("Conv", {"pixels", w.weight("k", {64, 3, 8, 8})}, {"c"}, {list_attribute("strides", {8, 8})});
  w.node("Shape", {"c"}, {"shape"});
  w.node("Reshape", {"c", w.wholes("flat", {0, 64, -1})}, {"f"});
  w.node("Transpose", {"f"}, {"x"}, {list_attribute("perm", {0, 2, 1})});
  std::string x = "x";
  for (int i = 0; i < 2; ++i) {
    const std::string n = std::to_string(i);
    const std::string up = w.op("Relu", {w.op("MatMul", {x, w.weight("up" + n, {64, 128})})});
    x = w.op("Add", {x, w.op("MatMul", {up, w.weight("down" + n, {128, 64})})});
  }
  w.node("Identity", {x}, {"y"});
  w.output("y");
  const ModelSpec spec = read(w.bytes(), "height=32&width=64");
  EXPECT_EQ(spec.default_sequence, 32);
  EXPECT_EQ(message_of([&] { read(w.bytes(), "height=32"); }),
            "test.onnx: input 'pixels': 'width' has no size, and is neither the batch nor the sequence; say "
            "it behind the "
            "file's name: model.onnx?width=1500");
  EXPECT_EQ(message_of([&] { read(w.bytes(), "height=0"); }),
            "test.onnx: 'height=0' behind its name is no size; write model.onnx?height=224&width=224");
  EXPECT_EQ(onnx_file_of("a/b.onnx?height=3"), "a/b.onnx");
  EXPECT_TRUE(is_onnx_name("a/b.onnx?height=3"));
  EXPECT_FALSE(is_onnx_name("onnx-model"));
}

TEST(ReadOnnx, CountsUnknownOperatorsByTheirBytes) {
  OnnxWriter w = OnnxWriter();
  w.input("input_ids", 7, {"batch", "sequence"});
  w.node("Gather", {w.weight("table", {999, 64}), "input_ids"}, {"x"});
  std::string x = "x";
  for (int i = 0; i < 2; ++i) {
    const std::string n = std::to_string(i);
    const std::string up = w.op("MatMul", {x, w.weight("up" + n, {64, 128})});
    w.node("Strange", {up}, {"strange" + n}, {}, "mine");
    w.declare("strange" + n, 1, {"batch", "sequence", std::int64_t{128}});
    x = w.op("Add", {x, w.op("MatMul", {"strange" + n, w.weight("down" + n, {128, 64})})});
  }
  w.node("Odd", {x}, {"y"});
  w.declare("y", 1, {"batch", "sequence", std::int64_t{64}});
  w.output("y");
  Warnings heard;
  const ModelSpec spec = read(w.bytes(), "", &heard);
  EXPECT_EQ(
      heard,
      Warnings{"test.onnx: Odd and mine.Strange are not known; the work is counted by the bytes that are "
               "read and written"});
  const Model model = build_model(spec, {.sequence = 16});
  EXPECT_EQ(model.parameters(), 999 * 64 + 4 * 64 * 128);
}

TEST(ReadOnnx, IsADoorOfTheZoo) {
  const TemporaryFolder folder;
  const std::string path = folder.file("mine.onnx");
  {
    std::ofstream out(path, std::ios::binary);
    out << DecoderWriter({.blocks = 2}).bytes();
  }
  Warnings warnings;
  const ModelSource source = load_model(path, warnings);
  EXPECT_EQ(std::get<ModelSpec>(source).name, "mine");
  EXPECT_EQ(std::get<ModelSpec>(source).family, "onnx");
  EXPECT_TRUE(warnings.empty());
  static_cast<void>(load_model(path, warnings, "llama"));
  EXPECT_EQ(warnings, Warnings{"--like has no effect on an ONNX file"});
  EXPECT_EQ(message_of([&] { static_cast<void>(load_model(folder.file("none.onnx"), warnings)); }),
            folder.file("none.onnx") + ": no such file");
}

}  // namespace
}  // namespace nest::model
