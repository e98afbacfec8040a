#include "nest/base/closest.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace nest::base {
namespace {

using Words = std::vector<std::string>;

TEST(EditDistance, CountsInsertDeleteReplaceAndSwap) {
  EXPECT_EQ(edit_distance("", ""), 0);
  EXPECT_EQ(edit_distance("abc", ""), 3);
  EXPECT_EQ(edit_distance("", "ab"), 2);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3);
  EXPECT_EQ(edit_distance("bandwith", "bandwidth"), 1);
  EXPECT_EQ(edit_distance("levles", "levels"), 1);  // a swap of neighbours is one edit
  EXPECT_EQ(edit_distance("GiB", "gib"), 0);        // letter case is ignored
}

// The definition, written down without a table.
int slow_distance(const std::string& a, const std::string& b) {
  if (a.empty() || b.empty()) return static_cast<int>(a.size() + b.size());
  const std::string a1 = a.substr(1);
  const std::string b1 = b.substr(1);
  int best = std::min(
      {slow_distance(a1, b) + 1, slow_distance(a, b1) + 1, slow_distance(a1, b1) + (a[0] == b[0] ? 0 : 1)});
  if (a.size() > 1 && b.size() > 1 && a[0] == b[1] && a[1] == b[0]) {
    best = std::min(best, slow_distance(a.substr(2), b.substr(2)) + 1);
  }
  return best;
}

RC_GTEST_PROP(EditDistance, AgreesWithItsDefinition, ()) {
  const auto word = [] {
    return rc::gen::resize(5, rc::gen::container<std::string>(rc::gen::elementOf(std::string("abc"))));
  };
  const std::string a = *word();
  const std::string b = *word();
  RC_ASSERT(edit_distance(a, b) == slow_distance(a, b));
}

TEST(Closest, TakesTheFewestEditsAndTheFirstOfTies) {
  const Words known{"latency", "bandwidth", "size", "sizes"};
  EXPECT_EQ(closest("bandwith", known), "bandwidth");
  EXPECT_EQ(closest("latancy", known), "latency");
  EXPECT_EQ(closest("sized", known), "size");  // one edit from size and from sizes: the first
  EXPECT_EQ(closest("Bandwidth", known), "bandwidth");
}

TEST(Closest, AllowsAThirdOfTheLetters) {
  EXPECT_EQ(closest("abcdef", Words{"abcdxy"}), "abcdxy");      // 2 of 6
  EXPECT_EQ(closest("abcdef", Words{"abcxyz"}), std::nullopt);  // 3 of 6
  EXPECT_EQ(closest("ab", Words{"ac"}), "ac");                  // one edit is always allowed
  EXPECT_EQ(closest("ab", Words{"cd"}), std::nullopt);
}

TEST(Closest, NeverReplacesEveryLetter) {
  EXPECT_EQ(closest("a", Words{"b", ""}), std::nullopt);
  EXPECT_EQ(closest("a", Words{"b", "ab"}), "ab");
}

TEST(Closest, TakesTheShortestWordThatGoesOnWhereNothingIsNear) {
  const Words known{"llama3.1-405b", "llama3.1-8b", "gpt2-xl"};
  EXPECT_EQ(closest("llama3", known), "llama3.1-8b");
  EXPECT_EQ(closest("ll", known), std::nullopt);  // too little to go by
}

TEST(Closest, SaysNothingAboutNothingAndAboutNovels) {
  EXPECT_EQ(closest("", Words{"a"}), std::nullopt);
  EXPECT_EQ(closest(std::string(201, 'a'), Words{std::string(201, 'a')}), std::nullopt);
  EXPECT_EQ(closest("size", Words{}), std::nullopt);
}

TEST(Nearest, IsSortedByEditsAndBounded) {
  const Words known{"gpt2-xl", "gpt3", "gpt2", "bert"};
  EXPECT_EQ(nearest("gpt4", known, 1, 3), (Words{"gpt3", "gpt2"}));
  EXPECT_EQ(nearest("gpt2", known, 3, 2), (Words{"gpt2", "gpt3"}));
  EXPECT_EQ(nearest("gpt2", known, 0, 3), Words{"gpt2"});
  EXPECT_EQ(nearest("whisper", known, 2, 3), Words{});
}

TEST(DidYouMean, IsAQuestionOrNothing) {
  EXPECT_EQ(did_you_mean("bandwith", Words{"bandwidth"}), "did you mean 'bandwidth'?");
  EXPECT_EQ(did_you_mean("colour", Words{"bandwidth"}), "");
}

}  // namespace
}  // namespace nest::base
