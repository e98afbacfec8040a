#include "nest/plan/calibration.hpp"

#include <gtest/gtest.h>

#include "nest/cluster/catalog.hpp"
#include "nest/plan/inputs.hpp"
#include "support/message_of.hpp"

namespace nest::plan {
namespace {

Calibration read(const std::string& text) {
  const Document document = parse_document("c.yaml", text);
  return read_calibration(Reader(document));
}

std::string message(const std::string& text) {
  return message_of([&] { static_cast<void>(read(text)); });
}

TEST(Calibration, PlainNumbersAndNumbersWithIntervals) {
  const Calibration c = read(
      "framework: megatron\nkernel_time: {value: 1.1, low: 1.0, high: 1.2}\nlevels:\n  rack: {bandwidth: "
      "0.8}\n"
      "learnt_from: [\"a.log: 3 steps\"]\n");
  EXPECT_EQ(c.kernel_time, (Multiple{1.1, 1.0, 1.2}));
  EXPECT_EQ(c.levels[0].bandwidth, (Multiple{0.8, 0.8, 0.8}));
  EXPECT_FALSE(c.levels[0].latency.moved());
  EXPECT_EQ(spell_calibration(c), "kernel_time 1.1, rack bandwidth 0.8");
}

TEST(Calibration, WhatIsWrittenReadsBackTheSame) {
  const Calibration c = read(
      "name: mine\nframework: megatron\naccelerator: h100-sxm\nkernel_time: {value: 1.1, low: 1.0, high: "
      "1.2}\n"
      "memory: 1.05\nlevels: {node: {bandwidth: 0.9, latency: 2}}\nlearnt_from: [a]\nunknown: [b, c]\n");
  EXPECT_EQ(read(to_json(to_value(c))), c);
}

TEST(Calibration, WhatIsWrongIsSaidWithItsPlace) {
  EXPECT_EQ(message("kernel_tim: 1.1\n"),
            "c.yaml: line 1: unknown key 'kernel_tim'; did you mean 'kernel_time'?");
  EXPECT_EQ(message("kernel_time: 1000\n"),
            "c.yaml: line 1, kernel_time: a multiple of the shipped constant lies between 0.01 and 100");
  EXPECT_EQ(message("kernel_time: {value: 1.1, low: 1.2}\n"),
            "c.yaml: line 1, kernel_time.low: the lower end is above the value");
  EXPECT_EQ(message("learnt_from: me\n"), "c.yaml: line 1, learnt_from: a list of sentences is expected");
  EXPECT_EQ(message("model_type: llama\n"),
            "c.yaml: line 1: this is not a calibration; this looks like a model's config.json: nest models "
            "show c.yaml");
}

TEST(Calibration, MovesWhatItNames) {
  Warnings warnings;
  const PlanInputs shipped = load_inputs("llama3.1-8b", "h100-spine-leaf", "megatron", warnings);
  PlanInputs inputs = shipped;
  set_calibration(
      inputs,
      read("kernel_time: 1.1\nhost_time: 2\nmemory: 1.1\nlevels: {rack: {bandwidth: 0.5, latency: 3}}\n"),
      warnings);
  EXPECT_TRUE(warnings.empty());
  EXPECT_DOUBLE_EQ(inputs.recipe.kernel_time, 1.1 * shipped.recipe.kernel_time);
  EXPECT_DOUBLE_EQ(inputs.recipe.host_time, 2 * shipped.recipe.host_time);
  EXPECT_DOUBLE_EQ(inputs.recipe.fragmentation, 1.04 * 1.1 - 1);  // the shipped fragmentation is 4 %
  const Level& rack = inputs.cluster.levels()[1];
  EXPECT_DOUBLE_EQ(rack.bandwidth.value, 25e9);
  EXPECT_DOUBLE_EQ(rack.latency.value, 15e-6);
  EXPECT_EQ(inputs.cluster.levels()[0], shipped.cluster.levels()[0]);
}

TEST(Calibration, MemoryIsNeverLessThanTheTensorsThatAreCounted) {
  Warnings warnings;
  PlanInputs inputs = load_inputs("llama3.1-8b", "h100-spine-leaf", "megatron", warnings);
  set_calibration(inputs, read("memory: 0.5\n"), warnings);
  EXPECT_EQ(inputs.recipe.fragmentation, 0);
}

TEST(Calibration, ASlowLinkStaysTheLinkThatItIs) {
  // At a tenth of its bandwidth, a node's links would be taken for cards in slots.
  Warnings warnings;
  PlanInputs inputs = load_inputs("llama3.1-8b", "h100-spine-leaf", "megatron", warnings);
  const std::string fabric = inputs.constants().levels[0].name;
  set_calibration(inputs, read("levels: {node: {bandwidth: 0.1}}\n"), warnings);
  EXPECT_EQ(inputs.constants().levels[0].name, fabric);
}

TEST(Calibration, HoldsForItsFrameworkAndAcceleratorAlone) {
  Warnings warnings;
  const PlanInputs shipped = load_inputs("llama3.1-8b", "h100-spine-leaf", "torchtitan", warnings);
  PlanInputs inputs = shipped;
  set_calibration(
      inputs,
      read("framework: megatron\naccelerator: h100-sxm\nkernel_time: 1.1\nlevels: {pod: {latency: 2}}\n"),
      warnings);
  EXPECT_EQ(inputs.recipe, shipped.recipe);
  ASSERT_EQ(warnings.size(), 2U);
  EXPECT_EQ(
      warnings[0],
      "the calibration was learnt with megatron on h100-sxm: constants of torchtitan on h100-sxm stay as "
      "shipped");
  EXPECT_EQ(warnings[1], "the calibration has constants of level 'pod', which h100-spine-leaf does not have");
  set_recipe(inputs, named_recipe("megatron"));
  EXPECT_DOUBLE_EQ(inputs.recipe.kernel_time, 1.1);
}

TEST(Calibration, ANewOneReplacesTheOld) {
  Warnings warnings;
  PlanInputs inputs = load_inputs("llama3.1-8b", "h100-spine-leaf", "megatron", warnings);
  set_calibration(inputs, read("kernel_time: 1.3\nmemory: 1.2\nlevels: {node: {bandwidth: 0.5}}\n"),
                  warnings);
  set_calibration(inputs, read("kernel_time: 1.1\n"), warnings);
  EXPECT_DOUBLE_EQ(inputs.recipe.kernel_time, 1.1);
  EXPECT_NEAR(inputs.recipe.fragmentation, 0.04, 1e-12);
  EXPECT_NEAR(inputs.cluster.levels()[0].bandwidth.value, 450e9, 1);
}

TEST(Calibration, PlansCarryIt) {
  Warnings warnings;
  PlanInputs inputs = load_inputs("llama3.1-8b", "h100-spine-leaf", "megatron", warnings);
  set_calibration(inputs, read("kernel_time: 1.3\nlevels: {node: {bandwidth: 0.5}}\nlearnt_from: [x]\n"),
                  warnings);
  const Document document = parse_json("p.json", to_json(to_value(inputs)));
  Reader reader(document);
  const PlanInputs again = read_inputs(reader, warnings);
  EXPECT_EQ(again.calibration, inputs.calibration);
  EXPECT_EQ(again.recipe.kernel_time, inputs.recipe.kernel_time);  // moved once, not twice
  EXPECT_EQ(again.cluster.levels(), inputs.cluster.levels());
}

}  // namespace
}  // namespace nest::plan
