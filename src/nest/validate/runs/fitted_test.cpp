#include "nest/validate/runs/fitted.hpp"

#include <gtest/gtest.h>

namespace nest::validate {
namespace {

TEST(Fitted, AcceleratorsCarryWhatTheTableSays) {
  for (const FittedConstant& c : fitted_constants_of_runs()) {
    if (!c.what.starts_with("share of the 16-bit peak")) continue;
    const Accelerator& a = find_accelerator(c.subject);
    EXPECT_EQ(a.matmul_share(MathType::bf16).value, c.value) << c.subject;
    EXPECT_EQ(without_fit(a, std::string(c.project)).matmul_share(MathType::bf16).value, c.without)
        << c.subject;
    EXPECT_EQ(without_fit(a, "somebody else"), a) << c.subject;
  }
}

TEST(Fitted, AFrameworksConstantsGoIntoItsRecipe) {
  Recipe recipe = named_recipe("deepspeed");
  put_fitted(recipe, "deepspeed");
  EXPECT_EQ(recipe.zero_time, 8);
  put_fitted(recipe, "deepspeed", "Narayanan");
  EXPECT_EQ(recipe.zero_time, 1);
  const Recipe before = recipe;
  put_fitted(recipe, "torchtitan");
  EXPECT_EQ(recipe, before);
}

}  // namespace
}  // namespace nest::validate
