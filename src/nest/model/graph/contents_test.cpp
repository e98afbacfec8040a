#include "nest/model/graph/contents.hpp"

#include <gtest/gtest.h>

namespace nest::model {
namespace {

TEST(Lengths, AreSortedAndAddedUp) {
  const Lengths lengths({{8192, 100}, {512, 400}, {512, 500}});
  EXPECT_EQ(lengths.histogram(), (std::vector<LengthCount>{{512, 900}, {8192, 100}}));
  EXPECT_EQ(lengths.documents(), 1000);
  EXPECT_DOUBLE_EQ(lengths.mean(), 1280);
}

// 5,000 lengths from 1 to 100,000 keep their documents, nearly their tokens and the sum of their squares.
TEST(Lengths, ManyBecomeBuckets) {
  std::vector<LengthCount> all;
  double tokens = 0;
  double squares = 0;
  for (std::int64_t i = 1; i <= 5000; ++i) {
    all.push_back({20 * i, 1 + i % 7});
    tokens += static_cast<double>(20 * i * (1 + i % 7));
    squares += static_cast<double>(20 * i) * static_cast<double>(20 * i * (1 + i % 7));
  }
  std::int64_t documents = 0;
  for (const LengthCount& one : all) documents += one.count;
  const Lengths lengths(all);
  EXPECT_LE(lengths.histogram().size(), Lengths::kMostBuckets);
  EXPECT_EQ(lengths.documents(), documents);
  double kept = 0;
  double kept_squares = 0;
  for (const LengthCount& one : lengths.histogram()) {
    kept += static_cast<double>(one.length * one.count);
    kept_squares += static_cast<double>(one.length) * static_cast<double>(one.length * one.count);
  }
  EXPECT_NEAR(kept / tokens, 1, 1e-4);
  EXPECT_NEAR(kept_squares / squares, 1, 2e-3);
  EXPECT_EQ(Lengths(lengths.histogram()), lengths);  // what a plan file keeps is read back as it is
}

TEST(Contents, AreSaidWhereTheyAreUnusual) {
  EXPECT_EQ(beside_tokens({}), "");
  Contents some;
  some.lengths = std::make_shared<const Lengths>(Lengths({{512, 9}, {8192, 1}}));
  some.images = 0.5;
  some.image_tokens = 1024;
  EXPECT_EQ(spell(some), "documents of 1,280 tokens in the mean, 0.5 images of 1,024 tokens");
  Contents others = some;
  others.lengths = std::make_shared<const Lengths>(*some.lengths);
  EXPECT_EQ(others, some);
  others.images = 2;
  EXPECT_FALSE(others == some);
  EXPECT_TRUE(Contents().usual());
}

}  // namespace
}  // namespace nest::model
