#include "nest/estimate/collectives/token_routing.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

namespace nest::estimate {
namespace {

// Blocks that were reached so far, by kind from the smallest blocks to the largest.
using Counts = std::array<std::int64_t, 3>;

struct Kind {
  double size;  // experts of one block
  enum { device, node, group } of;
};

// An exact Markov chain over the picks: the next expert lies in blocks that were reached, or opens new ones. When
// `limit` groups are open, no other group is.
Reached chain(const TokenRoute& route, double devices, double nodes) {
  const auto experts = static_cast<double>(route.experts);
  std::array<Kind, 3> kinds{{{experts / devices, Kind::device},
                             {experts / nodes, Kind::node},
                             {experts / static_cast<double>(route.groups), Kind::group}}};
  std::sort(kinds.begin(), kinds.end(),
            [](const Kind& a, const Kind& b) { return a.size != b.size ? a.size < b.size : a.of < b.of; });
  std::map<Counts, double> states{{Counts{}, 1.0}};
  for (std::int64_t pick = 0; pick < route.top_k; ++pick) {
    std::map<Counts, double> next;
    for (const auto& [counts, probability] : states) {
      std::array<double, 4> weights{};  // by how many kinds of blocks the pick opens
      double below = static_cast<double>(pick);
      bool closed = false;
      for (std::size_t j = 0; j < kinds.size(); ++j) {
        const double covered = static_cast<double>(counts[j]) * kinds[j].size;
        weights[j] = closed ? 0 : std::max(0.0, covered - below);
        below = covered;
        closed = closed || (kinds[j].of == Kind::group && counts[j] == route.limit);
      }
      weights[3] = closed ? 0 : std::max(0.0, experts - below);
      double sum = 0;
      for (const double w : weights) sum += w;
      if (sum <= 0) {
        next[counts] += probability;
        continue;
      }
      for (std::size_t opened = 0; opened < weights.size(); ++opened) {
        if (weights[opened] <= 0) continue;
        Counts after = counts;
        for (std::size_t j = 0; j < opened; ++j) ++after[j];
        next[after] += probability * weights[opened] / sum;
      }
    }
    states = std::move(next);
  }
  Reached out{0, 0};
  for (const auto& [counts, probability] : states) {
    for (std::size_t j = 0; j < kinds.size(); ++j) {
      if (kinds[j].of == Kind::device) out.devices += probability * static_cast<double>(counts[j]);
      if (kinds[j].of == Kind::node) out.nodes += probability * static_cast<double>(counts[j]);
    }
  }
  return out;
}

}  // namespace

double reached_blocks(const TokenRoute& route, double blocks) {
  const auto experts = static_cast<double>(route.experts);
  const auto picks = static_cast<double>(route.top_k);
  const double others = experts - experts / blocks;
  if (others < picks) return blocks;
  // No pick lies in a block of q experts: C(E - q, k) / C(E, k).
  const double none = std::exp(std::lgamma(others + 1) - std::lgamma(others - picks + 1) -
                               std::lgamma(experts + 1) + std::lgamma(experts - picks + 1));
  return blocks * (1 - none);
}

Reached reached(const TokenRoute& route, std::int64_t devices, std::int64_t nodes) {
  const auto d = static_cast<double>(devices);
  const auto n = static_cast<double>(nodes);
  if (route.limit > 0 && route.limit < route.groups) return chain(route, d, n);
  return {reached_blocks(route, d), reached_blocks(route, n)};
}

}  // namespace nest::estimate
