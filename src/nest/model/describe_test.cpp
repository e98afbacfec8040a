#include "nest/model/describe.hpp"

#include <gtest/gtest.h>

#include "nest/base/document/document.hpp"
#include "nest/model/blocks/build.hpp"
#include "nest/model/zoo.hpp"

namespace nest::model {
namespace {

TEST(Describe, HasTheKeysOfTheContract) {
  const Value v = describe(build_model(zoo_model("llama3.1-8b")));
  EXPECT_EQ(*v.find("name")->as_string(), "llama3.1-8b");
  EXPECT_EQ(*v.find("parameters")->as_int(), 8'030'261'248);
  const Value::Array& layers = *v.find("layers")->as_array();
  ASSERT_EQ(layers.size(), 34U);
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    EXPECT_EQ(*layers[i].find("id")->as_int(), static_cast<std::int64_t>(i));
    for (const char* key : {"name", "parameters", "forward_flops", "output_bytes"})
      EXPECT_NE(layers[i].find(key), nullptr);
    sum += *layers[i].find("parameters")->as_int();
  }
  EXPECT_EQ(sum, 8'030'261'248);
  const Value& edge = v.find("edges")->as_array()->front();
  EXPECT_EQ(*edge.find("from")->as_int(), 0);
  EXPECT_EQ(*edge.find("bytes")->as_int(), 8192 * 4096 * 2);
}

// Layers add up to the published count also where weights are tied or parts stand apart.
TEST(Describe, LayersAddUpInEveryZooModel) {
  for (const std::string& name : zoo_names()) {
    const Value v = describe(build_model(zoo_model(name), {.micro_batch = 1, .mtp = true}));
    std::int64_t sum = 0;
    for (const Value& layer : *v.find("layers")->as_array()) sum += *layer.find("parameters")->as_int();
    EXPECT_EQ(sum, *v.find("parameters")->as_int()) << name;
  }
}

// The state space of Mamba 2 is element-wise work: 4 FLOPs for each of 80 heads of 64 and 128 states.
TEST(Describe, TheCounterSeesNoElementWiseScans) {
  const Value v = describe(build_model(zoo_model("mamba2-2.7b"), {.sequence = 1024}));
  const double apart = *v.find("forward_flops")->as_real() - *v.find("counter_flops")->as_real();
  EXPECT_DOUBLE_EQ(apart, 64.0 * 1024 * 4 * 80 * 64 * 128);
}

TEST(Describe, IsJsonThatReadsBack) {
  const Value v = describe(build_model(zoo_model("deepseek-v3")));
  EXPECT_EQ(parse_json("x", to_json(v)).root.find("layers")->as_array()->size(), 63U);
}

TEST(LayerRuns, AreNamedByTheirEnds) {
  const std::vector<LayerRun> runs = layer_runs(build_model(zoo_model("deepseek-v3")));
  ASSERT_EQ(runs.size(), 4U);
  EXPECT_EQ(runs[1].name, "layer0 .. layer2");
  EXPECT_EQ(runs[2].name, "layer3 .. layer60");
  EXPECT_EQ(runs[2].layers, 58);
  EXPECT_EQ(runs[3].name, "head");
}

TEST(TypicalLayer, IsTheMostFrequentBlock) {
  EXPECT_EQ(typical_layer(build_model(zoo_model("deepseek-v3"))).name, "layer with experts");
  EXPECT_EQ(typical_layer(build_model(zoo_model("t5-11b"))).name, "decoder");
}

}  // namespace
}  // namespace nest::model
