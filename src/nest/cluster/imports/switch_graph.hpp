// Switches that are cabled in some way, as tiers of domains. A switch's rank says how far it is from hosts: the hosts that
// lie together at tier r are those that switches of rank up to r join. Several spines over the same leaves make one domain,
// and so do the rails of a group of hosts.
//
//   SwitchGraph g(4);                      // hosts 0 to 3
//   g.attach(0, leaf_a), g.attach(1, leaf_a), ..
//   g.join(leaf_a, spine)
//   g.tiers()  ->  {{0, 0, 2, 2}, {0, 0, 0, 0}}
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "nest/base/rooms.hpp"

namespace nest::cluster {

class SwitchGraph {
 public:
  explicit SwitchGraph(std::int32_t hosts) : hosts_(hosts) {}

  // Ranks count from 0, the switches that hosts are attached to.
  std::int32_t add_switch(std::int32_t rank);
  void attach(std::int32_t host, std::int32_t to);
  void join(std::int32_t a, std::int32_t b);

  // By tier, innermost first: a number for the domain of each host.
  [[nodiscard]] std::vector<std::vector<std::int32_t>> tiers() const;

 private:
  std::int32_t hosts_;
  std::vector<std::int32_t> ranks_;                              // by switch
  std::vector<std::pair<std::int32_t, std::int32_t>> attached_;  // host and switch
  std::vector<std::pair<std::int32_t, std::int32_t>> joined_;    // switches
};

// The same numbers as texts for HostFacts::domains: `texts[tier][host]`.
[[nodiscard]] std::vector<std::vector<std::string>> domain_labels(const SwitchGraph& graph);

}  // namespace nest::cluster
