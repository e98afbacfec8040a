#include "nest/solve/baselines/mcmc/mcmc_cuts.hpp"

#include <gtest/gtest.h>

#include <set>
#include <utility>

#include "nest/model/blocks/build.hpp"
#include "nest/model/zoo.hpp"
#include "nest/solve/twin/all_cuts.hpp"

namespace nest::solve {
namespace {

using Edges = std::vector<std::pair<int, int>>;

LayerGraph graph_of(std::size_t layers, const Edges& edges) {
  LayerProfile profile;
  ProfileStrategy& s = profile.strategies.emplace_back();
  s.layers.resize(layers);
  for (const auto& [from, to] : edges) s.edges.push_back({LayerId{from}, LayerId{to}, "", Bytes{1}});
  return LayerGraph(profile);
}

Edges chain(int layers) {
  Edges edges;
  for (int i = 0; i + 1 < layers; ++i) edges.emplace_back(i, i + 1);
  return edges;
}

CutParts parts_of(const McmcCuts& cuts, const StageCut& cut) {
  CutParts parts(cut.cuts.size() + 1);
  for (std::size_t i = 0; i < parts.size(); ++i) cuts.layers_of(cut, static_cast<std::int64_t>(i), parts[i]);
  return parts;
}

std::vector<std::size_t> lengths(const McmcCuts& cuts, const StageCut& cut) {
  std::vector<std::size_t> list;
  for (const auto& part : parts_of(cuts, cut)) list.push_back(part.size());
  return list;
}

// Every cut that a long walk comes to.
std::set<CutParts> walked(const LayerGraph& graph, bool contiguous, std::int64_t stages) {
  const McmcCuts cuts(graph, contiguous);
  SeededRandom random(11);
  std::set<CutParts> seen;
  StageCut cut = cuts.even(stages);
  for (int i = 0; i < 3'000; ++i) {
    StageCut next = cut;
    bool moved = false;
    switch (random.below(4)) {
      case 0:
        moved = cuts.shift(next, random);
        break;
      case 1: {
        const std::int64_t to = random.below(stages);  // one draw, one statement: the order is ours
        const std::int64_t from = random.below(stages);
        moved = cuts.transfer(next, from, to);
        break;
      }
      case 2:
        moved = cuts.reorder(next, random);
        break;
      default:
        moved = cuts.merge(next, random) && cuts.split(next, random);
    }
    if (moved) cut = next;
    seen.insert(parts_of(cuts, cut));
  }
  return seen;
}

std::set<CutParts> every(const LayerGraph& graph, std::size_t stages) {
  const std::vector<CutParts> all = all_cuts(graph, stages, 10'000);
  return {all.begin(), all.end()};
}

TEST(McmcCuts, CutsEvenly) {
  const LayerGraph graph = graph_of(10, chain(10));
  const McmcCuts cuts(graph, false);
  EXPECT_EQ(lengths(cuts, cuts.even(1)), (std::vector<std::size_t>{10}));
  EXPECT_EQ(lengths(cuts, cuts.even(5)), (std::vector<std::size_t>{2, 2, 2, 2, 2}));
  EXPECT_EQ(lengths(cuts, cuts.even(3)), (std::vector<std::size_t>{3, 4, 3}));
  EXPECT_EQ(lengths(cuts, cuts.even(10)), std::vector<std::size_t>(10, 1));
  EXPECT_EQ(cuts.most_stages(), 10);
}

// Modules for multi-token prediction stay with the head: of the 67 layers of MiniMax M2, the last four are one.
TEST(McmcCuts, KeepsLayersTogetherThatStandTogether) {
  const LayerGraph graph(build_model(zoo_model("minimax-m2"), {.sequence = 64, .mtp = true}));
  const McmcCuts cuts(graph, true);
  EXPECT_EQ(cuts.most_stages(), 64);
  EXPECT_EQ(lengths(cuts, cuts.even(64)).back(), 4U);
}

TEST(McmcCuts, MovesALayerFromStageToStage) {
  const LayerGraph graph = graph_of(9, chain(9));
  const McmcCuts cuts(graph, false);
  StageCut cut = cuts.even(3);
  EXPECT_TRUE(cuts.transfer(cut, 0, 2));
  EXPECT_EQ(lengths(cuts, cut), (std::vector<std::size_t>{2, 3, 4}));
  EXPECT_TRUE(cuts.transfer(cut, 1, 0));
  EXPECT_EQ(lengths(cuts, cut), (std::vector<std::size_t>{3, 2, 4}));
  EXPECT_FALSE(cuts.transfer(cut, 1, 1));
  EXPECT_TRUE(cuts.transfer(cut, 1, 2));
  EXPECT_FALSE(cuts.transfer(cut, 1, 2)) << "it has one layer left";
}

TEST(McmcCuts, ComesToEveryCutOfAChain) {
  const LayerGraph graph = graph_of(7, chain(7));
  EXPECT_EQ(walked(graph, false, 3), every(graph, 3));
  EXPECT_EQ(walked(graph, true, 3), every(graph, 3));
}

TEST(McmcCuts, ComesToEveryChainOfDownsets) {
  const LayerGraph diamond = graph_of(4, {{0, 1}, {0, 2}, {1, 3}, {2, 3}});
  const LayerGraph towers = graph_of(5, {{0, 1}, {2, 3}, {1, 4}, {3, 4}});
  const LayerGraph downhill = graph_of(5, {{4, 3}, {3, 2}, {3, 1}, {1, 0}});
  for (const LayerGraph* graph : {&diamond, &towers, &downhill}) {
    for (const std::size_t stages : {1U, 2U, 3U})
      EXPECT_EQ(walked(*graph, false, static_cast<std::int64_t>(stages)), every(*graph, stages));
  }
}

TEST(McmcCuts, KeepsIdsTogetherWhereAsked) {
  // The edge from 2 to 1 keeps both in one stage.
  const LayerGraph graph = graph_of(4, {{0, 1}, {2, 1}, {1, 3}});
  EXPECT_EQ(McmcCuts(graph, true).most_stages(), 3);
  EXPECT_EQ(walked(graph, true, 2).size(), 2U);
}

TEST(McmcCuts, CountsLayersThatRecompute) {
  const LayerGraph graph = graph_of(9, chain(9));
  const McmcCuts cuts(graph, false);
  StageCut cut = cuts.even(3);
  EXPECT_EQ(cuts.least_recomputable(cut), 3);
  EXPECT_TRUE(cuts.transfer(cut, 1, 0));
  EXPECT_EQ(cuts.least_recomputable(cut), 2);
}

}  // namespace
}  // namespace nest::solve
