#include "nest/model/onnx/onnx_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "nest/model/onnx/test_onnx.hpp"
#include "support/message_of.hpp"
#include "support/temporary_folder.hpp"

namespace nest::model {
namespace {

using namespace test;

OnnxGraph graph_of(const std::string& bytes) {
  ByteSource source = ByteSource::text("x.onnx", bytes);
  return read_onnx_graph(source);
}

OnnxWriter sum() {
  OnnxWriter w;
  w.input("x", 1, {"batch", std::int64_t{4}});
  w.weight("w", {4, 100});
  return w;
}

TEST(OnnxFile, HasNodesAndValues) {
  OnnxWriter w = sum();
  w.input("w", 1, {std::int64_t{4}, std::int64_t{100}});  // an old file's: an initializer is no input
  w.node("MatMul", {"x", "w"}, {"y"});
  w.output("y");
  const OnnxGraph graph = graph_of(w.bytes(17));
  EXPECT_EQ(graph.opset, 17);
  ASSERT_EQ(graph.inputs.size(), 1U);
  EXPECT_EQ(graph.inputs[0].dims[0].name, "batch");
  ASSERT_EQ(graph.tensors.size(), 1U);
  EXPECT_EQ(graph.tensors[0].dims, (std::vector<std::int64_t>{4, 100}));
  ASSERT_EQ(graph.nodes.size(), 1U);
}

TEST(OnnxFile, PutsNodesInOrder) {
  OnnxWriter w;
  w.input("x", 1, {std::int64_t{4}});
  w.node("Neg", {"a"}, {"b"});
  w.node("Exp", {"x"}, {"a"});
  w.output("b");
  const OnnxGraph graph = graph_of(w.bytes());
  EXPECT_EQ(graph.nodes[0].op, "Exp");
  EXPECT_EQ(graph.nodes[1].op, "Neg");
}

TEST(OnnxFile, TakesConstantsOutOfTheNodes) {
  OnnxWriter w;
  w.input("x", 1, {std::int64_t{4}});
  w.node("Constant", {}, {"c"}, {tensor_attribute("value", tensor_bytes("", 1, {}, raw_reals({0.5F})))});
  w.node("Constant", {}, {"n"}, {list_attribute("value_ints", {2, 2})});
  w.node("Mul", {"x", "c"}, {"y"});
  w.node("Reshape", {"y", "n"}, {"z"});
  w.output("z");
  const OnnxGraph graph = graph_of(w.bytes());
  EXPECT_EQ(graph.nodes.size(), 2U);
  ASSERT_EQ(graph.tensors.size(), 2U);
  EXPECT_EQ(graph.tensors[0].numbers->reals, std::vector<double>{0.5});
  EXPECT_EQ(graph.tensors[1].numbers->wholes, (std::vector<std::int64_t>{2, 2}));
}

TEST(OnnxFile, RefusesWhatIsNoModel) {
  EXPECT_EQ(message_of([] { graph_of(whole_field(1, 8)); }),
            "x.onnx: has no graph, so that it is no ONNX model; weights beside an ONNX model are no model of "
            "their own");
  EXPECT_EQ(message_of([] { graph_of(""); }), "x.onnx: is empty, so that it is no ONNX model");
  EXPECT_EQ(message_of([] { graph_of("version https://git-lfs.github.com/spec/v1\noid sha256:4d7a2146\n"); }),
            "x.onnx: is a pointer of Git LFS and not the file itself; 'git lfs pull' fetches the file");
  EXPECT_THAT(message_of([] { graph_of("{\"model_type\": \"llama\"}"); }),
              ::testing::HasSubstr("so that this is no ONNX file"));
}

TEST(OnnxFile, RefusesGraphsThatCannotRun) {
  OnnxWriter missing = sum();
  missing.node("MatMul", {"x", "nowhere"}, {"y"});
  missing.output("y");
  EXPECT_EQ(message_of([&] { graph_of(missing.bytes()); }),
            "x.onnx: operator 'MatMul': it reads 'nowhere', which nothing makes");
  OnnxWriter twice = sum();
  twice.node("Neg", {"x"}, {"y"});
  twice.node("Exp", {"x"}, {"y"});
  twice.output("y");
  EXPECT_EQ(message_of([&] { graph_of(twice.bytes()); }), "x.onnx: value 'y': it is made twice");
  OnnxWriter cycle = sum();
  cycle.node("Add", {"x", "b"}, {"a"});
  cycle.node("Neg", {"a"}, {"b"});
  cycle.output("b");
  EXPECT_EQ(message_of([&] { graph_of(cycle.bytes()); }),
            "x.onnx: operator 'Add': it depends on its own result: the graph has a cycle");
  OnnxWriter nothing = sum();
  nothing.node("Neg", {"x"}, {"y"});
  EXPECT_EQ(message_of([&] { graph_of(nothing.bytes()); }), "x.onnx: its graph has no outputs");
  nothing.output("z");
  EXPECT_EQ(message_of([&] { graph_of(nothing.bytes()); }), "x.onnx: output 'z': nothing makes it");
}

// Weights of many gigabytes: the file is a sparse one, and what is read of it is its beginning and its end.
TEST(OnnxFile, ReadsNoWeights) {
  const TemporaryFolder folder;
  const std::string path = folder.file("large.onnx");
  constexpr std::int64_t kSide = 40'000;
  constexpr auto kBytes = static_cast<std::uint64_t>(kSide * kSide * 4);
  const std::string about = tensor_bytes("w", 1, {kSide, kSide});
  const std::string tensor_begin = varint((9U << 3U) | 2U) + varint(kBytes);
  const std::uint64_t tensor = about.size() + tensor_begin.size() + kBytes;
  const std::string field = varint((5U << 3U) | 2U) + varint(tensor);
  OnnxWriter rest;
  rest.input("x", 1, {std::int64_t{1}, kSide});
  rest.node("MatMul", {"x", "w"}, {"y"});
  rest.output("y");
  const std::string whole = rest.bytes();
  // The rest of the graph stands in a file of its own: its fields go on after the tensor.
  ByteSource small = ByteSource::text("rest", whole);
  WireReader message(small);
  WireField part;
  std::string graph;
  while (message.next(part)) {
    if (part.number == 7) graph = small.read(part.offset, part.length);
  }
  {
    std::ofstream out(path, std::ios::binary);
    out << varint((7U << 3U) | 2U) << varint(field.size() + tensor + graph.size()) << field << about
        << tensor_begin;
    out.seekp(static_cast<std::streamoff>(kBytes), std::ios::cur);
    out << graph;
  }
  ByteSource source = ByteSource::file(path);
  const OnnxGraph read = read_onnx_graph(source);
  EXPECT_EQ(read.tensors[0].elements(), kSide * kSide);
  EXPECT_EQ(read.nodes.size(), 1U);
  EXPECT_LE(source.read_so_far(), 4U << 16U);
}

}  // namespace
}  // namespace nest::model
