#include "nest/recipe/module_text.hpp"

#include <gtest/gtest.h>

namespace nest::recipe {
namespace {

using enum RecomputeModule;

TEST(ModuleText, ReadsWhatIsSpelled) {
  const RecomputeModules two{moe_act, layernorm};
  EXPECT_EQ(spell(two, "+"), "layernorm+moe_act");
  EXPECT_EQ(read_modules("moe_act+layernorm", '+').modules, two);
  EXPECT_EQ(read_modules("layernorm moe_act layernorm", ' ').modules, two);
  for (std::uint32_t bits = 1; bits < 1U << kMostModules; ++bits) {
    const RecomputeModules set = RecomputeModules::of_bits(bits);
    EXPECT_EQ(read_modules(spell(set, "+"), '+').modules, set);
    EXPECT_EQ(static_cast<std::size_t>(set.count()), names_of(set).size());
  }
}

TEST(ModuleText, NamesWhatIsUnknown) {
  EXPECT_EQ(read_modules("mlp+moe_atc", '+').problem,
            "there is no module 'moe_atc'; did you mean 'moe_act'?");
  const std::string none =
      "there is no module ''; there are core_attn, mla_up_proj, layernorm, moe_act, mlp, moe, shared_experts";
  EXPECT_EQ(read_modules("", '+').problem, none);
  EXPECT_EQ(read_modules("mlp ", ' ').problem, none);
  EXPECT_EQ(all_modules(), "core_attn, mla_up_proj, layernorm, moe_act, mlp, moe, shared_experts");
}

}  // namespace
}  // namespace nest::recipe
