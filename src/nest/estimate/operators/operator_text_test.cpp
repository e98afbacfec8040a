#include "nest/estimate/operators/operator_text.hpp"

#include <gtest/gtest.h>

#include "nest/base/error.hpp"

namespace nest::estimate {
namespace {

const OperatorTimes& h200() {
  static const OperatorTimes kTimes(find_accelerator("h200"));
  return kTimes;
}

std::string refusal(const std::string& text) {
  try {
    static_cast<void>(parse_operator(text));
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(OperatorText, AProductHasThreePasses) {
  const OperatorTime time = operator_time(h200(), "matmul:8192,8192,8192");
  EXPECT_NEAR(2.0 * 8192 * 8192 * 8192 / time.forward.value / 1e12, 690, 60);
  EXPECT_NEAR(time.backward().value / time.forward.value, 2, 0.2);
  EXPECT_GT(time.backward_weight.value, 0);
}

TEST(OperatorText, EveryFormIsRead) {
  for (const OperatorForm& form : operator_forms()) {
    std::string text = std::string(form.name) + ":64";
    for (const char c : form.arguments) {
      if (c == ',') text += ",64";
    }
    const OperatorTime time = operator_time(h200(), text);
    EXPECT_GT(time.forward.value, 0) << text;
  }
}

TEST(OperatorText, ArgumentsGoWhereTheProfileHasThem) {
  EXPECT_EQ(parse_operator("embedding:100,200,300")[0].call.sizes,
            (std::array<std::int64_t, 8>{300, 200, 100}));
  EXPECT_EQ(parse_operator("attention:1,2048,32,8,128")[0].call.sizes,
            (std::array<std::int64_t, 8>{1, 2048, 32, 8, 128, 128, 1}));
  EXPECT_EQ(parse_operator("attention_full:1,2048,32,8,128")[0].call.sizes[6], 0);
  EXPECT_EQ(parse_operator("copy:2000")[0].call.sizes[0], 1000);
}

TEST(OperatorText, MistakesAreExplained) {
  EXPECT_EQ(refusal("matmull:1,2,3"),
            "--operator matmull:1,2,3: unknown operator 'matmull'; did you mean 'matmul'?");
  EXPECT_EQ(refusal("matmul"), "--operator matmul: its sizes are missing; write matmul:m,n,k");
  EXPECT_EQ(refusal("matmul:1,2"), "--operator matmul:1,2: 2 sizes, not 3; write matmul:m,n,k");
  EXPECT_EQ(refusal("matmul:1,2,x"), "--operator matmul:1,2,x: 'x' is not a whole number");
  EXPECT_EQ(refusal("matmul:1,2,"), "--operator matmul:1,2,: '' is not a whole number");
  EXPECT_EQ(refusal("matmul:1,2,0"), "--operator matmul:1,2,0: sizes are whole numbers from 1 to 1e12");
  EXPECT_EQ(refusal("attention:1,2048,32,5,128"),
            "--operator attention:1,2048,32,5,128: heads are a multiple of key-value heads; write "
            "attention:b,s,heads,kv,d");
  EXPECT_NE(refusal("matmul:1000000000000,1000000000000,1000000000000"), "");
  EXPECT_NE(refusal(""), "");
}

}  // namespace
}  // namespace nest::estimate
