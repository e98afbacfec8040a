// What Slurm's topology files have in common, in either syntax: a tree of switches, blocks, rings or tori of nodes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "nest/cluster/imports/facts.hpp"

namespace nest::cluster {

// One switch, block, ring or torus; nodes and children are lists of names as Slurm writes them.
struct SlurmGroup {
  std::string name;
  std::string nodes;
  std::string children;
  int line = 0;
  std::vector<std::int32_t> dims;  // of a torus
};

struct SlurmNetwork {
  std::string file;
  std::vector<SlurmGroup> switches;
  std::vector<SlurmGroup> blocks;
  std::vector<std::int64_t> block_sizes;  // nodes of a block, then of those made of several
  std::vector<SlurmGroup> rings;
  std::vector<SlurmGroup> toruses;

  [[nodiscard]] bool empty() const {
    return switches.empty() && blocks.empty() && rings.empty() && toruses.empty();
  }
};

// Throws an InputError where the file describes none of them, or several.
[[nodiscard]] ImportFacts facts_of(const SlurmNetwork& network);

}  // namespace nest::cluster
