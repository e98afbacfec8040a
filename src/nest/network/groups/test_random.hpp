// For tests: random numbers, and clusters made of them. The seed is all that a test has to print.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "nest/cluster/cluster_file.hpp"

namespace nest::test {
using namespace network;

class Dice {
 public:
  explicit Dice(unsigned seed) : random_(seed) {}

  std::int64_t pick(std::int64_t from, std::int64_t to) {
    return from + static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(to - from + 1));
  }
  bool once_in(int n) { return pick(1, n) == 1; }
  template <class T>
  const T& one_of(const std::vector<T>& list) {
    return list[static_cast<std::size_t>(pick(0, static_cast<std::int64_t>(list.size()) - 1))];
  }
  std::int64_t divisor_of(std::int64_t n) {
    std::vector<std::int64_t> all;
    for (std::int64_t d = 1; d <= n; ++d) {
      if (n % d == 0) all.push_back(d);
    }
    return one_of(all);
  }

 private:
  std::mt19937_64 random_;
};

// Two or three levels of switches; the sizes of the middle ones differ from domain to domain.
[[nodiscard]] inline Cluster random_cluster(Dice& dice) {
  const auto speed = [&](std::int64_t most) { return std::to_string(dice.pick(most / 8, most)) + " GB/s"; };
  const std::int64_t racks = dice.pick(1, 3);
  std::string sizes;
  for (std::int64_t r = 0; r < racks; ++r) sizes += (r == 0 ? "" : ", ") + std::to_string(dice.pick(1, 4));
  std::string text =
      "name: random\naccelerator: {name: x, memory: 80 GB, memory_bandwidth: 3 TB/s, peak: {bf16: 1000 "
      "TFLOP/s}}\nlevels:\n";
  // Each draw has its own statement: compilers evaluate operands in their own order.
  const std::string node_speed = speed(400);
  const std::string node_size = std::to_string(dice.pick(1, 4));
  text += "  - {name: node, kind: switch, size: " + node_size + ", bandwidth: " + node_speed +
          ", latency: 1 us}\n";
  for (const auto& [name, size, most, latency] :
       {std::tuple{"rack", "sizes: [" + sizes + "]", 100, "5 us"},
        std::tuple{"spine", "size: " + std::to_string(racks), 50, "10 us"}}) {
    const std::string oversubscription = std::to_string(dice.pick(1, 3));
    const std::string bandwidth = speed(most);
    text += std::string("  - {name: ") + name + ", kind: switch, " + size + ", bandwidth: " + bandwidth +
            ", latency: " + latency + ", oversubscription: " + oversubscription + "}\n";
  }
  return read_cluster(parse_yaml("cluster", text));
}

}  // namespace nest::test
