// For tests of launchers: random plans on clusters of many kinds, whose hosts are whole domains, parts of one,
// uneven or odd; and the rank map as the files say it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "nest/frameworks/common/rank_map.hpp"
#include "nest/frameworks/test_exports.hpp"
#include "nest/frameworks/test_validators.hpp"

namespace nest::test {

// Calls `visit` with so many random questions.
inline void for_random_launches(int count,
                                const std::function<void(const ExportQuestion&, unsigned seed)>& visit) {
  const FrameworkRules& rules = *find_framework_rules("megatron");
  const std::vector<std::pair<const char*, std::vector<std::int64_t>>> clusters{
      {"h100-spine-leaf", {0, 0, 4, 3}},  // whole nodes, halves, and odd parts of 3, 3 and 2 devices
      {"dgx-h100-superpod-127", {0, 0}},  // one unit lacks a node
      {"gb200-nvl72", {4, 0}},            // 18 hosts in a domain, or hosts as large as a rack
      {"frontier", {0, 1}},               // AMD, domains of two devices
      {"tpu-v5p-2048", {4}},              // a torus
  };
  std::vector<std::unique_ptr<Planner>> planners;
  for (const auto& [cluster, hosts] : clusters)
    planners.push_back(std::make_unique<Planner>("llama3.2-1b", "megatron", cluster));
  int found = 0;
  for (unsigned seed = 1; found < count; ++seed) {
    Dice dice(seed);
    const std::size_t at = seed % clusters.size();
    if (auto question = planners[at]->random(dice, rules)) {
      question->devices_per_host = dice.one_of(clusters[at].second);
      ++found;
      visit(*question, seed);
    }
  }
}

}  // namespace nest::test
