#include "nest/model/hub/expression_values.hpp"

#include <gtest/gtest.h>

#include "nest/base/error.hpp"

namespace nest::model {
namespace {

Value list(std::initializer_list<Value> values) {
  Value out = Value::array();
  for (const Value& v : values) out.push(v);
  return out;
}

TEST(ExpressionValues, WholeNumbersStayWhole) {
  EXPECT_EQ(arithmetic("/", 12, 4), Value(3));
  EXPECT_EQ(arithmetic("//", 14, 4), Value(3));
  EXPECT_EQ(arithmetic("*", Value(0.5), 128), Value(64)) << "a share of a size that comes out even is a size";
  EXPECT_EQ(arithmetic("+", Value(0.5), 1), Value(1.5));
  EXPECT_THROW(static_cast<void>(arithmetic("/", 13, 4)), InputError);
  EXPECT_THROW(static_cast<void>(arithmetic("/", 13, 0)), InputError);
  EXPECT_THROW(static_cast<void>(arithmetic("+", Value("x"), 1)), InputError);
}

TEST(ExpressionValues, Comparisons) {
  EXPECT_EQ(compare("in", 3, list({1, 3})), Value(true));
  EXPECT_EQ(compare("==", Value(2), Value(2.0)), Value(true));
  EXPECT_EQ(compare("!=", Value("a"), Value("b")), Value(true));
  EXPECT_EQ(compare("<=", 3, 3), Value(true));
  EXPECT_THROW(static_cast<void>(compare("<", Value("a"), 3)), InputError);
}

TEST(ExpressionValues, Functions) {
  EXPECT_EQ(call_function("len", {list({1, 2, 3})}), Value(3));
  EXPECT_EQ(call_function("len", {Value("MEM*")}), Value(4));
  EXPECT_EQ(call_function("sum", {list({1, 2, 3})}), Value(6));
  EXPECT_EQ(call_function("min", {4, 2, 9}), Value(2));
  EXPECT_EQ(call_function("max", {4, 2, 9}), Value(9));
  EXPECT_EQ(call_function("count", {list({1, 2, 1}), 1}), Value(2));
  EXPECT_EQ(call_function("root", {12}), Value(3)) << "rounded down";
  EXPECT_EQ(call_function("power", {16, Value(-0.5)}), Value(0.25));
}

TEST(ExpressionValues, Elements) {
  EXPECT_EQ(element_of(list({5, 6}), 1), Value(6));
  EXPECT_EQ(element_of(list({5, 6}), 2), Value());
  EXPECT_EQ(element_of(Value("M-*"), 2), Value("*"));
  EXPECT_EQ(element_of(Value(), 0), Value());
}

}  // namespace
}  // namespace nest::model
