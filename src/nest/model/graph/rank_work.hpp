// What the ranks of a context ring have to do for the documents of one sequence. Each of n ranks has the i-th of 2 n equal
// parts from the front and the i-th from the back, as Transformer Engine and torch deal a sequence out.
//
//   rank_work({6, 8}, 2, {.causal = true})     -> {11, 9}: pairs of tokens 0, 1, 6, 7 and of 2 to 5, with half of a
//                                                 pair for a token with itself
//   ring_share({6, 8}, 2, true)                -> 0.5: of the 4 keys of each rank, 2 of the first's travel
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace nest::model {

struct AttentionMask {
  bool causal = true;
  std::int64_t window = 0;  // keys that one query sees at most; 0 = all
};

// Pairs of query and key of each rank. `ends`: where each document ends, ascending; the last is the sequence's length.
// Tokens are taken as points of a line: a document of l tokens that see those before them has l^2 / 2 pairs.
[[nodiscard]] std::vector<double> rank_work(std::span<const double> ends, std::int64_t ranks,
                                            const AttentionMask& mask);

// Of a rank's keys, those that a hop of the ring carries, if each key goes as far as the last rank with a part of its
// document that sees it: of the rank that sends most, in the mean over the hops.
[[nodiscard]] double ring_share(std::span<const double> ends, std::int64_t ranks, bool causal);

}  // namespace nest::model
