#include "nest/plan/text/contents_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nest/base/document/document.hpp"
#include "nest/base/error.hpp"

namespace nest::plan {
namespace {

std::string message(const std::string& text) {
  const Document document = parse_json("plan.json", text);
  Reader reader(document);
  try {
    static_cast<void>(read_contents(reader));
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(ContentsText, UsualOnesAreNotWritten) {
  Value training = Value::object();
  set_contents(training, {});
  EXPECT_EQ(to_json_line(training), "{}");
}

TEST(ContentsText, AreReadAsTheyWereWritten) {
  Contents contents;
  contents.lengths = std::make_shared<const Lengths>(Lengths({{512, 900}, {8192, 100}}));
  contents.images = 0.5;
  contents.image_tokens = 256;
  Value training = Value::object();
  set_contents(training, contents);
  const Document document = parse_json("plan.json", to_json(training));
  Reader reader(document);
  EXPECT_EQ(read_contents(reader), contents);
}

TEST(ContentsText, BadOnesAreNamed) {
  EXPECT_THAT(message(R"({"lengths": {"histogram": [[512]]}})"),
              testing::HasSubstr("a row is [length, count], two whole numbers from 1 on"));
  EXPECT_THAT(message(R"({"lengths": {}})"), testing::HasSubstr("a list of [length, count] is expected"));
  EXPECT_THAT(message(R"({"lengths": {"histogram": [[1, 2]], "mean": 3}})"), testing::HasSubstr("'mean'"));
  EXPECT_THAT(message(R"({"images": -1})"), testing::HasSubstr("a number of images, 0 or more, is expected"));
}

}  // namespace
}  // namespace nest::plan
