#include "nest/question/space_options.hpp"

#include <gtest/gtest.h>

namespace nest::question {
namespace {

std::string problem_of(std::string_view name, std::string_view text) {
  SearchSpace space;
  const auto problem = read_space_option(*find_space_option(name), text, space);
  return problem ? problem->what + (problem->impossible ? " (impossible)" : "") : "";
}

std::string read_back(std::string_view name, std::string_view text) {
  SearchSpace space;
  const SpaceOption& option = *find_space_option(name);
  EXPECT_TRUE(is_open(option, space));
  EXPECT_FALSE(read_space_option(option, text, space)) << text;
  EXPECT_FALSE(is_open(option, space));
  std::string text_again = spell(option, space);
  open_up(option, space);
  EXPECT_TRUE(is_open(option, space));
  EXPECT_EQ(spell(option, space), "any");
  return text_again;
}

TEST(SpaceOptions, EveryChoiceIsReadAndSpelt) {
  for (const SpaceOption& option : space_options()) {
    if (!std::holds_alternative<Choice SearchSpace::*>(option.member)) continue;
    EXPECT_EQ(read_back(option.name, "1,2..3"), "1,2..3") << option.name;
  }
  EXPECT_EQ(read_back("zero", "0"), "0");
  EXPECT_EQ(read_back("sequence-parallel", "on"), "on");
  EXPECT_EQ(read_back("first-stage-first", "off,on,off"), "off,on");
  EXPECT_EQ(read_back("context-method", "all_to_all"), "all_to_all");
  EXPECT_EQ(read_back("context-method", "hybrid,ring"), "hybrid,ring");
  EXPECT_EQ(read_back("context-method", "auto"), "ring,all_to_all,hybrid");
  EXPECT_EQ(read_back("schedule", "gpipe,zb-h1"), "gpipe,zb-h1");
  EXPECT_EQ(read_back("recompute", "none,full:2,full"), "none,full:2,full");
  EXPECT_EQ(read_back("offload", "none,activations+optimizer"), "none,activations+optimizer");
  EXPECT_EQ(read_back("offload", "auto"), "none,optimizer,activations,activations+optimizer");
  EXPECT_EQ(read_back("recompute", "modules:moe_act+layernorm,modules"), "modules:layernorm+moe_act,modules");
}

TEST(SpaceOptions, SayWhyATextHasNoValues) {
  EXPECT_EQ(problem_of("tensor", "2..x"), "'2..x' is not a number, a list or a range; try 1,2,4 or 2..16");
  EXPECT_EQ(problem_of("tensor", "1,16..2"), "'1,16..2' ends before it starts");
  EXPECT_EQ(problem_of("tensor", ""), "'' is not a number, a list or a range; try 1,2,4 or 2..16");
  EXPECT_EQ(problem_of("tensor", "0"), "0 is less than 1, the smallest value allowed (impossible)");
  EXPECT_EQ(problem_of("zero", "1..4"), "4 is more than 3, the largest value allowed (impossible)");
  EXPECT_EQ(problem_of("sequence-parallel", "yes"), "on or off is expected, not 'yes'");
  EXPECT_EQ(
      problem_of("schedule", "1f1b,gpip"),
      "1f1b, interleaved, gpipe, zb-h1, zb-v or dualpipe-v is expected, not 'gpip'; did you mean 'gpipe'?");
  EXPECT_EQ(problem_of("context-method", "hybrids"),
            "ring, all_to_all or hybrid is expected, not 'hybrids'; did you mean 'hybrid'?");
  EXPECT_EQ(problem_of("offload", "weights"),
            "none, optimizer, activations or activations+optimizer is expected, not 'weights'");
  EXPECT_EQ(problem_of("recompute", "some"), "none, selective, modules or full is expected, not 'some'");
  EXPECT_EQ(problem_of("recompute", "modules:layernorm+moe_atc"),
            "there is no module 'moe_atc'; did you mean 'moe_act'?");
  EXPECT_EQ(problem_of("recompute", "modules:"),
            "there is no module ''; there are core_attn, mla_up_proj, layernorm, moe_act, mlp, moe, "
            "shared_experts");
  EXPECT_EQ(problem_of("recompute", "none:2"),
            "'none:2' is not a policy; only full takes a number of layers, as in full:2");
  EXPECT_EQ(problem_of("recompute", "full:0"),
            "'full:0' is not a policy; only full takes a number of layers, as in full:2");
}

TEST(SpaceOptions, AFailedReadingChangesNothing) {
  SearchSpace space;
  space.tensor = Choice(4);
  EXPECT_TRUE(read_space_option(*find_space_option("tensor"), "x", space));
  EXPECT_EQ(space.tensor, Choice(4));
}

TEST(SpaceOptions, UnknownNamesAreNone) {
  EXPECT_EQ(find_space_option("tensors"), nullptr);
}

TEST(SpaceOptions, FrameworksCloseWhatTheyCannotRun) {
  SearchSpace megatron;
  apply_framework(*find_framework_rules("megatron"), megatron);
  EXPECT_TRUE(megatron.same_recompute);
  EXPECT_TRUE(megatron.recompute.empty());
  EXPECT_TRUE(megatron.context_methods.empty());
  EXPECT_TRUE(megatron.sequence_parallel.empty());
  SearchSpace deepspeed;
  apply_framework(*find_framework_rules("deepspeed"), deepspeed);
  EXPECT_EQ(deepspeed.context_methods, std::vector<ContextMethod>{ContextMethod::all_to_all});
  EXPECT_EQ(deepspeed.recompute.size(), 2U);
  EXPECT_EQ(deepspeed.sequence_parallel, std::vector<bool>{false});
  SearchSpace torchtitan;
  apply_framework(*find_framework_rules("torchtitan"), torchtitan);
  EXPECT_TRUE(torchtitan.context_methods.empty());
  EXPECT_TRUE(torchtitan.sequence_parallel.empty());
  EXPECT_EQ(torchtitan.recompute.size(), 3U);
}

}  // namespace
}  // namespace nest::question
