#include "nest/question/asked_value.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/message_of.hpp"

namespace nest::question {
namespace {

Value list(std::initializer_list<Value> items) {
  Value v = Value::array();
  for (const Value& item : items) v.push(item);
  return v;
}

TEST(AskedValue, IsWrittenAsTheCommandLineHasIt) {
  EXPECT_EQ(asked_text(4), "4");
  EXPECT_EQ(asked_text("2..16"), "2..16");
  EXPECT_EQ(asked_text(true), "on");
  EXPECT_EQ(asked_text(false), "off");
  EXPECT_EQ(asked_text(0.02), "0.02");
  EXPECT_EQ(asked_text(1e6), "1000000");
  EXPECT_EQ(asked_text(list({1, 2})), "1,2");
  EXPECT_EQ(asked_text(list({true, false})), "on,off");
  EXPECT_EQ(asked_text(list({"none", "full:2"})), "none,full:2");
}

TEST(AskedValue, OtherThingsAreNone) {
  EXPECT_FALSE(asked_text(Value()));
  EXPECT_FALSE(asked_text(Value::object()));
  EXPECT_FALSE(asked_text(Value::array()));
  EXPECT_FALSE(asked_text(list({list({1})})));
  EXPECT_FALSE(asked_text(list({1, Value()})));
}

TEST(AskedValue, FillsInAFieldOrNamesIt) {
  Asked asked;
  set_asked_value(asked, "global_batch", 512);
  set_asked_value(asked, "tensor", list({1, 8}));
  EXPECT_EQ(asked.global_batch, 512);
  EXPECT_FALSE(asked.choices.tensor.has(2));
  EXPECT_EQ(message_of([&] { set_asked_value(asked, "gap", Value::object()); }),
            "gap: a number, a word or a list is expected");
  EXPECT_EQ(message_of([&] { set_asked_value(asked, "devises", 8); }),
            "devises: there is no such field; did you mean 'devices'?");
}

}  // namespace
}  // namespace nest::question
