#include "nest/model/hub/family_check.hpp"

#include <gtest/gtest.h>

#include "nest/base/error.hpp"
#include "nest/model/hub/family_files.hpp"

namespace nest::model {
namespace {

std::string message(const std::string& yaml) {
  try {
    check_family(parse_yaml("mine.yaml", yaml));
  } catch (const InputError& e) {
    return e.what();
  }
  return "no error";
}

// Those that are compiled in are not looked at when they are read.
TEST(FamilyCheck, OurOwnFilesPass) {
  for (const FamilyFile& file : family_table())
    EXPECT_NO_THROW(check_family(*family_document(file.name))) << file.name;
}

TEST(FamilyCheck, UnknownKeys) {
  EXPECT_EQ(message("clas: Mine"), "mine.yaml: line 1, clas: unknown key; did you mean 'class'?");
  EXPECT_EQ(message("block:\n  hed_dim: 4"),
            "mine.yaml: line 2, block.hed_dim: unknown key; did you mean 'head_dim'?");
  EXPECT_EQ(message("model: {hiden: width}"),
            "mine.yaml: line 1, model.hiden: unknown key; did you mean 'hidden'?");
  EXPECT_EQ(message("stacks: [{name: a, modle: {hidden: 4}}]"),
            "mine.yaml: line 1, stacks[0].modle: unknown key; did you mean 'model'?");
  EXPECT_EQ(message("stacks: [{name: a, block: {bogus: 4}}]").substr(0, 56),
            "mine.yaml: line 1, stacks[0].block.bogus: unknown key; k");
  EXPECT_EQ(message("parts: {p: [{norm: x, knid: \"'rms'\"}]}"),
            "mine.yaml: line 1, parts.p[0].knid: unknown key; did you mean 'kind'?");
  EXPECT_EQ(message("lists: {layer_types: {konwn: [a]}}"),
            "mine.yaml: line 1, lists.layer_types.konwn: unknown key; did you mean 'known'?");
}

TEST(FamilyCheck, OtherKindsOfValues) {
  EXPECT_EQ(message("special: [1]"), "mine.yaml: line 1, special: a list of texts is expected");
  EXPECT_EQ(message("block: 4"),
            "mine.yaml: line 1, block: a group of keys is expected here, not a whole number");
  EXPECT_EQ(message("block: {heads: [1]}"),
            "mine.yaml: line 1, block.heads: an expression is expected, not a list");
  EXPECT_EQ(message("stacks: [{name: a, family: \"'llama'\"}]"),
            "mine.yaml: line 1, stacks[0]: the key 'config' is missing; it holds a text");
  EXPECT_EQ(message("parts: {p: [{twist: x}]}").substr(0, 66),
            "mine.yaml: line 1, parts.p[0]: a step has no kind that is known; i");
  EXPECT_EQ(message("parts: {p: [{norm: 3}]}"),
            "mine.yaml: line 1, parts.p[0].norm: the name of a value, or a list of names, is expected");
  EXPECT_EQ(message("parts: {p: [{linear: x, to: {q: {}}}]}"),
            "mine.yaml: line 1, parts.p[0].to.q: a shape has one axis or more");
  EXPECT_EQ(message("parts: {p: [{linear: x, to: {q: {wings: 4}}}]}"),
            "mine.yaml: line 1, parts.p[0].to.q.wings: there is no axis 'wings'");
}

TEST(FamilyCheck, TextsThatAreNoExpressions) {
  EXPECT_EQ(message("names: {a: b +}"),
            "mine.yaml: line 1, names.a: 'b +' is no expression: something is wrong at ''");
  EXPECT_EQ(message("names: {a: '" + std::string(500, '(') + "'}"),
            "mine.yaml: line 1, names.a: an expression has more than 100 brackets and signs in each other");
  EXPECT_EQ(message("names: {a: '" + std::string(200'000, '-') + "1'}"),
            "mine.yaml: line 1, names.a: an expression of 200001 letters is longer than 2000");
}

}  // namespace
}  // namespace nest::model
