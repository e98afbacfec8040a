#include "nest/cluster/reduce/partitions.hpp"

#include <algorithm>
#include <numeric>

namespace nest::cluster {
namespace {

// Each domain named by its first device, so that labels of different levels can be compared and sorted.
Labels by_first_device(const Labels& labels) {
  std::vector<std::int32_t> first(labels.size(), -1);
  Labels out(labels.size());
  for (std::size_t d = 0; d < labels.size(); ++d) {
    std::int32_t& f = first[static_cast<std::size_t>(labels[d])];
    if (f < 0) f = static_cast<std::int32_t>(d);
    out[d] = f;
  }
  return out;
}

}  // namespace

std::vector<std::int32_t> identity(std::int32_t devices) {
  std::vector<std::int32_t> order(static_cast<std::size_t>(devices));
  std::iota(order.begin(), order.end(), 0);
  return order;
}

Level plain_level(std::size_t number) {
  Level level;
  level.name = "level" + std::to_string(number);
  level.bandwidth = BytesPerSecond{1};
  level.latency = Seconds{1};
  return level;
}

std::optional<Candidate> nested(std::string method, const std::vector<Labels>& partitions) {
  std::vector<Labels> kept;
  const auto devices = static_cast<std::int32_t>(partitions.front().size());
  Labels last = identity(devices);
  for (const Labels& partition : partitions) {
    Labels labels = by_first_device(partition);
    if (labels == last) continue;
    last = labels;
    kept.push_back(std::move(labels));
  }
  if (kept.empty() || kept.size() > kMostReducedLevels) return std::nullopt;
  Candidate out{std::move(method), {}, identity(devices)};
  std::sort(out.order.begin(), out.order.end(), [&](std::int32_t a, std::int32_t b) {
    for (std::size_t l = kept.size(); l-- > 0;) {
      const std::int32_t x = kept[l][static_cast<std::size_t>(a)];
      const std::int32_t y = kept[l][static_cast<std::size_t>(b)];
      if (x != y) return x < y;
    }
    return a < b;
  });
  for (std::size_t l = 0; l < kept.size(); ++l) {
    Level level = plain_level(l);
    std::int32_t last_domain = -1;
    std::int32_t last_child = -1;
    for (const std::int32_t device : out.order) {
      const std::int32_t domain = kept[l][static_cast<std::size_t>(device)];
      const std::int32_t child = l == 0 ? device : kept[l - 1][static_cast<std::size_t>(device)];
      if (domain != last_domain) {
        level.fan_out.sizes.push_back(1);
      } else if (child != last_child) {
        ++level.fan_out.sizes.back();
      }
      last_domain = domain;
      last_child = child;
    }
    out.levels.push_back(std::move(level));
  }
  return out;
}

}  // namespace nest::cluster
