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

// Chunks of 1,024 tokens of one document of 2,500: two whole triangles and one of 452.
TEST(Packing, ChunksAreCutFromEachDocument) {
  const Packing one = Packing::equal(2500, 2500).in_chunks(1024);
  const double pairs = (2 * 1024.0 * 1024 + 452.0 * 452) / 2;
  EXPECT_DOUBLE_EQ(one.share(true, 0), pairs / 2500 / 2500);
  EXPECT_EQ(one.typical(), std::llround((2 * 1024.0 * 1024 + 452.0 * 452) / 2500));
  // Two triangles of 8 blocks in a row, and rows of 4 of which the last is not full.
  const double missing = 452.0 / 128;
  EXPECT_DOUBLE_EQ(one.blocks(128, true, 0).blocks, 2 * 36 + 16 - missing * (missing - 1) / 2);
  EXPECT_DOUBLE_EQ(one.blocks(128, true, 0).rows, 20);
  EXPECT_DOUBLE_EQ(one.blocks(128, true, 0).longest, 8);
  EXPECT_EQ(one.deviation(true, 0), 0);
  // Chunks as long as the documents or longer cut none of them.
  const Lengths lengths({{512, 4}, {2048, 1}});
  const Packing two(lengths, 4096);
  EXPECT_DOUBLE_EQ(two.in_chunks(2048).share(true, 0), two.share(true, 0));
  EXPECT_DOUBLE_EQ(two.in_chunks(1024).share(true, 0),
                   (4 * 512.0 * 512 + 2 * 1024.0 * 1024) / 2 / 4096 / 4096);
}

// A rank has a part from the front and one from the back: the work of four chunks in order is even over two and over
// eight of them, and two chunks with a rest are not.
TEST(Packing, RanksOfARingHaveEqualChunks) {
  const Packing whole = Packing::equal(32'768, 32'768);
  EXPECT_NEAR(whole.in_chunks(8192).slowest(2), 1, 1e-9);
  EXPECT_NEAR(whole.in_chunks(8192).slowest(8), 1, 1e-9);
  // Chunks of 12,288 and a rest of 8,192 in parts of 8,192, in units of 1,024^2 pairs: the first rank has 32 of the
  // first chunk and the 32 of the last, the second 40 of the first and 8 and 64 of the second.
  EXPECT_NEAR(whole.in_chunks(12'288).slowest(2), 112.0 / 88, 1e-9);
}

TEST(Packing, ImagesLieSideBySide) {
  EXPECT_DOUBLE_EQ(Packing::equal(256, 768).share(false, 0), 1.0 / 3);
  EXPECT_DOUBLE_EQ(Packing::equal(256, 128).share(false, 0), 2);
}

}  // namespace
}  // namespace nest::model
