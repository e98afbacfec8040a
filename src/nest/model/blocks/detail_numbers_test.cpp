#include "nest/model/blocks/detail_numbers.hpp"

#include <gtest/gtest.h>

#include "nest/model/zoo.hpp"

namespace nest::model {
namespace {

TEST(DetailNumbers, AreNeutralWhereNothingIsStated) {
  ModelDetails none;
  for (const DetailNumber& number : detail_numbers()) {
    EXPECT_FALSE(states(none, number.name)) << number.name;
    none.numbers[std::string(number.name)] = number.neutral;
    EXPECT_FALSE(states(none, number.name)) << number.name;
    EXPECT_EQ(find_detail_number(number.name)->neutral, number.neutral);
  }
  EXPECT_EQ(number_of({}, "embedding_scale"), 1);
  EXPECT_EQ(number_of({}, "logit_cap"), 0);
  EXPECT_EQ(find_detail_number("nothing"), nullptr);
}

TEST(DetailNumbers, OfFamilies) {
  EXPECT_EQ(number_of(zoo_model("gemma2-9b").details, "attention_cap"), 50);
  EXPECT_EQ(number_of(zoo_model("gpt-oss-20b").details, "activation_slope"), 1.702);
  EXPECT_EQ(number_of(zoo_model("qwen3-next-80b-a3b").details, "delta_kernel"), 4);
  EXPECT_FALSE(states(zoo_model("llama3.1-8b").details, "attention_cap"));
}

}  // namespace
}  // namespace nest::model
