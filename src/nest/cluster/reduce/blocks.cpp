// Blocks of devices that are all near each other: complete linkage by chains of nearest neighbours, which
// takes O(n^2) time and memory.
#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>

#include "nest/cluster/reduce/candidates.hpp"
#include "nest/cluster/reduce/partitions.hpp"

namespace nest::cluster {
namespace {

struct Merge {
  float height;
  std::int32_t a;
  std::int32_t b;
};

// How many times slower a pair is than the widest and the quickest, multiplied; a full square matrix.
std::vector<float> slowness_of(const PairTable& table) {
  const auto n = static_cast<std::size_t>(table.devices());
  double widest = 0;
  double quickest = std::numeric_limits<double>::infinity();
  for (const PairFigures& pair : table.all()) {
    widest = std::max(widest, pair.bandwidth);
    if (pair.latency > 0) quickest = std::min(quickest, pair.latency);
  }
  std::vector<float> slowness(n * n, 0);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const PairFigures& pair = table.at(static_cast<std::int32_t>(i), static_cast<std::int32_t>(j));
      const double latency = pair.latency > 0 ? pair.latency / quickest : 1;
      slowness[i * n + j] = slowness[j * n + i] = static_cast<float>(widest / pair.bandwidth * latency);
    }
  }
  return slowness;
}

std::vector<Merge> complete_linkage(std::vector<float> slowness, std::size_t n) {
  std::vector<Merge> merges;
  std::vector<std::size_t> alive(n);
  std::iota(alive.begin(), alive.end(), std::size_t{0});
  std::vector<std::size_t> chain;
  while (alive.size() > 1) {
    if (chain.empty()) chain.push_back(alive.front());
    const std::size_t top = chain.back();
    // Ties go to the one before in the chain, or else the chain could run in circles.
    std::size_t nearest = chain.size() > 1 ? chain[chain.size() - 2] : n;
    float best = nearest < n ? slowness[top * n + nearest] : std::numeric_limits<float>::infinity();
    for (const std::size_t c : alive) {
      if (c == top || slowness[top * n + c] >= best) continue;
      best = slowness[top * n + c];
      nearest = c;
    }
    if (chain.size() < 2 || nearest != chain[chain.size() - 2]) {
      chain.push_back(nearest);
      continue;
    }
    merges.push_back({best, static_cast<std::int32_t>(top), static_cast<std::int32_t>(nearest)});
    chain.resize(chain.size() - 2);
    alive.erase(std::lower_bound(alive.begin(), alive.end(), top));
    for (const std::size_t c : alive) {
      float& to = slowness[nearest * n + c];
      to = slowness[c * n + nearest] = std::max(to, slowness[top * n + c]);
    }
  }
  std::sort(merges.begin(), merges.end(), [](const Merge& x, const Merge& y) {
    return std::tie(x.height, x.a, x.b) < std::tie(y.height, y.a, y.b);
  });
  return merges;
}

}  // namespace

std::optional<Candidate> by_blocks(const PairTable& table) {
  const std::vector<Merge> merges =
      complete_linkage(slowness_of(table), static_cast<std::size_t>(table.devices()));
  UnionFind joined(table.devices());
  std::vector<Labels> partitions;
  double allowed = 1.001;  // a hair above 1, for rounding; then doubled from level to level
  for (std::size_t i = 0; i < merges.size();) {
    for (; i < merges.size() && merges[i].height <= allowed; ++i) joined.join(merges[i].a, merges[i].b);
    partitions.push_back(joined.labels());
    allowed *= 2;
  }
  return nested("blocks", partitions);
}

}  // namespace nest::cluster
