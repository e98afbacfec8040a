#include "nest/solve/twin/all_cuts.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>

#include "nest/model/hub/test_configs.hpp"

namespace nest::solve {
namespace {

LayerGraph graph_of(std::int32_t layers, const std::vector<std::pair<int, int>>& edges) {
  LayerProfile profile;
  ProfileStrategy& s = profile.strategies.emplace_back();
  s.layers.resize(static_cast<std::size_t>(layers));
  for (const auto& [from, to] : edges) s.edges.push_back({LayerId{from}, LayerId{to}, "", Bytes{1}});
  return LayerGraph(profile);
}

LayerGraph chain(std::int32_t layers) {
  std::vector<std::pair<int, int>> edges;
  for (int i = 0; i + 1 < layers; ++i) edges.emplace_back(i, i + 1);
  return graph_of(layers, edges);
}

std::string spell(const CutParts& cut) {
  std::string text;
  for (const auto& part : cut) {
    text += text.empty() ? "" : "|";
    for (const LayerId id : part) text += std::to_string(id.value);
  }
  return text;
}

std::set<std::string> spelled(const std::vector<CutParts>& cuts) {
  std::set<std::string> all;
  for (const CutParts& cut : cuts)
    EXPECT_TRUE(all.insert(spell(cut)).second) << spell(cut) << " is there twice";
  return all;
}

using Set = std::set<std::string>;

TEST(AllCuts, OfAChain) {
  EXPECT_EQ(spelled(all_cuts(chain(4), 1, 100)), (Set{"0123"}));
  EXPECT_EQ(spelled(all_cuts(chain(4), 2, 100)), (Set{"0|123", "01|23", "012|3"}));
  EXPECT_EQ(spelled(all_cuts(chain(4), 4, 100)), (Set{"0|1|2|3"}));
  EXPECT_EQ(all_cuts(chain(9), 4, 1000).size(), 56U);  // 8 over 3
}

TEST(AllCuts, OfLayersThatNothingJoins) {
  // Every way to deal out three layers: 2^3 - 2 with two stages, 3! with three.
  EXPECT_EQ(spelled(all_cuts(graph_of(3, {}), 2, 100)),
            (Set{"0|12", "1|02", "2|01", "01|2", "02|1", "12|0"}));
  EXPECT_EQ(all_cuts(graph_of(3, {}), 3, 100).size(), 6U);
}

TEST(AllCuts, OfBranches) {
  const LayerGraph diamond = graph_of(4, {{0, 1}, {0, 2}, {1, 3}, {2, 3}});
  EXPECT_EQ(spelled(all_cuts(diamond, 2, 100)), (Set{"0|123", "01|23", "02|13", "012|3"}));
  EXPECT_EQ(spelled(all_cuts(diamond, 4, 100)), (Set{"0|1|2|3", "0|2|1|3"}));
}

TEST(AllCuts, OfEdgesToLowerIds) {
  EXPECT_EQ(spelled(all_cuts(graph_of(3, {{2, 1}, {1, 0}}), 2, 100)), (Set{"2|01", "12|0"}));
}

TEST(AllCuts, NoMoreThanAskedForAndNoneOfTooManyParts) {
  EXPECT_EQ(all_cuts(chain(9), 4, 10).size(), 10U);
  EXPECT_TRUE(all_cuts(chain(3), 4, 10).empty());
}

TEST(AllCuts, ChunksOfEqualBlocks) {
  EXPECT_EQ(spelled(all_chunk_cuts(chain(4), 4)), (Set{"0|1|2|3"}));
  // Six layers: the longer ones first or last, or one fewer at both ends.
  EXPECT_EQ(spelled(all_chunk_cuts(chain(6), 4)), (Set{"01|23|4|5", "0|1|23|45", "0|12|34|5"}));
  EXPECT_TRUE(all_chunk_cuts(chain(3), 4).empty());
  EXPECT_TRUE(all_chunk_cuts(graph_of(4, {{1, 0}}), 4).empty());
}

TEST(AllCuts, ChunksAtTheEndsMayHoldNoBlock) {
  const LayerGraph graph(build_model(spec_of(R"({"model_type": "llama", "num_hidden_layers": 4})")));
  ASSERT_EQ(graph.layers(), 6U);  // the embedding, four blocks, the head
  // Blocks of the four chunks: 1 1 1 1; 2 1 1 0, 1 2 1 0, 1 1 2 0 and their mirror images; 0 2 2 0.
  EXPECT_EQ(spelled(all_chunk_cuts(graph, 4)), (Set{"01|2|3|45", "012|3|4|5", "01|23|4|5", "01|2|34|5",
                                                    "0|1|2|345", "0|1|23|45", "0|12|3|45", "0|12|34|5"}));
}

}  // namespace
}  // namespace nest::solve
