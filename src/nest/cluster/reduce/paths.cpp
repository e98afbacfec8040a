#include "nest/cluster/reduce/paths.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <queue>
#include <tuple>

namespace nest::cluster {
namespace {

// Links are taken in from the widest to the narrowest. When a rate joins several components, exactly the
// pairs across them have that rate as their widest; least latencies are then searched from all but the
// largest of the joined components. A device is in the smaller part at most log2(n) times, which bounds the
// number of searches.
class WidestPaths {
 public:
  explicit WidestPaths(const NetworkGraph& graph)
      : graph_(graph),
        table_(graph.devices),
        neighbours_(graph.names.size()),
        component_(graph.names.size()),
        members_(graph.names.size()),
        distance_(graph.names.size(), kFar) {
    std::iota(component_.begin(), component_.end(), 0);
    for (std::int32_t d = 0; d < graph.devices; ++d) members_[static_cast<std::size_t>(d)] = {d};
  }

  PairTable run() {
    std::vector<Link> links = graph_.links;
    std::sort(links.begin(), links.end(), [](const Link& x, const Link& y) {
      return std::tie(y.bandwidth, x.a, x.b) < std::tie(x.bandwidth, y.a, y.b);
    });
    for (std::size_t begin = 0; begin < links.size();) {
      std::size_t end = begin;
      while (end < links.size() && links[end].bandwidth == links[begin].bandwidth) ++end;
      take_in({links.begin() + static_cast<std::ptrdiff_t>(begin),
               links.begin() + static_cast<std::ptrdiff_t>(end)});
      begin = end;
    }
    return std::move(table_);
  }

 private:
  static constexpr double kFar = std::numeric_limits<double>::infinity();
  struct Hop {
    std::int32_t to;
    double latency;
  };

  std::int32_t find(std::int32_t x) {
    while (component_[static_cast<std::size_t>(x)] != x) {
      auto& up = component_[static_cast<std::size_t>(x)];
      up = component_[static_cast<std::size_t>(up)];
      x = up;
    }
    return x;
  }

  void take_in(const std::vector<Link>& links) {
    std::vector<std::int32_t> before;  // components, as they were, that this rate touches
    for (const Link& link : links) {
      neighbours_[static_cast<std::size_t>(link.a)].push_back({link.b, link.latency.value});
      neighbours_[static_cast<std::size_t>(link.b)].push_back({link.a, link.latency.value});
      before.push_back(find(link.a));
      before.push_back(find(link.b));
    }
    std::sort(before.begin(), before.end());
    before.erase(std::unique(before.begin(), before.end()), before.end());
    for (const Link& link : links) component_[static_cast<std::size_t>(find(link.a))] = find(link.b);
    std::sort(before.begin(), before.end(), [this](std::int32_t x, std::int32_t y) {
      return std::pair(find(x), x) < std::pair(find(y), y);
    });
    for (std::size_t begin = 0; begin < before.size();) {
      std::size_t end = begin;
      while (end < before.size() && find(before[end]) == find(before[begin])) ++end;
      join({before.begin() + static_cast<std::ptrdiff_t>(begin),
            before.begin() + static_cast<std::ptrdiff_t>(end)},
           links.front().bandwidth.value);
      begin = end;
    }
  }

  std::vector<std::int32_t>& members(std::int32_t component) {
    return members_[static_cast<std::size_t>(component)];
  }

  void join(std::vector<std::int32_t> parts, double rate) {
    std::sort(parts.begin(), parts.end(), [this](std::int32_t x, std::int32_t y) {
      return std::pair(members(x).size(), x) < std::pair(members(y).size(), y);
    });
    std::vector<std::int32_t> rest;  // devices of this part and of the larger ones
    for (const std::int32_t part : parts) rest.insert(rest.end(), members(part).begin(), members(part).end());
    std::vector<std::int32_t> all = rest;
    std::size_t done = 0;
    for (std::size_t p = 0; p + 1 < parts.size(); ++p) {
      const std::size_t next = done + members(parts[p]).size();
      for (std::size_t i = done; i < next; ++i) {
        search(rest[i]);
        for (std::size_t j = next; j < rest.size(); ++j) {
          table_.at(rest[i], rest[j]) = {rate, distance_[static_cast<std::size_t>(rest[j])]};
        }
        for (const std::int32_t node : reached_) distance_[static_cast<std::size_t>(node)] = kFar;
      }
      done = next;
    }
    const std::int32_t root = find(parts.front());
    for (const std::int32_t part : parts) members(part).clear();
    members(root) = std::move(all);
  }

  // Least latencies over the links taken in so far.
  void search(std::int32_t source) {
    using Entry = std::pair<double, std::int32_t>;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
    reached_.assign(1, source);
    distance_[static_cast<std::size_t>(source)] = 0;
    queue.emplace(0, source);
    while (!queue.empty()) {
      const auto [so_far, node] = queue.top();
      queue.pop();
      if (so_far > distance_[static_cast<std::size_t>(node)]) continue;
      for (const Hop& hop : neighbours_[static_cast<std::size_t>(node)]) {
        double& best = distance_[static_cast<std::size_t>(hop.to)];
        if (so_far + hop.latency >= best) continue;
        if (best == kFar) reached_.push_back(hop.to);
        best = so_far + hop.latency;
        queue.emplace(best, hop.to);
      }
    }
  }

  const NetworkGraph& graph_;
  PairTable table_;
  std::vector<std::vector<Hop>> neighbours_;
  std::vector<std::int32_t> component_;
  std::vector<std::vector<std::int32_t>> members_;  // devices of each component, kept at its root
  std::vector<double> distance_;
  std::vector<std::int32_t> reached_;
};

}  // namespace

PairTable pair_figures(const NetworkGraph& graph) {
  return WidestPaths(graph).run();
}

}  // namespace nest::cluster
