// Nested partitions of devices, from fine to coarse, and the levels and device order that they make.
#pragma once

#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "nest/cluster/reduce/candidates.hpp"

namespace nest::cluster {

inline constexpr std::size_t kMostReducedLevels = 8;

using Labels = std::vector<std::int32_t>;  // the domain of each device, named by one of its devices

class UnionFind {
 public:
  explicit UnionFind(std::int32_t n) : up_(static_cast<std::size_t>(n)) {
    std::iota(up_.begin(), up_.end(), 0);
  }
  std::int32_t find(std::int32_t x) {
    while (up_[static_cast<std::size_t>(x)] != x) {
      std::int32_t& up = up_[static_cast<std::size_t>(x)];
      up = up_[static_cast<std::size_t>(up)];
      x = up;
    }
    return x;
  }
  void join(std::int32_t a, std::int32_t b) { up_[static_cast<std::size_t>(find(a))] = find(b); }
  Labels labels() {
    Labels out(up_.size());
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = find(static_cast<std::int32_t>(i));
    return out;
  }

 private:
  std::vector<std::int32_t> up_;
};

// 0, 1, 2, ...
[[nodiscard]] std::vector<std::int32_t> identity(std::int32_t devices);
// A switch with its number in its name and figures of one, to be fitted.
[[nodiscard]] Level plain_level(std::size_t number);
// Partitions that change nothing are passed over; none where more than kMostReducedLevels are left.
[[nodiscard]] std::optional<Candidate> nested(std::string method, const std::vector<Labels>& partitions);

}  // namespace nest::cluster
