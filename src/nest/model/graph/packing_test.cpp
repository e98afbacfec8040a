#include "nest/model/graph/packing.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace nest::model {
namespace {

TEST(Packing, OneDocumentIsTheWholeTriangle) {
  const Packing one(Lengths({{4096, 7}}), 4096);
  EXPECT_DOUBLE_EQ(one.share(true, 0), 0.5);
  EXPECT_DOUBLE_EQ(one.share(false, 0), 1);
  EXPECT_EQ(one.deviation(true, 0), 0);
  EXPECT_EQ(one.typical(), 4096);
  // 1,024 tokens see all before them, the other 3,072 a window of 1,024.
  EXPECT_DOUBLE_EQ(one.share(true, 1024), (1024.0 * 1024 / 2 + 3072.0 * 1024) / 4096 / 4096);
  // 32 rows of blocks, of which the last is whole: 32 * 33 / 2.
  EXPECT_DOUBLE_EQ(one.blocks(128, true, 0).blocks, 528);
  EXPECT_DOUBLE_EQ(one.blocks(128, false, 0).blocks, 1024);
}

// Half of the tokens in documents of 512, half in documents of 2,048: 4 * 512^2 + 2048^2 pairs of 4,096 tokens.
TEST(Packing, TokensSeeTheirOwnDocument) {
  const Packing two(Lengths({{512, 4}, {2048, 1}}), 4096);
  const double pairs = 4 * 512.0 * 512 + 2048.0 * 2048;
  EXPECT_DOUBLE_EQ(two.share(false, 0), pairs / 4096 / 4096);
  EXPECT_DOUBLE_EQ(two.share(true, 0), pairs / 2 / 4096 / 4096);
  EXPECT_DOUBLE_EQ(two.documents(), 5);
  EXPECT_EQ(two.typical(), 1280);
  // 4 documents of 4 rows and one of 16.
  EXPECT_DOUBLE_EQ(two.blocks(128, true, 0).blocks, 4 * 10 + 136);
  EXPECT_DOUBLE_EQ(two.blocks(128, true, 0).rows, 32);
  EXPECT_DOUBLE_EQ(two.blocks(128, true, 0).longest, 16);
}

// 10,000 tokens are two sequences of 4,096 and a rest of 1,808.
TEST(Packing, LongDocumentsAreCut) {
  const Packing cut(Lengths({{10'000, 3}}), 4096);
  EXPECT_EQ(cut.pieces(), (std::vector<LengthCount>{{1808, 3}, {4096, 6}}));
}

// Documents drawn into long sequences until these are full, by another random generator.
TEST(Packing, DeviationIsThatOfDrawnSequences) {
  const std::vector<LengthCount> lengths{{100, 50}, {700, 20}, {3000, 5}};
  const std::int64_t sequence = 1 << 17;
  std::mt19937 dice(7);
  std::vector<double> of_sequence;
  std::discrete_distribution<int> draw({50, 20, 5});
  for (int i = 0; i < 4000; ++i) {
    double left = static_cast<double>(sequence);
    double pairs = 0;
    while (left > 0) {
      const auto l =
          std::min(left, static_cast<double>(lengths[static_cast<std::size_t>(draw(dice))].length));
      pairs += l * l / 2;
      left -= l;
    }
    of_sequence.push_back(pairs);
  }
  double mean = 0;
  double square = 0;
  for (const double w : of_sequence) mean += w / 4000;
  for (const double w : of_sequence) square += (w - mean) * (w - mean) / 4000;
  const Packing packing(Lengths(lengths), sequence);
  EXPECT_NEAR(packing.deviation(true, 0) / (std::sqrt(square) / mean), 1, 0.05);
  EXPECT_NEAR(packing.share(true, 0) / (mean / 0x1p34), 1, 0.02);  // the last document of each is cut
}

// A ring that deals out the sequence from both ends is balanced for one document. Of many short ones each rank has
// some, and the slowest of more ranks has more beyond the mean.
TEST(Packing, RanksOfARingDifferWithShortDocuments) {
  EXPECT_NEAR(Packing(Lengths({{8192, 1}}), 8192).slowest(4), 1, 1e-9);
  EXPECT_EQ(Packing(Lengths({{100, 1}}), 8192).slowest(1), 1);
  const Packing packing(Lengths({{200, 50}, {4000, 5}}), 8192);
  EXPECT_GT(packing.slowest(2), 1.05);
  EXPECT_GT(packing.slowest(4), packing.slowest(2));
  EXPECT_GT(packing.slowest(8), packing.slowest(4));
  EXPECT_LT(packing.slowest(8), 8);
}

TEST(Packing, ImagesLieSideBySide) {
  EXPECT_DOUBLE_EQ(Packing::equal(256, 768).share(false, 0), 1.0 / 3);
  EXPECT_DOUBLE_EQ(Packing::equal(256, 128).share(false, 0), 2);
}

}  // namespace
}  // namespace nest::model
