// Documents in sequences of a fixed length: what attention computes if each token sees its own document alone.
// Sequences are full and hold whole documents; what is longer than a sequence is cut into whole sequences and a rest.
//
//   Packing({{512, 900}, {8192, 100}}, 4096).share(true, 0)   pairs of tokens that see each other, over 4096^2
//
// Chunked attention (Llama 4) cuts every document into stretches of so many tokens from its start, each of which sees
// itself alone.
//
// Sequences hold the same number of tokens and not the same work, by which their ranks wait for each other
// (docs/lengths.md).
#pragma once

#include <cstdint>
#include <vector>

#include "nest/model/graph/contents.hpp"

namespace nest::model {

class Packing {
 public:
  Packing(const Lengths& documents, std::int64_t sequence);
  // `sequence` tokens of equal documents of so many each: fewer than one where it is shorter.
  [[nodiscard]] static Packing equal(std::int64_t length, std::int64_t sequence);
  // The same documents for attention in chunks.
  [[nodiscard]] Packing in_chunks(std::int64_t chunk) const;

  [[nodiscard]] std::int64_t sequence() const { return sequence_; }
  [[nodiscard]] const std::vector<LengthCount>& pieces() const { return pieces_; }
  // Pieces of one sequence in the mean.
  [[nodiscard]] double documents() const;
  // Length of what a token's document or chunk holds, in the mean over tokens.
  [[nodiscard]] std::int64_t typical() const;

  // Pairs of query and key of one sequence in the mean, over the square of its length. `window`: keys that one query
  // sees at most, 0 for all.
  [[nodiscard]] double share(bool causal, std::int64_t window) const;
  // Standard deviation of a sequence's pairs over their mean.
  [[nodiscard]] double deviation(bool causal, std::int64_t window) const;

  // Squares of `size` queries by as many keys that a kernel computes, without what a mask cuts out of those on the
  // diagonal; rows of such squares; and the longest row.
  struct Blocks {
    double blocks = 0;
    double rows = 0;
    double longest = 0;
  };
  [[nodiscard]] Blocks blocks(double size, bool causal, std::int64_t window) const;

  // Work of the slowest of so many ranks over the mean, where each has the i-th part from the front and the i-th from
  // the back of the whole sequence: equal for one document, and not for several.
  [[nodiscard]] double slowest(std::int64_t ranks, bool causal = true, std::int64_t window = 0) const;
  // Of the keys that a ring of such ranks carries from one to the next, those of documents that a further rank has a part
  // of: in the mean over hops and sequences.
  [[nodiscard]] double travelling(std::int64_t ranks, bool causal = true) const;

 private:
  Packing() = default;
  // Sum of a function over the pieces, and over their tokens.
  template <class Function>
  [[nodiscard]] double each_token(const Function& of_piece) const;
  // Sum of a function over the chunks of a document of that length.
  template <class Function>
  [[nodiscard]] double each_chunk(double length, const Function& of_chunk) const;
  // Where what sees itself alone ends, of sequences that are drawn.
  template <class Visit>
  void each_drawn(const Visit& visit) const;
  // Pairs of one document.
  [[nodiscard]] double pairs(double length, bool causal, std::int64_t window) const;

  std::vector<LengthCount> pieces_;
  std::int64_t sequence_ = 1;
  std::int64_t chunk_ = 0;  // 0: documents are whole
};

}  // namespace nest::model
