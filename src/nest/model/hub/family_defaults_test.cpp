#include "nest/model/hub/family_defaults.hpp"

#include <gtest/gtest.h>

#include "nest/base/document/document.hpp"

namespace nest::model {
namespace {

Value filled(const char* config, const char* type) {
  return with_defaults(parse_json("config.json", config).root, type);
}

std::string at(const Value& config, const char* part, const char* key) {
  const Value* inner = config.find(part);
  const Value* value = inner == nullptr ? nullptr : inner->find(key);
  return value == nullptr ? "none" : to_json_line(*value);
}

TEST(FamilyDefaults, PartsThatAreLeftOutHaveThoseOfTheirTypes) {
  const Value config = filled(R"({"model_type": "gemma3"})", "gemma3");
  EXPECT_EQ(at(config, "text_config", "num_hidden_layers"), "26");
  EXPECT_EQ(at(config, "vision_config", "num_hidden_layers"), "12");
}

TEST(FamilyDefaults, WhatAPartSaysStays) {
  const Value config = filled(R"({"text_config": {"num_hidden_layers": 7, "unknown": "kept"}})", "gemma3");
  EXPECT_EQ(at(config, "text_config", "num_hidden_layers"), "7");
  EXPECT_EQ(at(config, "text_config", "unknown"), "\"kept\"");
  EXPECT_EQ(at(config, "text_config", "hidden_size"), "2304");
}

TEST(FamilyDefaults, AConfigWithoutPartsStaysAsItIs) {
  const char* text = R"({"model_type": "llama", "hidden_size": 64})";
  EXPECT_EQ(to_json(filled(text, "llama")), to_json(parse_json("config.json", text).root));
  EXPECT_EQ(to_json(filled(text, "no such type")), to_json(parse_json("config.json", text).root));
}

}  // namespace
}  // namespace nest::model
