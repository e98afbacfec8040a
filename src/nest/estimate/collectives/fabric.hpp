// What communication libraries reach on each kind of link (data/fabrics.yaml), and which kind each level of a
// cluster is. Ideal constants, under which every level gives its whole bandwidth and adds nothing to its
// latency, are for studies and hand calculations.
//
//   fabric_constants(catalog_cluster("aws-p5")).levels[1].name   -> "efa-p5"
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nest/base/embedded.hpp"
#include "nest/base/units.hpp"
#include "nest/cluster/cluster.hpp"
#include "nest/recipe/recipe.hpp"

namespace nest::estimate {

// Shares are of a level's bandwidth; steps are on top of its latency.
struct Fabric {
  std::string name;
  double efficiency = 1;            // large messages, full-bandwidth protocol
  double ring_own = 0;              // time of a ring for a member's own part, over that of a part sent
  double exchange_efficiency = 1;   // all-to-all
  double exchange_own = 0;          // as ring_own, in an all-to-all
  double reduction_efficiency = 1;  // of an all-reduce that the level's switches add up
  bool reduction_by_peers = false;  // n members reach (n-1)/n of it
  Seconds reduction_step;
  double quick_share = 1;  // what the low-latency protocol leaves of `efficiency`
  Seconds quick_step;
  Seconds wide_step;
  bool trees = false;
  std::string source;
};

struct FabricConstants {
  // A library's algorithms (rings over all members, trees over networks, all levels working at once, two
  // protocols) or, where false, the ideal ones: the best that each level allows, one level after the other.
  bool library = false;
  bool at_once = false;  // the ideal ones with all levels at once too, where that is faster
  Seconds launch;        // each collective
  Seconds message;       // each peer of an all-to-all
  std::vector<Fabric> levels;
};

[[nodiscard]] FabricConstants ideal_constants(const Cluster& cluster, bool at_once = false);

// A level is made of the fabric that it states; else of the accelerator's own links where it is the innermost
// or gives at least half of their bandwidth, else it is an InfiniBand or RoCE network.
[[nodiscard]] FabricConstants fabric_constants(const Cluster& cluster);
// The same, or the ideal ones where the recipe asks for them.
[[nodiscard]] FabricConstants fabric_constants(const Cluster& cluster, const Recipe& recipe);
// With one fabric's name for each level, innermost first. Throws an InputError for an unknown name.
[[nodiscard]] FabricConstants fabric_constants(const Cluster& cluster, std::span<const std::string> fabrics);

[[nodiscard]] std::vector<std::string> fabric_names();
[[nodiscard]] const Fabric& fabric(std::string_view name);

// data/fabrics.yaml, compiled in.
[[nodiscard]] std::span<const EmbeddedFile> fabric_files();

}  // namespace nest::estimate
