#include "nest/solve/table/layer_sets.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>

#include "nest/model/blocks/build.hpp"
#include "nest/model/hub/test_configs.hpp"
#include "nest/plan/test_example.hpp"
#include "nest/solve/table/memory_budget.hpp"
#include "nest/solve/twin/all_cuts.hpp"
#include "nest/solve/twin/test_instances.hpp"
#include "support/stride.hpp"

namespace nest::solve {
namespace {

using Edges = std::vector<std::pair<int, int>>;

LayerProfile profile_of(std::int32_t layers, const Edges& edges) {
  LayerProfile profile;
  ProfileStrategy& s = profile.strategies.emplace_back();
  s.layers.resize(static_cast<std::size_t>(layers));
  for (const auto& [from, to] : edges) s.edges.push_back({LayerId{from}, LayerId{to}, "", Bytes{1}});
  return profile;
}

Edges chain(int layers) {
  Edges edges;
  for (int i = 0; i + 1 < layers; ++i) edges.emplace_back(i, i + 1);
  return edges;
}

const Edges kDiamond{{0, 1}, {0, 2}, {1, 3}, {2, 3}};
const Edges kTowers{{0, 1}, {2, 3}, {1, 4}, {3, 4}};  // of two layers each, joined by the fifth

constexpr std::size_t kMany = 1000;

// A graph and its sets, all layers alike or all different.
struct Case {
  Case(std::int32_t layers, const Edges& edges, bool alike, std::size_t most = kMany, bool contiguous = false)
      : graph(profile_of(layers, edges)), sets(graph, kinds(layers, alike), most, contiguous) {}

  static std::vector<std::uint16_t> kinds(std::int32_t layers, bool alike) {
    std::vector<std::uint16_t> kinds(static_cast<std::size_t>(layers), 0);
    for (std::size_t i = 0; i < kinds.size() && !alike; ++i) kinds[i] = static_cast<std::uint16_t>(i);
    return kinds;
  }

  LayerGraph graph;
  LayerSets sets;
};

std::string spell(const LayerSets& sets, std::int32_t from, std::int32_t to) {
  std::string text;
  for (const LayerId id : sets.stage(from, to)) text += std::to_string(id.value);
  return text;
}

// All downsets, by their layers.
std::set<std::string> spelled(const LayerSets& sets) {
  std::set<std::string> all;
  for (std::int32_t state = 0; state <= sets.all(); ++state)
    EXPECT_TRUE(all.insert(spell(sets, 0, state)).second) << spell(sets, 0, state) << " is there twice";
  return all;
}

std::size_t moves_of(const LayerSets& sets) {
  std::size_t moves = 0;
  for (std::int32_t state = 0; state <= sets.all(); ++state) moves += sets.moves(state).size();
  return moves;
}

using Set = std::set<std::string>;

TEST(LayerSets, OfAChain) {
  const Case c(4, chain(4), false);
  EXPECT_EQ(spelled(c.sets), (Set{"", "3", "23", "123", "0123"}));
  EXPECT_TRUE(c.sets.chain());
  EXPECT_TRUE(c.sets.complete());
  EXPECT_EQ(c.sets.layers(), 4U);
  EXPECT_EQ(moves_of(c.sets), 10U);
  EXPECT_EQ(c.sets.classes().size(), 10U);
  // From the empty set: the last layer, the last two, ..; from all layers nothing.
  ASSERT_EQ(c.sets.moves(0).size(), 4U);
  for (std::int32_t n = 1; n <= 4; ++n) EXPECT_EQ(c.sets.moves(0)[static_cast<std::size_t>(n - 1)].to, n);
  EXPECT_TRUE(c.sets.moves(c.sets.all()).empty());
}

// Two modules for multi-token prediction and the head stand together: of the 9 downsets of a chain of 8 layers, those
// with one and with two layers are none.
TEST(LayerSets, LayersThatStandTogetherAreNotParted) {
  Warnings warnings;
  const ModelSpec spec = read_hub_config(
      parse_json("x",
                 R"({"model_type": "glm4_moe", "num_hidden_layers": 4, "hidden_size": 64, "vocab_size": 100,
                          "num_attention_heads": 4, "num_key_value_heads": 4, "head_dim": 16,
                          "num_nextn_predict_layers": 2})"),
      "tiny", warnings);
  const Model model = build_model(spec, {.sequence = 64, .mtp = true});
  const LayerGraph graph(model);
  ASSERT_EQ(graph.layers(), 8U);  // embedding, 4 blocks, 2 modules, head
  const LayerSets sets(graph, layer_kinds(model), kMany);
  EXPECT_EQ(sets.size(), 7U);  // the empty one, and from the first module on
  EXPECT_TRUE(sets.chain());
  EXPECT_EQ(sets.moves(0).size(), 6U);
  EXPECT_EQ(sets.stage(0, sets.moves(0).front().to),
            (std::vector<LayerId>{LayerId{5}, LayerId{6}, LayerId{7}}));
  // As the twin cuts them: the last three in the last stage, and three stages of the five before.
  EXPECT_EQ(all_cuts(graph, 6, kMany).size(), 1U);
  EXPECT_EQ(all_cuts(graph, 7, kMany).size(), 0U);
}

TEST(LayerSets, OfADiamond) {
  const Case c(4, kDiamond, false);
  EXPECT_EQ(spelled(c.sets), (Set{"", "3", "13", "23", "123", "0123"}));
  EXPECT_FALSE(c.sets.chain());
  // 5 from nothing, 4 from {3}, 2 from each of {1, 3} and {2, 3}, 1 from {1, 2, 3}.
  EXPECT_EQ(moves_of(c.sets), 14U);
}

// The joining layer first; then none to two of one tower and none to two of the other.
TEST(LayerSets, OfTwoTowers) {
  const Case joined(5, kTowers, false);
  EXPECT_EQ(joined.sets.size(), 1U + 3 * 3);
  const Case apart(5, {{0, 1}, {2, 3}, {3, 4}}, false);
  EXPECT_EQ(apart.sets.size(), 3U * 4);
  const Case nothing(3, {}, false);
  EXPECT_EQ(nothing.sets.size(), 8U);
}

// Length 1: first, middle, last; length 2 the same; length 3: first, last; and all four.
TEST(LayerSets, EqualStagesShareAClass) {
  const Case c(4, chain(4), true);
  EXPECT_EQ(c.sets.kinds(), 1U);
  EXPECT_EQ(c.sets.classes().size(), 9U);
  const auto class_of = [&](std::int32_t from, std::int32_t to) {
    for (const Move& move : c.sets.moves(from)) {
      if (move.to == to) return move.stage_class;
    }
    return -1;
  };
  EXPECT_EQ(class_of(1, 2), class_of(2, 3));
  EXPECT_NE(class_of(0, 1), class_of(1, 2)) << "the last stage sends nothing on";
  EXPECT_NE(class_of(1, 2), class_of(1, 3));
}

TEST(LayerSets, EqualLayersBetweenOtherBoundariesAreAnotherClass) {
  LayerProfile profile = profile_of(4, chain(4));
  profile.strategies.front().edges[1].bytes = Bytes{7};
  const LayerGraph graph(profile);
  const LayerSets sets(graph, Case::kinds(4, true), kMany);
  EXPECT_EQ(sets.classes().size(), 10U);
}

TEST(LayerSets, WhatAStageIsMadeOf) {
  LayerProfile profile = profile_of(4, chain(4));
  for (std::size_t i = 0; i < 3; ++i)
    profile.strategies.front().edges[i].bytes = Bytes{static_cast<std::int64_t>(10 * (i + 1))};
  // The first layer's output is used twice, and sent on once.
  profile.strategies.front().edges[0].tensor = "a";
  profile.strategies.front().edges.push_back({LayerId{0}, LayerId{3}, "a", Bytes{10}});
  const LayerGraph graph(profile);
  const std::vector<std::uint16_t> kinds{0, 1, 1, 2};
  const LayerSets sets(graph, kinds, kMany);
  const Move& move = sets.moves(1)[1];  // layers 1 and 2, before the last
  EXPECT_EQ(spell(sets, 1, move.to), "12");
  const StageClass& own = sets.classes()[static_cast<std::size_t>(move.stage_class)];
  EXPECT_EQ(own.kinds, (std::vector<std::uint16_t>{1, 1}));
  EXPECT_EQ(own.counts, (std::vector<std::int32_t>{0, 2, 0}));
  EXPECT_EQ(own.recomputable, 2);
  EXPECT_EQ(own.before, Bytes{10});
  EXPECT_EQ(own.after, Bytes{30 + 10});
  EXPECT_FALSE(own.splits_tied);
  EXPECT_EQ(sets.placed(1), 1);
  const auto outside = sets.outside(1);
  EXPECT_EQ(std::vector(outside.begin(), outside.end()), (std::vector<std::int32_t>{1, 2, 0}));
  EXPECT_EQ(sets.example(1), LayerId{1});
  EXPECT_EQ(sets.kind_of(LayerId{3}), 2);
}

// A weight of layers 0 and 2: its owner is the lower one, others hold a copy; all add their gradients up.
TEST(LayerSets, TiedWeights) {
  LayerProfile profile = profile_of(3, chain(3));
  profile.shared.push_back({{LayerId{0}, LayerId{2}}, Bytes{400}});  // 200 parameters of two bytes
  const LayerGraph graph(profile);
  const LayerSets sets(graph, Case::kinds(3, false), kMany);
  const auto made = [&](const std::vector<LayerId>& layers) {
    return sets.class_of(layers, Bytes{0}, Bytes{0}, Bytes{0});
  };
  const StageClass owner = made({LayerId{0}, LayerId{1}});
  EXPECT_TRUE(owner.splits_tied);
  EXPECT_EQ(owner.tied_summed, 200);
  EXPECT_EQ(owner.tied_copied, 0);
  const StageClass copy = made({LayerId{2}});
  EXPECT_TRUE(copy.splits_tied);
  EXPECT_EQ(copy.tied_summed, 200);
  EXPECT_EQ(copy.tied_copied, 200);
  EXPECT_FALSE(made({LayerId{1}}).splits_tied);
  const StageClass both = made({LayerId{0}, LayerId{1}, LayerId{2}});
  EXPECT_FALSE(both.splits_tied);
  EXPECT_EQ(both.tied_summed, 0);
}

TEST(LayerSets, ContiguousStagesOnly) {
  const Case towers(5, kTowers, false, kMany, true);
  EXPECT_EQ(spelled(towers.sets), (Set{"", "4", "34", "234", "1234", "01234"}));
  EXPECT_TRUE(towers.sets.complete()) << "nothing else was asked for";
  EXPECT_TRUE(towers.sets.chain());
  // Edges to lower ids: no cut of the layers in their order, or only some.
  const Case turned(3, {{2, 1}, {1, 0}}, false, kMany, true);
  EXPECT_EQ(spelled(turned.sets), (Set{"", "012"}));
  const Case half(4, {{1, 0}, {1, 2}, {2, 3}}, false, kMany, true);
  EXPECT_EQ(spelled(half.sets), (Set{"", "3", "23", "0123"}));
}

TEST(LayerSets, EdgesToLowerIdsAreNoChainToTheFiller) {
  const Case c(3, {{2, 1}, {1, 0}}, false);
  EXPECT_EQ(spelled(c.sets), (Set{"", "0", "01", "012"}));
  EXPECT_FALSE(c.sets.chain());
}

// Too many: those of the layers in their order are left, and it says so.
TEST(LayerSets, TheLimitLeavesSuffixes) {
  const Case enough(4, kDiamond, false, 6);
  EXPECT_TRUE(enough.sets.complete());
  EXPECT_EQ(enough.sets.size(), 6U);
  const Case few(4, kDiamond, false, 5);
  EXPECT_FALSE(few.sets.complete());
  EXPECT_EQ(spelled(few.sets), (Set{"", "3", "23", "123", "0123"}));
  const Case none(12, {}, false, 4000);
  EXPECT_FALSE(none.sets.complete());
  EXPECT_EQ(none.sets.size(), 13U);
}

// 130 layers: more than two words of bits.
TEST(LayerSets, LongChains) {
  const Case c(130, chain(130), true);
  EXPECT_EQ(c.sets.size(), 131U);
  EXPECT_EQ(c.sets.stage(0, 129).front(), LayerId{1});
  EXPECT_EQ(c.sets.stage(64, 66).size(), 2U);
  EXPECT_EQ(c.sets.outside(129)[0], 1);
  // Lengths 1 to 128: first, middle, last; 129: first, last; 130.
  EXPECT_EQ(c.sets.classes().size(), 128U * 3 + 2 + 1);
}

// Every chain of p downsets is a cut, and every cut is one.
TEST(LayerSets, ChainsOfDownsetsAreTheCuts) {
  for (unsigned seed = 1; seed <= 40; seed += test::stride()) {
    const test::Instance instance = test::random_instance(seed, 100);
    if (instance.inputs.profile() == nullptr) continue;
    const LayerGraph graph(*instance.inputs.profile());
    const LayerSets sets(graph, Case::kinds(static_cast<std::int32_t>(graph.layers()), false), 100'000);
    const auto p = static_cast<std::size_t>(1 + seed % 4);
    if (p > graph.layers()) continue;
    std::vector<std::int64_t> chains(sets.size(), 0);
    chains[0] = 1;
    for (std::size_t s = 0; s < p; ++s) {
      std::vector<std::int64_t> longer(sets.size(), 0);
      for (std::int32_t state = 0; state <= sets.all(); ++state) {
        for (const Move& move : sets.moves(state))
          longer[static_cast<std::size_t>(move.to)] += chains[static_cast<std::size_t>(state)];
      }
      chains = longer;
    }
    EXPECT_EQ(static_cast<std::size_t>(chains.back()), all_cuts(graph, p, 1'000'000).size()) << instance.text;
  }
}

using Kinds = std::vector<std::uint16_t>;

TEST(LayerKinds, OfAProfile) {
  LayerProfile profile = *test::example_inputs().profile();
  EXPECT_EQ(layer_kinds(profile), (Kinds{0, 1, 2})) << "the first has no edge that full recomputation keeps";
  profile.strategies.front().layers[1] = profile.strategies.front().layers[2];
  EXPECT_EQ(layer_kinds(profile), (Kinds{0, 1, 1}));
  profile.strategies.front().edges[0].bytes = Bytes{1};
  EXPECT_EQ(layer_kinds(profile), (Kinds{0, 1, 2}));
}

TEST(LayerKinds, EveryFieldOfALayerCounts) {
  LayerProfile equal = profile_of(3, chain(3));
  ASSERT_EQ(layer_kinds(equal), (Kinds{0, 1, 1}));
  const auto changed = [&](auto change) {
    LayerProfile profile = equal;
    profile.strategies.push_back(profile.strategies.front());
    change(profile.strategies.back().layers[2]);
    return layer_kinds(profile);
  };
  const Kinds different{0, 1, 2};
  EXPECT_EQ(changed([](ProfileLayer& l) { l.forward = Seconds{1}; }), different);
  EXPECT_EQ(changed([](ProfileLayer& l) { l.backward = Seconds{1}; }), different);
  EXPECT_EQ(changed([](ProfileLayer& l) { l.parameters = Bytes{1}; }), different);
  EXPECT_EQ(changed([](ProfileLayer& l) { l.activations = Bytes{1}; }), different);
  EXPECT_EQ(changed([](ProfileLayer& l) { l.expert_parameters = Bytes{1}; }), different);
  EXPECT_EQ(changed([](ProfileLayer& l) { l.backward_weight = Seconds{1}; }), different);
  EXPECT_EQ(changed([](ProfileLayer& l) { l.workspace = Bytes{1}; }), different);
  EXPECT_EQ(changed([](ProfileLayer& l) { l.name = "other"; }), (Kinds{0, 1, 1}));
}

TEST(LayerKinds, ASharedWeightMakesALayerUnlikeAllOthers) {
  LayerProfile profile = profile_of(4, chain(4));
  profile.shared.push_back({{LayerId{1}, LayerId{2}}, Bytes{2}});
  EXPECT_EQ(layer_kinds(profile), (Kinds{0, 1, 2, 3}));
}

TEST(LayerKinds, OfAModel) {
  const auto kinds = [](const char* tied) {
    return layer_kinds(build_model(
        spec_of(std::string(R"({"model_type": "llama", "num_hidden_layers": 3, "tie_word_embeddings": )") +
                tied + "}")));
  };
  EXPECT_EQ(kinds("false"), (Kinds{0, 1, 1, 1, 2}));
  EXPECT_EQ(kinds("true"), (Kinds{0, 1, 1, 1, 2}));
}

// First, middle or last of every length below n - 1, first or last of length n - 1, and the whole.
TEST(LayerSets, OfALongChain) {
  constexpr std::int32_t kLayers = 1200;
  const Case c(kLayers, chain(kLayers), true, 2 * kLayers);
  EXPECT_TRUE(c.sets.chain());
  EXPECT_EQ(moves_of(c.sets), std::size_t{kLayers} * (kLayers + 1) / 2);
  EXPECT_EQ(c.sets.classes().size(), 3U * (kLayers - 2) + 2 + 1);
  const Move& whole = c.sets.moves(0).back();
  EXPECT_EQ(c.sets.classes()[static_cast<std::size_t>(whole.stage_class)].counts.front(), kLayers);
}

TEST(LayerSets, StopsAtTheDeadlineAndWithoutMemory) {
  const LayerGraph graph(profile_of(50, chain(50)));
  const Deadline deadline;
  EXPECT_NO_THROW(LayerSets(graph, Case::kinds(50, false), kMany, false, deadline, Bytes{10'000'000}));
  EXPECT_THROW(LayerSets(graph, Case::kinds(50, false), kMany, false, deadline, Bytes{100'000}),
               TableTooLarge);
  deadline.cancel();
  EXPECT_THROW(LayerSets(graph, Case::kinds(50, true), kMany, false, deadline), Stopped);
}

}  // namespace
}  // namespace nest::solve
