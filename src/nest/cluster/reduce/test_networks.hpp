// Networks for the tests of this room, built in code.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "nest/cluster/reduce/graph.hpp"

namespace nest::cluster::testing_networks {

inline NetworkGraph empty(std::int32_t devices, std::int32_t switches) {
  NetworkGraph g;
  g.name = "test";
  g.accelerator = find_accelerator("h100-sxm");
  g.devices = devices;
  for (std::int32_t d = 0; d < devices; ++d) g.names.push_back("d" + std::to_string(d));
  for (std::int32_t s = 0; s < switches; ++s) g.names.push_back("s" + std::to_string(s));
  return g;
}

inline void link(NetworkGraph& g, std::int32_t a, std::int32_t b, double rate, double latency) {
  g.links.push_back({a, b, BytesPerSecond{rate}, Seconds{latency}});
}

// dims[0] fastest; every side that is longer than two closes where `wrap` says so.
inline NetworkGraph grid(const std::vector<std::int32_t>& dims, bool wrap, double rate, double latency) {
  std::int32_t n = 1;
  for (const std::int32_t side : dims) n *= side;
  NetworkGraph g = empty(n, 0);
  std::int32_t stride = 1;
  for (const std::int32_t side : dims) {
    for (std::int32_t d = 0; d < n; ++d) {
      const bool last = d / stride % side == side - 1;
      if (!last) link(g, d, d + stride, rate, latency);
      if (last && wrap && side > 2) link(g, d, d - (side - 1) * stride, rate, latency);
    }
    stride *= side;
  }
  g.links = merge_parallel(std::move(g.links));
  return g;
}

}  // namespace nest::cluster::testing_networks
