#include "nest/solve/table/interleaved_stage.hpp"

#include <gtest/gtest.h>

#include "nest/solve/table/layer_sets.hpp"

namespace nest::solve {
namespace {

// Eight layers in a chain, all alike but the first and the last.
LayerProfile eight_layers() {
  LayerProfile profile;
  ProfileStrategy& strategy = profile.strategies.emplace_back();
  for (std::int32_t i = 0; i < 8; ++i) {
    ProfileLayer& layer = strategy.layers.emplace_back();
    layer.forward = Seconds{i == 0 || i == 7 ? 2e-3 : 1e-3};
    layer.backward = Seconds{2e-3};
    if (i > 0) strategy.edges.push_back({LayerId(i - 1), LayerId(i), "t" + std::to_string(i), Bytes{100}});
  }
  return profile;
}

TEST(StageContents, EqualStagesHaveEqualNumbers) {
  const LayerProfile profile = eight_layers();
  const LayerGraph graph(profile);
  const LayerSets sets(graph, layer_kinds(profile), 1000);
  StageContents contents(graph, sets);
  // Four stages of two chunks of one layer: those in the middle are alike.
  const std::vector<std::int32_t> split{0, 1, 2, 3, 4, 5, 6, 7, 8};
  const std::vector<std::int32_t> numbers = contents.of_split(split, Schedule::interleaved, 4);
  ASSERT_EQ(numbers.size(), 4U);
  EXPECT_EQ(numbers[1], numbers[2]);
  EXPECT_NE(numbers[0], numbers[1]);
  EXPECT_NE(numbers[3], numbers[1]);
  const StageContent& first = contents.at(numbers[0]);
  ASSERT_EQ(first.chunks.size(), 2U);
  EXPECT_EQ(first.chunks[0].before, Bytes{0});
  EXPECT_EQ(first.chunks[0].after, Bytes{100});
  EXPECT_EQ(first.whole.kinds.size(), 2U);
  EXPECT_EQ(contents.at(numbers[3]).chunks[1].after, Bytes{0});
  // Another split that leads to the same stages.
  const std::vector<std::int32_t> again{0, 1, 2, 3, 4, 5, 6, 7, 8};
  EXPECT_EQ(contents.of_split(again, Schedule::interleaved, 4), numbers);
}

TEST(StageContents, LongerChunksAreOthers) {
  const LayerProfile profile = eight_layers();
  const LayerGraph graph(profile);
  const LayerSets sets(graph, layer_kinds(profile), 1000);
  StageContents contents(graph, sets);
  const std::vector<std::int32_t> even{0, 2, 4, 6, 8};
  const std::vector<std::int32_t> uneven{0, 1, 4, 6, 8};
  for (const std::size_t i : {0U, 1U}) {
    EXPECT_NE(contents.of_split(even, Schedule::interleaved, 2)[i],
              contents.of_split(uneven, Schedule::interleaved, 2)[i]);
  }
}

// The same split, down the stages and back up: the last stage has the two chunks in the middle, and nothing
// is sent between them.
TEST(StageContents, ASplitIsReadAlongTheSchedulesPath) {
  const LayerProfile profile = eight_layers();
  const LayerGraph graph(profile);
  const LayerSets sets(graph, layer_kinds(profile), 1000);
  StageContents contents(graph, sets);
  const std::vector<std::int32_t> split{0, 2, 4, 6, 8};
  const std::vector<std::int32_t> round = contents.of_split(split, Schedule::interleaved, 2);
  const std::vector<std::int32_t> turn = contents.of_split(split, Schedule::zb_v, 2);
  EXPECT_NE(round, turn);
  const StageContent& last = contents.at(turn[1]);
  EXPECT_EQ(last.chunks[0].before, Bytes{100});
  EXPECT_EQ(last.chunks[0].after, Bytes{0});
  EXPECT_EQ(last.chunks[1].before, Bytes{0});
  EXPECT_EQ(last.chunks[1].after, Bytes{100});
  EXPECT_EQ(contents.at(turn[0]).chunks[1].after, Bytes{0});
}

}  // namespace
}  // namespace nest::solve
