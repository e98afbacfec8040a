#include "nest/plan/text/read_recompute.hpp"

#include <gtest/gtest.h>

#include "nest/plan/text/plan_json.hpp"
#include "support/message_of.hpp"

namespace nest::plan {
namespace {

using enum RecomputeModule;

Plan plan_of(const std::string& text) {
  const Document document = parse_json("p.json", text);
  Reader reader(document);
  Warnings unheard;
  return read_plan(reader, named_recipe("megatron"), unheard);
}

Recompute of_stage(const std::string& recompute) {
  return plan_of(R"({"stages": [{"recompute": )" + recompute + "}]}").stages.front().recompute;
}

std::string message(const std::string& recompute) {
  return message_of([&] { static_cast<void>(of_stage(recompute)); });
}

TEST(ReadRecompute, Modules) {
  const Recompute two{RecomputePolicy::modules, 0, {mla_up_proj, moe_act}};
  EXPECT_EQ(of_stage(R"({"policy": "modules", "modules": ["moe_act", "mla_up_proj"]})"), two);
  EXPECT_EQ(of_stage(R"("modules:mla_up_proj+moe_act")"), two);
  EXPECT_EQ(of_stage(R"({"policy": "modules", "modules": ["mlp"], "layers": 2})"),
            (Recompute{RecomputePolicy::modules, 2, {mlp}}));
  EXPECT_EQ(of_stage(R"({"policy": "full", "layers": 2})"), (Recompute{RecomputePolicy::full, 2}));
  EXPECT_EQ(spell(two), "modules mla_up_proj, moe_act");
  EXPECT_EQ(spell(Recompute{RecomputePolicy::modules, 1, {mlp}}), "modules mlp on 1 layer");
}

TEST(ReadRecompute, OneSetForAllStages) {
  const std::string set = R"({"policy": "modules", "modules": ["mlp"]})";
  const Plan plan = plan_of(R"({"parallelism": {"recompute": )" + set + R"(}, "stages": [{}]})");
  EXPECT_EQ(plan.stages.front().recompute, (Recompute{RecomputePolicy::modules, 0, {mlp}}));
  // What a plan file says of all its stages in one word, they say one by one.
  const std::string word = R"({"parallelism": {"recompute": "modules"}, "stages": [{"recompute": )";
  EXPECT_EQ(plan_of(word + set + "}]}").stages.front().recompute, plan.stages.front().recompute);
}

TEST(ReadRecompute, SaysWhatIsWrong) {
  const std::string at = "p.json: line 1, stages[0].recompute";
  EXPECT_EQ(message(R"({"policy": "modules", "modules": ["moe_atc"]})"),
            at + ".modules: there is no module 'moe_atc'; did you mean 'moe_act'?");
  EXPECT_EQ(
      message(R"({"policy": "modules", "modules": []})"),
      at +
          ".modules: a list of modules is expected; of core_attn, mla_up_proj, layernorm, moe_act, mlp, moe, "
          "shared_experts");
  EXPECT_EQ(
      message(R"({"policy": "modules", "modules": [1]})"),
      at + ".modules: the names of modules are expected; of core_attn, mla_up_proj, layernorm, moe_act, mlp, "
           "moe, shared_experts");
  EXPECT_EQ(message(R"({"policy": "modules"})"),
            at + ".policy: the policy 'modules' wants their names in \"modules\"");
  EXPECT_EQ(message(R"({"policy": "full", "modules": ["mlp"]})"),
            at + ".modules: a list of modules goes with the policy 'modules'");
  EXPECT_EQ(message(R"("modules:mpl")"), at + ": there is no module 'mpl'; did you mean 'mlp'?");
  EXPECT_EQ(message(R"("modules")"),
            at + ": it is not said which modules run again; \"modules:layernorm+moe_act\", for example");
  EXPECT_EQ(message_of([] {
              static_cast<void>(plan_of(R"({"parallelism": {"recompute": "modules"}, "stages": [{}]})"));
            }),
            "p.json: line 1, stages[0]: it is not said which modules run again");
}

}  // namespace
}  // namespace nest::plan
