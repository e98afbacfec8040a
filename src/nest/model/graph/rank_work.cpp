#include "nest/model/graph/rank_work.hpp"

#include <algorithm>
#include <cmath>

namespace nest::model {
namespace {

// A sequence in 2 n equal parts, and who has them.
struct Parts {
  std::int64_t ranks = 1;
  double size = 1;

  [[nodiscard]] std::int64_t last() const { return 2 * ranks - 1; }
  [[nodiscard]] std::int64_t at(double position) const {
    return static_cast<std::int64_t>(std::floor(position / size + 1e-9));
  }
  [[nodiscard]] std::int64_t rank_of(std::int64_t part) const {
    const std::int64_t rank = std::min(part, std::max<std::int64_t>(0, last() - part));
    return std::clamp<std::int64_t>(rank, 0, ranks - 1);
  }
  [[nodiscard]] double end(std::int64_t part) const { return static_cast<double>(part + 1) * size; }
};

Parts parts_of(std::span<const double> ends, std::int64_t ranks) {
  return {ranks, ends.empty() ? 1 : ends.back() / static_cast<double>(2 * ranks)};
}

// Pairs of the first tokens of a document, as many as that.
double seen(double tokens, double window) {
  if (window <= 0 || tokens <= window) return tokens * tokens / 2;
  return window * window / 2 + (tokens - window) * window;
}

}  // namespace

std::vector<double> rank_work(std::span<const double> ends, std::int64_t ranks, const AttentionMask& mask) {
  std::vector<double> work(static_cast<std::size_t>(ranks));
  const Parts parts = parts_of(ends, ranks);
  const auto window = static_cast<double>(mask.window);
  double first = 0;
  for (const double end : ends) {
    for (double from = first; from < end;) {
      const std::int64_t part = parts.at(from);
      const double to = std::min(end, parts.end(part));
      work[static_cast<std::size_t>(parts.rank_of(part))] +=
          mask.causal ? seen(to - first, window) - seen(from - first, window) : (to - from) * (end - first);
      from = to;
    }
    first = end;
  }
  return work;
}

double ring_share(std::span<const double> ends, std::int64_t ranks, bool causal) {
  if (ranks <= 1) return 1;
  const Parts parts = parts_of(ends, ranks);
  const auto hops = static_cast<std::size_t>(ranks - 1);
  // sent[rank][hop]: keys of the rank that make so many hops or more.
  std::vector<std::vector<double>> sent(static_cast<std::size_t>(ranks), std::vector<double>(hops + 1));
  double first = 0;
  for (const double end : ends) {
    const std::int64_t from = parts.at(first);
    // The part of the last token.
    std::int64_t to = std::min(parts.at(end), parts.last());
    if (to > from && end <= parts.end(to - 1) + parts.size * 1e-9) --to;
    for (std::int64_t part = from; part <= to; ++part) {
      const std::int64_t own = parts.rank_of(part);
      std::int64_t far = 0;
      for (std::int64_t seeing = causal ? part + 1 : from; seeing <= to; ++seeing)
        far = std::max(far, (parts.rank_of(seeing) - own + ranks) % ranks);
      const double keys = std::min(end, parts.end(part)) - std::max(first, parts.end(part - 1));
      for (std::int64_t hop = 1; hop <= far; ++hop)
        sent[static_cast<std::size_t>(own)][static_cast<std::size_t>(hop)] += keys;
    }
    first = end;
  }
  double sum = 0;
  for (std::size_t hop = 1; hop <= hops; ++hop) {
    double most = 0;
    for (const std::vector<double>& of_rank : sent) most = std::max(most, of_rank[hop]);
    sum += most;
  }
  return std::min(1.0, sum / static_cast<double>(hops) / (2 * parts.size));
}

}  // namespace nest::model
