#include "nest/estimate/kernels/measured_scanner.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nest/base/error.hpp"

namespace nest::estimate {
namespace {

using testing::ElementsAre;

TEST(JsonScanner, WalksThroughNestedValues) {
  JsonScanner in("x.json",
                 R"({"a": [1, 2.5e-3], "skipped": {"deep": [{"b": "]"}], "c": null}, "d": "text"})");
  std::vector<double> numbers;
  std::string last;
  in.members([&](std::string_view key) {
    if (key == "a") {
      in.items([&] { numbers.push_back(in.number()); });
    } else if (key == "d") {
      last = in.text();
    } else {
      in.skip();
    }
  });
  EXPECT_THAT(numbers, ElementsAre(1, 2.5e-3));
  EXPECT_EQ(last, "text");
}

TEST(JsonScanner, EmptyListsAndObjects) {
  JsonScanner in("x.json", R"({"a": [], "b": {}})");
  int calls = 0;
  in.members([&](std::string_view key) {
    if (key == "a") in.items([&] { ++calls; });
    if (key == "b") in.members([&](std::string_view) { ++calls; });
  });
  EXPECT_EQ(calls, 0);
}

TEST(JsonScanner, NamesTheLineOfAnError) {
  JsonScanner in("x.json", "{\"a\":\n\n  true}");
  try {
    in.members([&](std::string_view) { static_cast<void>(in.number()); });
    FAIL();
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "x.json: line 3: a number is expected here");
  }
}

TEST(JsonScanner, TextThatEndsEarlyIsRefused) {
  for (const char* text : {"{", "{\"a", "{\"a\":", "{\"a\": [1", "{\"a\": [1, {\"b\": \"c\""}) {
    JsonScanner in("x.json", text);
    EXPECT_THROW(in.members([&](std::string_view) { in.skip(); }), InputError) << text;
  }
}

}  // namespace
}  // namespace nest::estimate
