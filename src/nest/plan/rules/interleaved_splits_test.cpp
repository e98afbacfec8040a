#include "nest/plan/rules/interleaved_splits.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "nest/model/blocks/build.hpp"
#include "nest/model/zoo.hpp"

namespace nest::plan {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;
using Splits = std::vector<std::vector<std::int32_t>>;

LayerGraph graph_of(const std::string& model) {
  return LayerGraph(build_model(zoo_model(model)));
}

// A profile of so many layers, all of them blocks, in a chain.
LayerGraph chain(std::int32_t layers, bool backwards = false) {
  LayerProfile profile;
  ProfileStrategy s;
  s.layers.resize(static_cast<std::size_t>(layers));
  for (std::int32_t i = 0; i + 1 < layers; ++i) {
    const LayerId a{backwards ? i + 1 : i};
    const LayerId b{backwards ? i : i + 1};
    s.edges.push_back({a, b, "", Bytes{1}});
  }
  profile.strategies.push_back(std::move(s));
  return LayerGraph(profile);
}

// 80 blocks between an embedding (0) and a head (81).
TEST(InterleavedSplits, EvenChunksAndTheEndsBesides) {
  const Splits splits = interleaved_splits(graph_of("llama3.1-70b"), 2, 2);
  EXPECT_THAT(splits, Contains(ElementsAre(0, 21, 41, 61, 82)));
  // 2 fewer at both ends: 84 blocks in chunks of 21, of which the ends have 19.
  EXPECT_THAT(splits, Contains(ElementsAre(0, 20, 41, 62, 82)));
  // 3 fewer in the last: 83 in chunks of 21, 21, 21 and 20 - 3.
  EXPECT_THAT(splits, Contains(ElementsAre(0, 22, 43, 64, 82)));
  // 3 fewer in the first, the longer chunks last.
  EXPECT_THAT(splits, Contains(ElementsAre(0, 18, 39, 60, 82)));
  EXPECT_TRUE(std::is_sorted(splits.begin(), splits.end()));
}

// The embedding alone is a chunk, and so is the head.
TEST(InterleavedSplits, AnEndIsEnoughForAChunk) {
  const Splits splits = interleaved_splits(chain(4), 2, 2);
  EXPECT_THAT(splits, ElementsAre(ElementsAre(0, 1, 2, 3, 4)));
  const LayerGraph llama = graph_of("llama3.1-70b");
  EXPECT_THAT(interleaved_splits(llama, 41, 2), ElementsAre(::testing::SizeIs(83)));
  EXPECT_THAT(interleaved_splits(llama, 40, 2), Not(IsEmpty()));
}

TEST(InterleavedSplits, NoneWhereThereAreTooFewLayers) {
  EXPECT_THAT(interleaved_splits(chain(5), 3, 2), IsEmpty());
  EXPECT_THAT(interleaved_splits(chain(5), 0, 2), IsEmpty());
  EXPECT_THAT(interleaved_splits(chain(5), std::int64_t{1} << 40, std::int64_t{1} << 40), IsEmpty());
}

TEST(InterleavedSplits, NoneWhereAnEdgeRunsToALowerId) {
  EXPECT_THAT(interleaved_splits(chain(8), 2, 2), Not(IsEmpty()));
  EXPECT_THAT(interleaved_splits(chain(8, true), 2, 2), IsEmpty());
}

// A decoder's embedding lies between blocks: it goes with the block before it.
TEST(InterleavedSplits, WhatLiesBetweenBlocksGoesWithTheOneBefore) {
  const Model t5 = build_model(zoo_model("t5-small"));
  for (const auto& first : interleaved_splits(LayerGraph(t5), 2, 2)) {
    for (std::size_t c = 1; c + 1 < first.size(); ++c)
      EXPECT_NE(t5.layers[static_cast<std::size_t>(first[c])].name, "decoder_embedding");
  }
}

// By the words of the decision: each layer's chunk, block by block.
Splits by_the_words(const LayerGraph& graph, std::int64_t chunks) {
  std::set<std::vector<std::int32_t>> found;
  const auto layers = static_cast<std::int32_t>(graph.layers());
  std::int64_t n = 0;
  for (std::int32_t i = 0; i < layers; ++i) n += graph.is_block(LayerId(i)) ? 1 : 0;
  for (std::int64_t i = 0; i <= 3; ++i) {
    for (std::int64_t j = 0; j <= 3; ++j) {
      for (const bool last : {false, true}) {
        std::vector<std::int64_t> sizes(static_cast<std::size_t>(chunks), (n + i + j) / chunks);
        for (std::int64_t k = 0; k < (n + i + j) % chunks; ++k)
          ++sizes[static_cast<std::size_t>(last ? chunks - 1 - k : k)];
        sizes.front() -= i;
        sizes.back() -= j;
        if (*std::min_element(sizes.begin(), sizes.end()) < 0) continue;
        std::vector<std::int64_t> chunk_of_block;
        for (std::size_t c = 0; c < sizes.size(); ++c)
          chunk_of_block.insert(chunk_of_block.end(), static_cast<std::size_t>(sizes[c]),
                                static_cast<std::int64_t>(c));
        std::vector<std::int64_t> chunk_of(static_cast<std::size_t>(layers), 0);
        std::int64_t block = -1;
        for (std::int32_t l = 0; l < layers; ++l) {
          if (graph.is_block(LayerId(l))) ++block;
          std::int64_t& own = chunk_of[static_cast<std::size_t>(l)];
          if (block >= 0) own = chunk_of_block[static_cast<std::size_t>(block)];
          if (block == n - 1 && !graph.is_block(LayerId(l))) own = chunks - 1;
        }
        std::vector<std::int32_t> first;
        for (std::int64_t c = 0; c <= chunks; ++c) {
          first.push_back(static_cast<std::int32_t>(std::lower_bound(chunk_of.begin(), chunk_of.end(), c) -
                                                    chunk_of.begin()));
        }
        if (std::adjacent_find(first.begin(), first.end()) == first.end()) found.insert(first);
      }
    }
  }
  return {found.begin(), found.end()};
}

TEST(InterleavedSplits, AgreeWithTheWordsOfTheDecision) {
  std::vector<LayerGraph> graphs;
  for (const std::int32_t n : {4, 5, 7, 12, 30}) graphs.push_back(chain(n));
  for (const char* name : {"gpt2-xl", "t5-small", "llama3.2-1b"}) graphs.push_back(graph_of(name));
  int splits = 0;
  for (const LayerGraph& graph : graphs) {
    for (std::int64_t p = 1; p <= 9; ++p) {
      for (const std::int64_t v : {1, 2, 3, 4, 6, 8}) {
        if (p * v > static_cast<std::int64_t>(graph.layers())) continue;
        const Splits quick = interleaved_splits(graph, p, v);
        ASSERT_EQ(quick, by_the_words(graph, p * v)) << "pipeline " << p << ", interleave " << v;
        splits += static_cast<int>(quick.size());
      }
    }
  }
  EXPECT_GT(splits, 1000);
}

}  // namespace
}  // namespace nest::plan
