// Which links can hold anybody up. Most cannot: they carry all that may ever use them at once. Of links that
// are loaded alike one is enough. What is left becomes the loads of the jobs' phases.
#pragma once

#include <span>
#include <vector>

#include "nest/simulate/traffic/links.hpp"
#include "nest/simulate/traffic/traffic.hpp"

namespace nest::simulate {

// Jobs that never run at the same time, since one stream runs them; at most `at_once` of them do.
struct Exclusive {
  std::vector<Job*> jobs;
  int at_once = 1;
};

// Fills the loads; returns how many links may be short.
std::size_t prune_links(const LinkTable& links, std::span<const Exclusive> streams);

}  // namespace nest::simulate
