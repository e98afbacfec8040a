#include "nest/plan/rules/even_split.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nest/model/blocks/build.hpp"
#include "nest/model/zoo.hpp"
#include "nest/plan/test_example.hpp"
#include "support/message_of.hpp"

namespace nest::plan {
namespace {

using ::testing::ElementsAre;

LayerGraph graph_of(const std::string& model) {
  return LayerGraph(build_model(zoo_model(model)));
}

// First and last layer of each part.
std::vector<std::pair<int, int>> ends(const std::vector<std::vector<LayerId>>& parts) {
  std::vector<std::pair<int, int>> out;
  out.reserve(parts.size());
  for (const auto& part : parts) out.emplace_back(part.front().value, part.back().value);
  return out;
}

using Ends = std::vector<std::pair<int, int>>;

// 80 blocks between an embedding (0) and a head (81).
TEST(EvenSplit, EqualBlocksAndTheEndsBesides) {
  const LayerGraph llama = graph_of("llama3.1-70b");
  EXPECT_EQ(ends(even_split(llama, 4)), (Ends{{0, 20}, {21, 40}, {41, 60}, {61, 81}}));
  EXPECT_EQ(ends(even_split(llama, 1)), (Ends{{0, 81}}));
  const auto eighty = even_split(llama, 80);
  EXPECT_EQ(ends(eighty).front(), (std::pair{0, 1}));
  EXPECT_EQ(ends(eighty).back(), (std::pair{80, 81}));
}

// 80 + 2 slots over two parts: 41 each, of which the embedding and the loss take one.
TEST(EvenSplit, EmbeddingAndLossCountAsBlocksWhenAsked) {
  const LayerGraph llama = graph_of("llama3.1-70b");
  const SplitOptions both{.embedding_slot = true, .loss_slot = true};
  EXPECT_EQ(ends(even_split(llama, 2, both)), (Ends{{0, 40}, {41, 81}}));
  // Of 82 slots over four parts 21 each, two missing: the middle parts, which have no slot, go without.
  EXPECT_EQ(ends(even_split(llama, 4, both)), (Ends{{0, 20}, {21, 40}, {41, 60}, {61, 81}}));
}

// 126 blocks over 16 parts: 8 each, two missing, which the last and the first part go without.
TEST(EvenSplit, TheLastAndTheFirstPartGetFewer) {
  const auto parts = even_split(graph_of("llama3.1-405b"), 16);
  ASSERT_EQ(parts.size(), 16U);
  EXPECT_EQ(parts.front().size(), 7U + 1);
  EXPECT_EQ(parts.back().size(), 7U + 1);
  for (std::size_t i = 1; i + 1 < 16; ++i) EXPECT_EQ(parts[i].size(), 8U);
}

// A decoder's embedding lies between blocks: it goes with the block after it.
TEST(EvenSplit, WhatLiesBetweenBlocksGoesWithTheNext) {
  const Model t5 = build_model(zoo_model("t5-small"));
  const auto parts = even_split(LayerGraph(t5), 2);
  ASSERT_EQ(parts.size(), 2U);
  EXPECT_EQ(t5.layers[parts[0].back().index()].name, "encoder5");
  EXPECT_EQ(t5.layers[parts[1].front().index()].name, "decoder_embedding");
}

TEST(EvenSplit, AllLayersOfAProfileAreBlocks) {
  const PlanInputs inputs = test::example_inputs();
  const LayerGraph graph(*inputs.profile());
  EXPECT_EQ(ends(even_split(graph, 3)), (Ends{{0, 0}, {1, 1}, {2, 2}}));
  EXPECT_EQ(ends(even_split(graph, 2)), (Ends{{0, 1}, {2, 2}}));
}

// Every model of the zoo and every number of parts: all layers once and in order, no part empty, blocks
// apart by at most one but for what the ends go without.
TEST(EvenSplit, EveryLayerOnceForEveryModel) {
  for (const std::string& name : zoo_names()) {
    const LayerGraph graph = graph_of(name);
    std::int64_t blocks = 0;
    for (std::size_t i = 0; i < graph.layers(); ++i)
      blocks += graph.is_block(LayerId(static_cast<std::int32_t>(i))) ? 1 : 0;
    for (std::int64_t parts = 1; parts <= blocks; ++parts) {
      SCOPED_TRACE(name + " over " + std::to_string(parts));
      const auto split = even_split(graph, parts);
      std::int32_t next = 0;
      std::int64_t most = 0;
      std::int64_t least = blocks;
      for (const auto& part : split) {
        ASSERT_FALSE(part.empty());
        std::int64_t own = 0;
        for (const LayerId id : part) {
          ASSERT_EQ(id.value, next++);
          own += graph.is_block(id) ? 1 : 0;
        }
        most = std::max(most, own);
        least = std::min(least, own);
      }
      ASSERT_EQ(next, static_cast<std::int32_t>(graph.layers()));
      ASSERT_LE(most - least, 1);
    }
  }
}

// One block each is a split, with or without slots for the ends.
TEST(EvenSplit, AsManyPartsAsBlocksWithSlots) {
  const LayerGraph gpt2 = graph_of("gpt2");
  for (const SplitOptions& options : {SplitOptions{.embedding_slot = true}, SplitOptions{.loss_slot = true},
                                      SplitOptions{.embedding_slot = true, .loss_slot = true}}) {
    EXPECT_EQ(message_of([&] { static_cast<void>(even_split(gpt2, 12, options)); }), "(no error)");
  }
}

TEST(EvenSplit, MorePartsThanBlocksAreAnError) {
  const LayerGraph gpt2 = graph_of("gpt2");
  const auto message = [&](std::int64_t parts) {
    return message_of([&] { static_cast<void>(even_split(gpt2, parts)); });
  };
  EXPECT_EQ(message(13), "pipeline: 12 blocks cannot be split over 13 stages and chunks");
  EXPECT_EQ(message(std::int64_t{1} << 34),
            "pipeline: 12 blocks cannot be split over 17179869184 stages and chunks");
}

}  // namespace
}  // namespace nest::plan
