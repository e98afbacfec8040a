#include "nest/model/graph/rank_work.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "nest/model/graph/packing.hpp"

namespace nest::model {
namespace {

using testing::ElementsAre;

// Whole documents of whole tokens, and what every token has to do with every other one.
struct Tokens {
  std::vector<std::int64_t> document;  // of each token
  std::vector<std::int64_t> first;     // of its document
  std::int64_t ranks = 1;

  Tokens(const std::vector<double>& ends, std::int64_t n) : ranks(n) {
    std::int64_t at = 0;
    for (const double end : ends) {
      const std::int64_t start = at;
      for (; at < static_cast<std::int64_t>(end); ++at) {
        document.push_back(start);
        first.push_back(start);
      }
    }
  }
  [[nodiscard]] std::int64_t size() const { return static_cast<std::int64_t>(document.size()); }
  [[nodiscard]] std::int64_t rank_of(std::int64_t token) const {
    const std::int64_t part = token / (size() / (2 * ranks));
    return part < ranks ? part : 2 * ranks - 1 - part;
  }
  [[nodiscard]] bool sees(std::int64_t query, std::int64_t key, const AttentionMask& mask) const {
    const auto q = static_cast<std::size_t>(query);
    if (document[q] != document[static_cast<std::size_t>(key)]) return false;
    if (!mask.causal) return true;
    return key <= query && (mask.window == 0 || query - key < mask.window);
  }
};

struct Drawn {
  std::vector<double> ends;
  std::int64_t ranks = 2;
};

Drawn drawn(std::mt19937& dice) {
  Drawn out;
  const auto pick = [&](int least, int most) { return std::uniform_int_distribution(least, most)(dice); };
  out.ranks = pick(2, 6);
  const int length = static_cast<int>(2 * out.ranks) * pick(1, 9);
  const int longest = pick(1, length);
  for (int at = 0; at < length;) {
    at = std::min(length, at + pick(1, longest));
    out.ends.push_back(at);
  }
  return out;
}

// A query of n keys has n - 1/2 pairs on a line, and n where it sees a window and not all before it.
TEST(RankWork, IsWhatTokensCount) {
  for (unsigned seed = 1; seed <= 2000; ++seed) {
    std::mt19937 dice(seed);
    const Drawn d = drawn(dice);
    const AttentionMask mask{seed % 4 != 0, seed % 3 == 0 ? std::uniform_int_distribution(1, 9)(dice) : 0};
    const Tokens tokens(d.ends, d.ranks);
    std::vector<double> counted(static_cast<std::size_t>(d.ranks));
    for (std::int64_t q = 0; q < tokens.size(); ++q) {
      double pairs = 0;
      for (std::int64_t k = 0; k < tokens.size(); ++k) pairs += tokens.sees(q, k, mask) ? 1 : 0;
      const std::int64_t before = q - tokens.first[static_cast<std::size_t>(q)];
      const bool grows = mask.causal && (mask.window == 0 || before < mask.window);
      counted[static_cast<std::size_t>(tokens.rank_of(q))] += pairs - (grows ? 0.5 : 0);
    }
    const std::vector<double> work = rank_work(d.ends, d.ranks, mask);
    for (std::size_t r = 0; r < work.size(); ++r) ASSERT_NEAR(work[r], counted[r], 1e-9) << "seed " << seed;
  }
}

// Every key goes round until no further rank has a token that sees it; each hop waits for the rank that sends most.
TEST(RankWork, KeysTravelAsFarAsSomebodyNeedsThem) {
  for (unsigned seed = 1; seed <= 2000; ++seed) {
    std::mt19937 dice(seed);
    const Drawn d = drawn(dice);
    const AttentionMask mask{seed % 4 != 0, 0};
    const Tokens tokens(d.ends, d.ranks);
    const auto n = static_cast<std::size_t>(d.ranks);
    std::vector<std::vector<std::int64_t>> sent(n, std::vector<std::int64_t>(n));
    for (std::int64_t k = 0; k < tokens.size(); ++k) {
      // Where a part of the document begins after the key's own, its first token is there to see the key.
      std::int64_t far = 0;
      for (std::int64_t q = 0; q < tokens.size(); ++q) {
        if (tokens.sees(q, k, mask))
          far = std::max(far, (tokens.rank_of(q) - tokens.rank_of(k) + d.ranks) % d.ranks);
      }
      for (std::int64_t hop = 1; hop <= far; ++hop)
        ++sent[static_cast<std::size_t>(tokens.rank_of(k))][static_cast<std::size_t>(hop)];
    }
    double sum = 0;
    for (std::size_t hop = 1; hop < n; ++hop) {
      std::int64_t most = 0;
      for (const auto& of_rank : sent) most = std::max(most, of_rank[hop]);
      sum += static_cast<double>(most);
    }
    const double share =
        sum / static_cast<double>(n - 1) / (static_cast<double>(tokens.size()) / static_cast<double>(n));
    ASSERT_NEAR(ring_share(d.ends, d.ranks, mask.causal), share, 1e-9) << "seed " << seed;
  }
}

TEST(RankWork, IsEvenForOneCausalDocument) {
  const std::vector<double> one{64};
  EXPECT_THAT(rank_work(one, 4, {}), ElementsAre(512, 512, 512, 512));
  EXPECT_DOUBLE_EQ(ring_share(one, 4, true), 1);  // all ranks have a part of the second half
}

// Documents that end where parts do stay on their rank: nothing travels. Where each lies across one border between
// parts, its keys before the border make one hop forward in the first half, and go nearly round in the second.
TEST(RankWork, ShortDocumentsTravelLittle) {
  EXPECT_DOUBLE_EQ(ring_share(std::vector<double>{2, 4, 6, 8, 10, 12, 14, 16}, 4, true), 0);
  EXPECT_THAT(rank_work(std::vector<double>{2, 4, 6, 8, 10, 12, 14, 16}, 4, {}), ElementsAre(4, 4, 4, 4));
  const Packing packing(Lengths({{64, 1}}), 4096);
  EXPECT_DOUBLE_EQ(packing.travelling(4), 0);  // 512 tokens to a part
  EXPECT_DOUBLE_EQ(Packing(Lengths({{4096, 1}}), 4096).travelling(4), 1);
  const Packing uneven(Lengths({{60, 1}}), 4096);
  EXPECT_GT(uneven.travelling(4), 0);
  EXPECT_LT(uneven.travelling(4), 60.0 / 1024);
}

}  // namespace
}  // namespace nest::model
