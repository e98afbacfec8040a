#include "exports.hpp"

#include <gtest/gtest.h>

#include "api_error.hpp"
#include "safe_inputs.hpp"

namespace nest::server {
namespace {

TEST(Exports, ThePlanItself) {
  Warnings warnings;
  const Value plan = parse_json("x", R"({"inputs": {"model": "llama3.1-8b", "cluster": "h100-spine-leaf"},
      "parallelism": {"tensor": 8, "data": 128, "zero": 1}})")
                         .root;
  const Value out = exported(find_target("json"), open_safe_plan(safe_plan(plan, "plan"), {}, warnings));
  const Value& file = out.find("files")->as_array()->front();
  EXPECT_EQ(*file.find("name")->as_string(), "plan.json");
  const Value back = parse_json("plan.json", *file.find("text")->as_string()).root;
  EXPECT_EQ(*back.find("status")->as_string(), "feasible");
  EXPECT_NE(back.find("predicted"), nullptr);
}

Value exported_to(const char* target, const char* parallelism) {
  Warnings warnings;
  const Value plan = parse_json("x", std::string(
                                         R"({"inputs": {"model": "llama3.1-8b", "cluster": "h100-spine-leaf"},
      "parallelism": )") + parallelism + "}")
                         .root;
  return exported(find_target(target), open_safe_plan(safe_plan(plan, "plan"), {}, warnings));
}

TEST(Exports, LaunchFilesOfAFramework) {
  const Value out = exported_to("megatron", R"({"tensor": 8, "data": 128, "zero": 1})");
  bool arguments = false;
  for (const Value& file : *out.find("files")->as_array()) {
    if (*file.find("name")->as_string() != "megatron_args.txt") continue;
    arguments = file.find("text")->as_string()->find("--tensor-model-parallel-size 8") != std::string::npos;
  }
  EXPECT_TRUE(arguments);
  EXPECT_NE(out.find("lost"), nullptr);
}

TEST(Exports, ReleasesAreNamed) {
  const Value out = exported_to("megatron@0.16.1", R"({"tensor": 8, "data": 128, "zero": 1})");
  bool named = false;
  for (const Value& release : *out.find("releases")->as_array())
    named = named || *release.as_string() == "core_v0.16";
  EXPECT_TRUE(named);
  for (const auto& [target, problem] :
       {std::pair("megatron@core_v0.2",
                  "Megatron-LM 'core_v0.2' is not supported, core_v0.14 to core_v0.19 and main are; "
                  "the nearest is 'megatron@core_v0.14'"),
        {"placement@1", "placement has no releases"},
        {"json@1", "there is no target 'json'"}}) {
    try {
      (void)find_target(target);
      FAIL() << target;
    } catch (const ApiError& error) {
      EXPECT_EQ(error.what(), std::string(problem));
    }
  }
}

TEST(Exports, RulesAreRefusals) {
  try {
    (void)exported_to("torchtitan", R"({"tensor": 8, "data": 128, "zero": 1})");
    FAIL();
  } catch (const ApiError& error) {
    EXPECT_EQ(error.status, 400);
    EXPECT_NE(error.hint.find("no-zero-1"), std::string::npos) << error.hint;
  }
}

TEST(Exports, UnknownTargets) {
  try {
    (void)find_target("megatorn");
    FAIL();
  } catch (const ApiError& error) {
    EXPECT_EQ(error.status, 400);
    EXPECT_NE(error.hint.find("json"), std::string::npos);
  }
}

}  // namespace
}  // namespace nest::server
