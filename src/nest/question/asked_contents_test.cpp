#include "nest/question/asked_contents.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace nest::question {
namespace {

std::string message(const std::string& text) {
  try {
    static_cast<void>(parse_lengths("h.csv", text));
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

std::string problem(const char* field, const char* text) {
  Asked asked;
  try {
    set_asked(asked, field, text);
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(AskedContents, FilesHaveLengthsAndCounts) {
  const Lengths expected({{512, 900}, {8192, 100}});
  EXPECT_EQ(parse_lengths("h.csv", "length,count\n512,900\n8192,100\n"), expected);
  EXPECT_EQ(parse_lengths("h.csv", "count,length\r\n900,512\r\n100,8K\r\n"), expected);
  EXPECT_EQ(parse_lengths("h.csv", "# documents\n512, 900\n\n8192, 100"), expected);
  EXPECT_EQ(parse_lengths("h.csv", "length\n3\n5\n3\n"), Lengths({{3, 2}, {5, 1}}));
}

TEST(AskedContents, BadRowsAreNamed) {
  EXPECT_EQ(message("512,900\nlong,3\n"),
            "h.csv: line 2: 'long' is not a number of tokens from 1 to 1,000,000,000; a row is "
            "'length,count', such as "
            "512,900");
  EXPECT_THAT(message("512,900\n512,-1\n"), testing::HasSubstr("line 2: '-1' is not a number of documents"));
  EXPECT_THAT(message("512,900,3\n"), testing::HasSubstr("line 1: a length and a count are expected"));
  EXPECT_THAT(message("tokens,documents\n1,2\n"),
              testing::HasSubstr("line 1: 'tokens' is not a number of tokens"));
  EXPECT_THAT(message("length,count\n"), testing::HasSubstr("there are no documents"));
  EXPECT_THAT(message("1000000000,1000000000000\n"), testing::HasSubstr("more than 1e18 tokens"));
}

TEST(AskedContents, AreReadAndSpelled) {
  Asked asked;
  set_asked(asked, "lengths", "512:900,8K:100");
  set_asked(asked, "images", "0.5");
  set_asked(asked, "image-tokens", "1K");
  EXPECT_EQ(find_asked_field("lengths")->spell(asked), "512:900,8192:100");
  EXPECT_EQ(find_asked_field("images")->spell(asked), "0.5");
  EXPECT_EQ(find_asked_field("image-tokens")->spell(asked), "1024");
  Asked again;
  set_asked(again, "lengths", find_asked_field("lengths")->spell(asked));
  EXPECT_EQ(*again.contents.lengths, *asked.contents.lengths);
}

TEST(AskedContents, SayWhatIsWrong) {
  EXPECT_EQ(problem("images", "-1"),
            "images: '-1' is not a number of images; try 1, 0.5 or 0 for text alone");
  EXPECT_EQ(problem("image-tokens", "many"),
            "image-tokens: 'many' is not a number of tokens from 1 to 16,777,216; try 256");
  EXPECT_EQ(problem("lengths", "512:0.5"),
            "lengths: '0.5' is not a number of documents; try 512:900,8192:100");
  EXPECT_EQ(problem("lengths", "nowhere.csv"), "nowhere.csv: no such file");
}

}  // namespace
}  // namespace nest::question
