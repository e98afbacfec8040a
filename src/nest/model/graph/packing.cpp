#include "nest/model/graph/packing.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "nest/model/graph/rank_work.hpp"

namespace nest::model {
namespace {

// Pairs of so many tokens that see each other.
double pairs_of(double length, bool causal, std::int64_t window) {
  if (!causal) return length * length;
  const double w = window > 0 ? std::min(static_cast<double>(window), length) : length;
  return length * w - w * w / 2;
}

// The same numbers everywhere, whatever the library.
class Dice {
 public:
  // Evenly from 0 to 1.
  double roll() {
    state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<double>(state_ >> 11U) * 0x1p-53;
  }

 private:
  std::uint64_t state_ = 20261118;
};

}  // namespace

Packing::Packing(const Lengths& documents, std::int64_t sequence) : sequence_(sequence) {
  std::map<std::int64_t, std::int64_t> counts;
  for (const LengthCount& one : documents.histogram()) {
    const std::int64_t whole = one.length / sequence;
    const std::int64_t rest = one.length % sequence;
    if (whole > 0) counts[sequence] += whole * one.count;
    if (rest > 0) counts[rest] += one.count;
  }
  for (const auto& [length, count] : counts) pieces_.push_back({length, count});
}

Packing Packing::equal(std::int64_t length, std::int64_t sequence) {
  Packing out;
  out.pieces_ = {{length, 1}};
  out.sequence_ = sequence;
  return out;
}

Packing Packing::in_chunks(std::int64_t chunk) const {
  Packing out = *this;
  out.chunk_ = chunk;
  return out;
}

template <class Function>
double Packing::each_chunk(double length, const Function& of_chunk) const {
  const auto chunk = static_cast<double>(chunk_);
  if (chunk_ == 0 || length <= chunk) return of_chunk(length);
  const double whole = std::floor(length / chunk);
  const double rest = length - whole * chunk;
  return whole * of_chunk(chunk) + (rest > 0 ? of_chunk(rest) : 0);
}

double Packing::pairs(double length, bool causal, std::int64_t window) const {
  return each_chunk(length, [&](double l) { return pairs_of(l, causal, window); });
}

template <class Function>
double Packing::each_token(const Function& of_piece) const {
  double sum = 0;
  double tokens = 0;
  for (const LengthCount& p : pieces_) {
    const auto length = static_cast<double>(p.length);
    const auto count = static_cast<double>(p.count);
    sum += count * of_piece(length);
    tokens += count * length;
  }
  return sum / tokens;
}

double Packing::documents() const {
  return static_cast<double>(sequence_) * each_token([](double) { return 1.0; });
}

std::int64_t Packing::typical() const {
  const auto squares = [](double l) { return l * l; };
  return std::max<std::int64_t>(1,
                                std::llround(each_token([&](double l) { return each_chunk(l, squares); })));
}

double Packing::share(bool causal, std::int64_t window) const {
  return each_token([&](double l) { return pairs(l, causal, window); }) / static_cast<double>(sequence_);
}

// A renewal process whose documents bring their pairs: so many documents fill a sequence that the sum of their lengths
// is its own, and the variance of the sum of their pairs is that of what a document has beyond the mean of its tokens.
double Packing::deviation(bool causal, std::int64_t window) const {
  const double mean = each_token([&](double l) { return pairs(l, causal, window); });
  const double square = each_token([&](double l) {
    const double beyond = pairs(l, causal, window) - mean * l;
    return beyond * beyond;
  });
  const auto tokens = static_cast<double>(sequence_);
  return std::sqrt(tokens * square) / (tokens * mean);
}

Packing::Blocks Packing::blocks(double size, bool causal, std::int64_t window) const {
  Blocks out;
  const auto row_of = [&](double length) {
    const double row = std::ceil(length / size);
    return window > 0 ? std::min(row, std::ceil(static_cast<double>(window) / size) + 1) : row;
  };
  const auto tokens = static_cast<double>(sequence_);
  const auto rows_of = [&](double length) { return std::ceil(length / size); };
  const auto blocks_of = [&](double length) {
    const double rows = rows_of(length);
    const double missing = causal ? length / size : 1;
    return std::min(rows * rows - missing * (missing - 1) / 2, rows * row_of(length));
  };
  out.blocks = tokens * each_token([&](double length) { return each_chunk(length, blocks_of); });
  out.rows = tokens * each_token([&](double length) { return each_chunk(length, rows_of); });
  const std::int64_t longest = pieces_.back().length;
  out.longest = row_of(static_cast<double>(chunk_ > 0 ? std::min(chunk_, longest) : longest));
  return out;
}

// Sequences are drawn: documents one after the other in the order of a die, the last one cut where the sequence ends.
template <class Visit>
void Packing::each_drawn(const Visit& visit) const {
  constexpr int kSequences = 256;
  std::vector<double> upto;  // documents of the first pieces
  double all = 0;
  upto.reserve(pieces_.size());
  for (const LengthCount& p : pieces_) upto.push_back(all += static_cast<double>(p.count));
  Dice dice;
  const auto tokens = static_cast<double>(sequence_);
  const double chunk = chunk_ > 0 ? static_cast<double>(chunk_) : tokens;
  std::vector<double> ends;  // of what sees itself alone: documents, or their chunks
  for (int i = 0; i < kSequences; ++i) {
    ends.clear();
    for (double at = 0; at < tokens;) {
      const auto drawn = std::upper_bound(upto.begin(), upto.end() - 1, dice.roll() * all) - upto.begin();
      const double end =
          std::min(tokens, at + static_cast<double>(pieces_[static_cast<std::size_t>(drawn)].length));
      for (double cut = at + chunk; cut < end; cut += chunk) ends.push_back(cut);
      ends.push_back(end);
      at = end;
    }
    visit(ends);
  }
}

double Packing::slowest(std::int64_t ranks, bool causal, std::int64_t window) const {
  if (ranks <= 1) return 1;
  double slowest = 0;
  double mean = 0;
  each_drawn([&](const std::vector<double>& ends) {
    const std::vector<double> work = rank_work(ends, ranks, {causal, window});
    slowest += *std::max_element(work.begin(), work.end());
    for (const double w : work) mean += w / static_cast<double>(ranks);
  });
  return std::max(1.0, slowest / mean);
}

double Packing::travelling(std::int64_t ranks, bool causal) const {
  if (ranks <= 1) return 1;
  double sum = 0;
  double sequences = 0;
  each_drawn([&](const std::vector<double>& ends) {
    sum += ring_share(ends, ranks, causal);
    ++sequences;
  });
  return sum / sequences;
}

}  // namespace nest::model
