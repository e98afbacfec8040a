#include "nest/model/hub/family_files.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace nest::model {
namespace {

const FamilyFile* named(const std::string& name) {
  const std::vector<FamilyFile>& all = family_table();
  const auto at = std::find_if(all.begin(), all.end(), [&](const FamilyFile& f) { return f.name == name; });
  return at == all.end() ? nullptr : &*at;
}

TEST(FamilyFiles, TheTableHasPrefixesAndSources) {
  ASSERT_NE(named("gpt_oss"), nullptr);
  EXPECT_EQ(named("gpt_oss")->prefix, "GptOss");
  EXPECT_NE(named("gpt_oss")->source, "");
  ASSERT_NE(named("decoder"), nullptr);
  EXPECT_EQ(named("decoder")->prefix, "") << "what others are like has no class";
  EXPECT_TRUE(std::is_sorted(family_table().begin(), family_table().end(),
                             [](const FamilyFile& a, const FamilyFile& b) { return a.name < b.name; }));
}

TEST(FamilyFiles, EveryFileIsYamlWithASource) {
  for (const FamilyFile& file : family_table()) {
    const auto document = family_document(file.name);
    ASSERT_TRUE(document) << file.name;
    EXPECT_NE(document->root.as_object(), nullptr) << file.name;
    EXPECT_NE(file.source, "") << file.name;
  }
  EXPECT_FALSE(family_document("no such family"));
}

}  // namespace
}  // namespace nest::model
