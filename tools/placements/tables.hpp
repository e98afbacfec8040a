// The tables of the study of placements, for the manual.
//
//   | 10 : 1 | 10 %: 0.92 %, at most 17 % | ...
//
// In one instance of ten another placement is better; by 0.92 % in the mean over all, by 17 % at most.
#pragma once

#include <vector>

#include "study.hpp"

#include "nest/base/rooms.hpp"

namespace nest::tools::study {

// By the ratio of compute to communication and the kind of levels.
void print_ratios(const std::vector<Outcome>& all);
// By the cluster's form and the share of communication.
void print_groups(const std::vector<Outcome>& all);
// What is left of the gain with each family of placements.
void print_families(std::vector<Outcome> all, const std::vector<Family>& families);

}  // namespace nest::tools::study
