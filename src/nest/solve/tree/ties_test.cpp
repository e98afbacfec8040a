#include "nest/solve/tree/ties.hpp"

#include <gtest/gtest.h>

namespace nest::solve {
namespace {

LayerGraph chain_of(std::int32_t layers, const std::vector<std::vector<int>>& shared) {
  LayerProfile profile;
  ProfileStrategy& s = profile.strategies.emplace_back();
  s.layers.resize(static_cast<std::size_t>(layers));
  for (std::int32_t i = 0; i + 1 < layers; ++i) s.edges.push_back({LayerId{i}, LayerId{i + 1}, "", Bytes{1}});
  for (const std::vector<int>& ids : shared) {
    ProfileShared& weight = profile.shared.emplace_back();
    for (const int id : ids) weight.layers.emplace_back(id);
  }
  return LayerGraph(profile);
}

// Where a weight's stages are known beforehand there is one question; else one for each pair of stages, and
// one for plans that keep all users together.
TEST(Ties, QuestionsAboutSharedWeights) {
  const auto all = [](const LayerGraph& graph, std::int64_t stages) { return tie_questions(graph, stages); };
  ASSERT_EQ(all(chain_of(4, {}), 3).size(), 1U);
  EXPECT_EQ(all(chain_of(4, {}), 3)[0].ties, FillQuestion::Ties::any);
  ASSERT_EQ(all(chain_of(4, {{0, 3}}), 3).size(), 1U);
  EXPECT_EQ(all(chain_of(4, {{0, 3}}), 3)[0].first, 0U);
  EXPECT_EQ(all(chain_of(4, {{0, 3}}), 3)[0].last, 2U);
  EXPECT_EQ(all(chain_of(4, {{0, 2}}), 1).size(), 1U);
  const std::vector<TieQuestion> pairs = all(chain_of(4, {{0, 2}}), 3);
  ASSERT_EQ(pairs.size(), 1U + 3);
  EXPECT_EQ(pairs[0].ties, FillQuestion::Ties::none);
  EXPECT_EQ(pairs[3].ties, FillQuestion::Ties::between);
  EXPECT_EQ(pairs[3].first, 1U);
  EXPECT_EQ(pairs[3].last, 2U);
}

// Under ZB-V the first stage has the last layer too: a weight of both ends is in one stage, and a third user may be
// anywhere.
TEST(Ties, ChunksThatComeBackEndInTheFirstStage) {
  EXPECT_EQ(tie_questions(chain_of(8, {{0, 7}}), 4, Schedule::zb_v).size(), 1U);
  EXPECT_EQ(tie_questions(chain_of(8, {{0, 2, 7}}), 4, Schedule::zb_v).size(), 1U + 6);
  EXPECT_EQ(tie_questions(chain_of(8, {{0, 2, 7}}), 4, Schedule::interleaved).size(), 1U);
}

}  // namespace
}  // namespace nest::solve
