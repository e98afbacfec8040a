// What the placement rule gives away: nest_placements [COUNT] [FIRST_SEED] [list]. Two studies, with tables
// for the manual. One strategy, ZeRO 0, 1F1B. Tiny: on COUNT random instances of up to 8 devices for each
// ratio of compute to communication and each kind of cluster (20 where nothing is said), the best plan of the
// rule (all stages, copies, cuts, inner copies, blocks and directions) against the best plan with any
// assignment of devices to cells. Nodes: on 10 * COUNT clusters of nodes, the rule against a local search,
// which may miss the best. With `list` also both plans of each instance with more than 1 % between them where
// communication is 1 to 30 % of the step.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "study.hpp"
#include "tables.hpp"

namespace {

using namespace nest::tools::study;

std::vector<Outcome> run(std::size_t count,
                         const std::function<std::optional<Outcome>(std::size_t)>& compare) {
  std::vector<std::optional<Outcome>> found(count);
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < count; i = next++) {
      found[i] = compare(i);
      if ((i + 1) % 50 == 0) fmt::print(stderr, "{} of {}\n", i + 1, count);
    }
  };
  std::vector<std::thread> workers;
  for (unsigned i = 0; i < std::max(1U, std::thread::hardware_concurrency()); ++i) workers.emplace_back(work);
  for (std::thread& worker : workers) worker.join();
  std::vector<Outcome> all;
  for (const auto& outcome : found) {
    if (outcome) all.push_back(*outcome);
  }
  return all;
}

void list(const std::vector<Outcome>& all) {
  for (const Outcome& o : all) {
    if (!o.story.empty()) fmt::print("\n{}", o.story);
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const std::size_t count = argc > 1 ? std::stoul(argv[1]) : 20;
    const auto first = static_cast<unsigned>(argc > 2 ? std::stoul(argv[2]) : 1);
    const std::size_t ratios = kRatios.size();
    const std::size_t kinds = kKinds.size();
    const std::vector<Outcome> tiny = run(count * ratios * kinds, [&](std::size_t i) {
      return compare_tiny(first + static_cast<unsigned>(i), i % ratios, i / ratios % kinds);
    });
    fmt::print("Up to 8 devices, all placements.\n\n");
    print_ratios(tiny);
    print_groups(tiny);
    print_families(tiny, tiny_families());
    const std::vector<Outcome> nodes = run(10 * count, [&](std::size_t i) {
      return compare_nodes(first + static_cast<unsigned>(i), i % 3 == 2);
    });
    fmt::print("\nNodes of 4 or 8 devices, 8 to 32 in all, a local search.\n");
    print_groups(nodes);
    print_families(nodes, node_families());
    if (argc > 3) {
      list(tiny);
      list(nodes);
    }
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "nest_placements: {}\nusage: nest_placements [COUNT] [FIRST_SEED] [list]\n",
               error.what());
    return 2;
  }
}
