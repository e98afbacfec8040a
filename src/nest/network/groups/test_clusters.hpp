// Clusters for tests of groups.
#pragma once

#include <rapidcheck.h>

#include <string>
#include <utility>
#include <vector>

#include "nest/cluster/cluster.hpp"

namespace nest::network {

inline Level test_level(const std::string& name, FanOut fan_out, double oversubscription = 1) {
  Level out{.name = name,
            .fan_out = std::move(fan_out),
            .bandwidth = BytesPerSecond{1e9},
            .latency = Seconds{1e-6}};
  out.oversubscription = oversubscription;
  return out;
}

// A random cluster of up to three levels, uneven ones and grids among them.
inline Cluster random_cluster() {
  std::vector<Level> levels;
  const int count = *rc::gen::inRange(1, 4);
  std::int32_t domains = 1;
  for (int l = 0; l < count; ++l) {
    const bool uneven = *rc::gen::weightedElement<bool>({{3, false}, {1, true}});
    FanOut fan_out;
    if (uneven) {
      for (std::int32_t d = 0; d < domains; ++d) fan_out.sizes.push_back(*rc::gen::inRange(1, 6));
    } else {
      fan_out.size = *rc::gen::element(1, 2, 3, 4, 6, 8);
    }
    std::int32_t next = 0;
    for (std::int32_t d = 0; d < domains; ++d) next += fan_out.of(d);
    Level made = test_level("l" + std::to_string(count - l), fan_out);
    made.kind =
        *rc::gen::element(LevelKind::switched, LevelKind::fully_connected, LevelKind::ring, LevelKind::torus);
    if (made.kind == LevelKind::torus && uneven) made.kind = LevelKind::ring;
    if (made.kind == LevelKind::torus) {
      made.dims =
          fan_out.size % 2 == 0 ? std::vector<std::int32_t>{2, fan_out.size / 2} : std::vector{fan_out.size};
      made.wrap.assign(made.dims.size(), true);
    }
    if (!made.hops_through_children()) made.oversubscription = *rc::gen::element(1.0, 1.0, 2.0, 4.0);
    levels.insert(levels.begin(), made);
    domains = next;
  }
  return Cluster({.name = "random", .levels = levels});
}

}  // namespace nest::network
