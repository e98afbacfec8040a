// A cabled fabric of switches and hosts as tiers: leaves are the switches that hosts are attached to, the others lie so
// many links above them. What leads up is compared with what hosts can send: that is the oversubscription.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "nest/cluster/imports/facts.hpp"

namespace nest::cluster {

struct IbFabric {
  struct Adapter {
    std::string host;  // empty: nobody named it
    std::string id;
    double rate = 0;  // bytes per second
    int line = 0;
  };
  struct Uplink {
    std::size_t to = 0;  // another switch
    double rate = 0;
  };
  struct Switch {
    std::string id;
    std::string name;
    int line = 0;
    std::vector<Adapter> hosts;
    std::vector<Uplink> links;  // each switch lists its own ends
  };
  std::vector<Switch> switches;
  bool reduces = false;  // some switches add up what passes (SHARP)
};

[[nodiscard]] ImportFacts facts_of(const IbFabric& fabric, const std::string& file);

}  // namespace nest::cluster
