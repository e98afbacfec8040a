#include "nest/model/tuning.hpp"

#include <gtest/gtest.h>

#include "nest/base/document/document.hpp"

namespace nest::model {
namespace {

Tuning train(std::string_view text) {
  Tuning tuning;
  EXPECT_EQ(read_train(text, tuning), "");
  return tuning;
}

std::string problem(std::string_view text) {
  Tuning tuning;
  return read_train(text, tuning);
}

Tuning from_json(const std::string& text) {
  const Document document = parse_json("plan.json", text);
  Reader reader(document);
  Warnings warnings;
  return read_tuning(reader, warnings);
}

TEST(Tuning, TrainsAllWhereNothingIsSaid) {
  EXPECT_TRUE(Tuning().whole());
  EXPECT_TRUE(train("all").whole());
  EXPECT_EQ(spell_train(Tuning()), "");
  Value training = Value::object();
  put_tuning(training, Tuning());
  EXPECT_EQ(to_json_line(training), "{}");
}

TEST(Tuning, AdaptersHaveARankAndTargets) {
  const Tuning usual = train("lora:16");
  EXPECT_EQ(usual.rank, 16);
  EXPECT_EQ(usual.targets, default_targets());
  EXPECT_EQ(spell_train(usual), "lora:16");
  const Tuning two = train("lora:8:q_proj+v_proj");
  EXPECT_EQ(two.targets, (std::vector<std::string>{"q_proj", "v_proj"}));
  EXPECT_EQ(spell_train(two), "lora:8:q_proj+v_proj");
}

TEST(Tuning, RangesOfLayersMayBeOpen) {
  EXPECT_TRUE(train("layers 24..").layers.has(31));
  EXPECT_FALSE(train("layers 24..").layers.has(23));
  EXPECT_TRUE(train("layers ..3").layers.has(0));
  EXPECT_FALSE(train("layers 5").layers.has(6));
  for (const char* text : {"layers 24..", "layers 8..15", "layers 5"})
    EXPECT_EQ(spell_train(train(text)), text);
}

TEST(Tuning, SaysWhatIsWrong) {
  EXPECT_EQ(problem("lra:16"),
            "all, lora:RANK or 'layers FIRST..' is expected, not 'lra:16'; did you mean 'lora'?");
  EXPECT_EQ(problem("lora"), "'' is no rank; try lora:16 or lora:16:q_proj+v_proj");
  EXPECT_EQ(problem("lora:0"), "a rank is a whole number from 1 to 65,536, not 0");
  EXPECT_EQ(problem("lora:16:"), "the name of a target is missing; try lora:16:q_proj+v_proj");
  EXPECT_EQ(problem("lora:16:q_proj+q_proj"), "the target 'q_proj' is named twice");
  EXPECT_EQ(problem("layers 9..3"), "'9..3' is no range of layers; try 'layers 24..' or 'layers 8..15'");
  Tuning tuning;
  EXPECT_EQ(read_freeze("vision,,head", tuning), "the name of a part is missing; try embedding,head");
  EXPECT_EQ(read_frozen_bits("5", tuning), "4, 8 or 16 is expected, not '5'");
}

TEST(Tuning, IsReadBackFromAPlan) {
  Tuning tuning = train("lora:16:linear_qkv");
  EXPECT_EQ(read_freeze("vision, layers 0..3", tuning), "");
  EXPECT_EQ(read_frozen_bits("4", tuning), "");
  Value training = Value::object();
  put_tuning(training, tuning);
  EXPECT_EQ(
      to_json_line(training),
      R"({"train": {"lora": {"rank": 16, "targets": ["linear_qkv"]}}, "freeze": ["vision", "layers 0..3"], "frozen_bits": 4})");
  EXPECT_EQ(from_json(to_json_line(training)), tuning);
  EXPECT_EQ(from_json(R"({"train": {"layers": "24.."}})"), train("layers 24.."));
  EXPECT_EQ(from_json(R"({"train": "all"})"), Tuning());
  EXPECT_EQ(from_json(R"({"train": "lora:4"})"), train("lora:4"));
}

TEST(Tuning, PlansWithNonsenseSayWhere) {
  const auto message = [](const std::string& text) -> std::string {
    try {
      (void)from_json(text);
    } catch (const InputError& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_EQ(message(R"({"train": {}})"), "plan.json: line 1, train: 'lora' or 'layers' is expected");
  EXPECT_EQ(message(R"({"train": {"lora": {"rank": 8, "targets": ["o_proj", "o_proj"]}}})"),
            "plan.json: line 1, train.lora.targets: the target 'o_proj' is named twice");
  EXPECT_EQ(message(R"({"freeze": "head"})"), "plan.json: line 1, freeze: a list of names is expected");
  EXPECT_EQ(message(R"({"frozen_bits": 6})"), "plan.json: line 1, frozen_bits: 4, 8 or 16 is expected");
}

}  // namespace
}  // namespace nest::model
