#include "nest/base/document/file_kind.hpp"

#include <gtest/gtest.h>

namespace nest::base {
namespace {

std::string hint(const std::string& yaml) {
  return looks_like(parse_yaml("x.yaml", yaml));
}

TEST(FileKind, IsToldByTheKeys) {
  EXPECT_EQ(hint("model_type: llama"), "this looks like a model's config.json: nest models show x.yaml");
  EXPECT_EQ(hint("architectures: [X]"), "this looks like a model's config.json: nest models show x.yaml");
  EXPECT_EQ(hint("strategies: []"), "this looks like a layer profile: nest models show x.yaml");
  EXPECT_EQ(hint("format: nest-layer-profile"), "this looks like a layer profile: nest models show x.yaml");
  EXPECT_EQ(hint("{name: x, levels: []}"), "this looks like a cluster file: nest clusters show x.yaml");
  EXPECT_EQ(hint("{name: x, links: []}"), "this looks like a graph file: nest clusters from-graph x.yaml");
  EXPECT_EQ(hint("optimizer: adam"), "this looks like a recipe: nest recipes show x.yaml");
  EXPECT_EQ(hint("learnt_from: [a log]"), "this looks like a calibration: nest plan --calibration x.yaml");
  EXPECT_EQ(hint("levels: {node: {}}"), "this looks like a calibration: nest plan --calibration x.yaml");
  EXPECT_EQ(hint("colour: red"), "");
  EXPECT_EQ(hint("[1]"), "");
}

}  // namespace
}  // namespace nest::base
