// Which accelerator hosts have, how many of them, and what joins these: from the files, from data/nodes.yaml, or assumed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "nest/base/units.hpp"
#include "nest/cluster/accelerator.hpp"
#include "nest/cluster/imports/facts.hpp"
#include "nest/cluster/level.hpp"

namespace nest::cluster {

// What holds for all hosts of a cluster.
struct HostKind {
  Accelerator accelerator;
  std::int32_t devices = 0;               // of most hosts
  std::vector<Level> levels;              // inside a host with so many
  std::vector<std::string> device_names;  // in the order of these levels; empty: gpu0, gpu1, ..
  BytesPerSecond network;                 // of such a host
  std::string network_assumed;            // a sentence, where no file states it
  std::string fabric;
  Seconds latency;
  std::int32_t unit = 0;    // see NodeModel
  std::int32_t domain = 0;  // hosts that one fabric of links may join; 0: one
};

// Fills in the devices of every host, and says in the notes what was known and what assumed. Throws an InputError where
// an accelerator is not in the catalog, or hosts have different ones. `accelerator` is what somebody states; empty: none.
[[nodiscard]] HostKind find_host_kind(ImportFacts& facts, const std::string& accelerator);

}  // namespace nest::cluster
