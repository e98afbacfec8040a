#include "nest/base/error.hpp"

#include <gtest/gtest.h>

#include <string>

namespace nest::base {
namespace {

TEST(InputError, IsOneSentence) {
  const InputError error("pods.yaml", "line 5, levels[1]", "unknown key 'bandwith'",
                         "did you mean 'bandwidth'?");
  EXPECT_STREQ(error.what(),
               "pods.yaml: line 5, levels[1]: unknown key 'bandwith'; did you mean 'bandwidth'?");
  EXPECT_EQ(error.file(), "pods.yaml");
  EXPECT_EQ(error.place(), "line 5, levels[1]");
  EXPECT_EQ(error.problem(), "unknown key 'bandwith'");
  EXPECT_EQ(error.hint(), "did you mean 'bandwidth'?");
}

TEST(InputError, LeavesOutWhatIsEmpty) {
  EXPECT_STREQ(InputError("a.json", "", "no such file").what(), "a.json: no such file");
  EXPECT_STREQ(InputError("", "", "no such model").what(), "no such model");
  EXPECT_STREQ(InputError("", "line 2", "odd", "look").what(), "line 2: odd; look");
}

TEST(InputError, KeepsControlCharactersOfTheInputOutOfTheSentence) {
  EXPECT_STREQ(InputError("a\nb", "", "'\x1b[31mred\x7f' and \t tab").what(), "a?b: '?[31mred?' and ? tab");
  EXPECT_STREQ(InputError("", "", "caf\xc3\xa9").what(), "caf\xc3\xa9");
}

}  // namespace
}  // namespace nest::base
