#include "nest/estimate/collectives/collective_algorithm.hpp"

#include <array>

namespace nest::estimate {

std::string_view to_string(Algorithm algorithm) {
  static constexpr std::array<std::string_view, 5> kNames{"ring", "halving-doubling", "tree", "direct",
                                                          "in-network"};
  return kNames[static_cast<std::size_t>(algorithm)];
}

AlgorithmCost algorithm_cost(Algorithm algorithm, CollectiveKind kind, const GroupLevel& g) {
  const double part = 1 - 1.0 / g.members;
  const double ring = g.ring_steps;
  const double log = g.log_steps;
  const bool all_reduce = kind == CollectiveKind::all_reduce;
  const double phases = all_reduce ? 2 : 1;  // an all-reduce is a reduce-scatter and an all-gather
  if (kind == CollectiveKind::broadcast) {
    switch (algorithm) {
      case Algorithm::ring:
        return {ring, 1};
      case Algorithm::halving_doubling:
        return {2 * log, 2 * part};
      case Algorithm::tree:
        return {log, log};
      case Algorithm::direct:
        return {2, 2 * part};
      case Algorithm::in_network:
        return {1, 1};
    }
  }
  switch (algorithm) {
    case Algorithm::ring:
      return {phases * ring, phases * part};
    case Algorithm::halving_doubling:
      return {phases * log, phases * part};
    case Algorithm::tree:
      return {phases * log, g.members == 2 ? 1.0 : 2.0};
    case Algorithm::direct:
      return {phases, phases * part};
    case Algorithm::in_network:
      return {phases, all_reduce ? 1 : part};
  }
  return {};
}

bool algorithm_allowed(Algorithm algorithm, CollectiveKind kind, LevelKind level, bool in_network_reduction) {
  switch (algorithm) {
    case Algorithm::ring:
      return level != LevelKind::fully_connected;
    case Algorithm::halving_doubling:
      return level == LevelKind::switched;
    case Algorithm::tree:
      return level == LevelKind::switched &&
             (kind == CollectiveKind::all_reduce || kind == CollectiveKind::broadcast);
    case Algorithm::direct:
      return level == LevelKind::fully_connected;
    case Algorithm::in_network:
      return in_network_reduction;
  }
  return false;
}

}  // namespace nest::estimate
