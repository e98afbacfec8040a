#include "nest/plan/rules/layer_graph.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "nest/model/blocks/build.hpp"
#include "nest/model/zoo.hpp"
#include "nest/plan/test_plans.hpp"

namespace nest::plan {
namespace {

using ::testing::ElementsAre;

struct Given {
  int from;
  int to;
  std::int64_t bytes;
  std::string tensor;
};

LayerProfile profile_of(std::size_t layers, const std::vector<Given>& edges) {
  LayerProfile profile;
  ProfileStrategy& own = profile.strategies.emplace_back();
  own.layers.resize(layers);
  for (const Given& e : edges)
    own.edges.push_back({LayerId{e.from}, LayerId{e.to}, e.tensor, Bytes{e.bytes}});
  return profile;
}

std::vector<std::int64_t> before(const LayerGraph& graph) {
  std::vector<std::int64_t> out;
  out.reserve(graph.layers());
  for (std::size_t i = 0; i < graph.layers(); ++i)
    out.push_back(graph.crossing_before(LayerId(static_cast<std::int32_t>(i))).value);
  return out;
}

std::vector<std::int64_t> crossing(const LayerGraph& graph, const std::vector<std::int32_t>& part_of,
                                   std::size_t parts) {
  std::vector<std::int64_t> out;
  for (const Bytes b : graph.crossing(part_of, parts)) out.push_back(b.value);
  return out;
}

TEST(LayerGraph, AChainCarriesOneTensorAcrossEachCut) {
  const LayerGraph graph(profile_of(4, {{0, 1, 10, "a"}, {1, 2, 20, "b"}, {2, 3, 30, "c"}}));
  EXPECT_THAT(before(graph), ElementsAre(0, 10, 20, 30));
  EXPECT_TRUE(graph.ascending());
  EXPECT_THAT(crossing(graph, {0, 0, 1, 2}, 3), ElementsAre(20, 30, 0));
}

// Layer 0's tensor goes on to 1 and 3: it crosses every cut up to 3, but once.
TEST(LayerGraph, ATensorWithSeveralUsersCrossesOnce) {
  const LayerGraph graph(profile_of(4, {{0, 1, 10, "a"}, {0, 3, 10, "a"}, {1, 2, 20, "b"}, {2, 3, 30, "c"}}));
  EXPECT_THAT(before(graph), ElementsAre(0, 10, 10 + 20, 10 + 30));
  EXPECT_THAT(crossing(graph, {0, 1, 2, 3}, 4), ElementsAre(10, 30, 40, 0));
}

TEST(LayerGraph, TensorsWithoutANameAreAllDifferent) {
  const LayerGraph graph(profile_of(3, {{0, 1, 10, ""}, {0, 2, 10, ""}}));
  EXPECT_THAT(before(graph), ElementsAre(0, 20, 10));
}

// Two tensors run from 0 to 1, and the second also to 2.
TEST(LayerGraph, TwoTensorsBetweenTheSameLayers) {
  const LayerGraph graph(profile_of(3, {{0, 1, 10, "a"}, {0, 1, 5, "b"}, {0, 2, 5, "b"}}));
  EXPECT_THAT(before(graph), ElementsAre(0, 15, 5));
}

TEST(LayerGraph, EdgesBackwardsInsideAPartDoNotCross) {
  const LayerGraph graph(profile_of(3, {{1, 0, 10, "a"}, {1, 2, 20, "b"}}));
  EXPECT_FALSE(graph.ascending());
  EXPECT_THAT(crossing(graph, {0, 0, 1}, 2), ElementsAre(20, 0));
}

TEST(LayerGraph, BlocksAndEndsOfAModel) {
  const Model model = build_model(zoo_model("gpt2"));
  const LayerGraph graph(model);
  ASSERT_EQ(graph.layers(), 14U);
  EXPECT_FALSE(graph.recomputes(LayerId{0}));
  EXPECT_FALSE(graph.is_block(LayerId{13}));
  EXPECT_TRUE(graph.is_block(LayerId{1}));
  ASSERT_EQ(graph.tied().size(), 1U);
  EXPECT_THAT(graph.tied()[0].layers, ElementsAre(LayerId{0}, LayerId{13}));
}

// What is a block does not depend on the operators that it has.
TEST(LayerGraph, BlocksWithoutAttentionAreBlocks) {
  for (const char* name : {"mamba2-2.7b", "nemotron-h-8b", "qwen3-next-80b-a3b"}) {
    const Model model = build_model(zoo_model(name), {.sequence = 64});
    const LayerGraph graph(model);
    const auto layers = static_cast<std::int32_t>(graph.layers());
    for (std::int32_t i = 0; i < layers; ++i) {
      const bool block = i > 0 && i + 1 < layers;
      EXPECT_EQ(graph.is_block(LayerId{i}), block) << name;
      EXPECT_EQ(graph.recomputes(LayerId{i}), block) << name;
    }
  }
}

// The modules of MiniMax M2 can recompute, are no blocks, and stand with each other and the head.
TEST(LayerGraph, ModulesForMultiTokenPredictionStandWithTheHead) {
  const Model model = build_model(zoo_model("minimax-m2"), {.sequence = 64, .mtp = true});
  const LayerGraph graph(model);
  ASSERT_EQ(graph.layers(), 1U + 62 + 3 + 1);
  for (const std::int32_t module : {63, 64, 65}) {
    EXPECT_TRUE(graph.recomputes(LayerId{module}));
    EXPECT_FALSE(graph.is_block(LayerId{module}));
    EXPECT_EQ(graph.is_joined(LayerId{module}), module > 63);
  }
  EXPECT_TRUE(graph.is_joined(LayerId{66}));
  EXPECT_FALSE(graph.recomputes(LayerId{66}));
  std::vector<std::int32_t> part(67, 0);
  part[66] = 1;
  EXPECT_EQ(graph.parted(part), LayerId{66});
  part[63] = part[64] = part[65] = 1;
  EXPECT_EQ(graph.parted(part), std::nullopt);
}

TEST(LayerGraph, SharedTensorsOfAProfileInParameters) {
  LayerProfile profile = profile_of(3, {{0, 1, 10, "a"}, {1, 2, 10, "b"}});
  profile.parameter_dtype_bytes = 4;
  profile.shared = {{{LayerId{0}, LayerId{2}}, Bytes{800}}};
  const LayerGraph graph(profile);
  ASSERT_EQ(graph.tied().size(), 1U);
  EXPECT_EQ(graph.tied()[0].parameters, 200);
  EXPECT_TRUE(graph.is_block(LayerId{0}));  // a profile knows no ends
}

// The encoder's result goes to every block of the decoder: each cut of the decoder carries it once.
TEST(LayerGraph, T5CarriesTheEncodersResultAlong) {
  const Model model = build_model(zoo_model("t5-small"), {.micro_batch = 2, .sequence = 128});
  const LayerGraph graph(model);
  const std::int64_t hidden = 2 * 128 * 512 * 2;
  std::map<std::string, LayerId> by_name;
  for (std::size_t i = 0; i < graph.layers(); ++i)
    by_name[model.layers[i].name] = LayerId(static_cast<std::int32_t>(i));
  EXPECT_EQ(graph.crossing_before(by_name["encoder3"]).value, hidden);
  EXPECT_EQ(graph.crossing_before(by_name["decoder_embedding"]).value, hidden);
  EXPECT_EQ(graph.crossing_before(by_name["decoder3"]).value, 2 * hidden);
  EXPECT_EQ(graph.crossing_before(by_name["head"]).value, hidden);
}

// Distinct (maker, tensor) pairs whose maker lies before a boundary and a user after it, counted one by one.
TEST(LayerGraph, RandomCutsCarryEachTensorOnce) {
  constexpr unsigned kSeed = 20261119;
  for (unsigned i = 0; i < 300; ++i) {
    SCOPED_TRACE("seed " + std::to_string(kSeed + i));
    test::Dice dice(kSeed + i);
    const LayerProfile profile = test::random_profile(dice);
    const LayerGraph graph(profile);
    const auto layers = static_cast<std::int64_t>(graph.layers());
    const std::int64_t parts = dice.pick(1, layers);
    std::vector<std::int32_t> part_of(graph.layers());
    const auto cut = test::random_cut(dice, layers, parts);
    for (std::size_t p = 0; p < cut.size(); ++p) {
      for (const LayerId id : cut[p]) part_of[id.index()] = static_cast<std::int32_t>(p);
    }
    const std::vector<Bytes> got = graph.crossing(part_of, cut.size());
    for (std::size_t p = 0; p < cut.size(); ++p) {
      std::set<std::pair<LayerId, std::string>> carried;
      Bytes bytes;
      for (const Edge& e : graph.edges()) {
        const auto boundary = static_cast<std::int32_t>(p);
        if (part_of[e.from.index()] <= boundary && part_of[e.to.index()] > boundary &&
            carried.emplace(e.from, e.tensor).second)
          bytes += e.bytes;
      }
      ASSERT_EQ(got[p], bytes);
      if (p + 1 < cut.size()) {
        ASSERT_EQ(graph.crossing_before(cut[p + 1].front()), bytes);
      }
    }
  }
}

}  // namespace
}  // namespace nest::plan
