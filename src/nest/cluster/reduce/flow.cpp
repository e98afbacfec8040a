#include "nest/cluster/reduce/flow.hpp"

#include <algorithm>
#include <limits>
#include <queue>
#include <vector>

namespace nest::cluster {
namespace {

constexpr double kEndless = std::numeric_limits<double>::max() / 4;
// A rest below this share of the largest link is rounding, not capacity.
constexpr double kRounding = 1e-12;

class Dinic {
 public:
  explicit Dinic(std::size_t nodes) : out_(nodes), depth_(nodes), next_(nodes) {}

  void add(std::size_t from, std::size_t to, double forward, double backward) {
    out_[from].push_back(arcs_.size());
    arcs_.push_back({to, forward});
    out_[to].push_back(arcs_.size());
    arcs_.push_back({from, backward});
    if (forward < kEndless) least_ = std::max(least_, forward * kRounding);
  }

  double run(std::size_t source, std::size_t sink) {
    double total = 0;
    while (layer(source, sink)) {
      std::fill(next_.begin(), next_.end(), 0);
      for (double sent = push(source, sink, kEndless); sent > least_; sent = push(source, sink, kEndless))
        total += sent;
    }
    return total;
  }

 private:
  struct Arc {
    std::size_t to;
    double room;
  };

  bool layer(std::size_t source, std::size_t sink) {
    std::fill(depth_.begin(), depth_.end(), -1);
    depth_[source] = 0;
    std::queue<std::size_t> queue;
    queue.push(source);
    while (!queue.empty()) {
      const std::size_t node = queue.front();
      queue.pop();
      for (const std::size_t id : out_[node]) {
        const Arc& arc = arcs_[id];
        if (arc.room <= least_ || depth_[arc.to] >= 0) continue;
        depth_[arc.to] = depth_[node] + 1;
        queue.push(arc.to);
      }
    }
    return depth_[sink] >= 0;
  }

  // One path of the layered graph. Depth is at most the number of layers, which is small in real networks.
  double push(std::size_t node, std::size_t sink, double room) {
    if (node == sink) return room;
    for (std::size_t& i = next_[node]; i < out_[node].size(); ++i) {
      const std::size_t id = out_[node][i];
      const std::size_t to = arcs_[id].to;
      if (arcs_[id].room <= least_ || depth_[to] != depth_[node] + 1) continue;
      const double sent = push(to, sink, std::min(room, arcs_[id].room));
      if (sent <= least_) continue;
      arcs_[id].room -= sent;
      arcs_[id ^ 1U].room += sent;
      return sent;
    }
    return 0;
  }

  std::vector<std::vector<std::size_t>> out_;
  std::vector<Arc> arcs_;
  std::vector<std::int32_t> depth_;
  std::vector<std::size_t> next_;
  double least_ = 0;
};

}  // namespace

BytesPerSecond max_flow(const NetworkGraph& graph, std::span<const std::int32_t> from,
                        std::span<const std::int32_t> to) {
  const std::size_t source = graph.names.size();
  const std::size_t sink = source + 1;
  Dinic flow(graph.names.size() + 2);
  for (const Link& link : graph.links) {
    const double rate = link.bandwidth.value;
    flow.add(static_cast<std::size_t>(link.a), static_cast<std::size_t>(link.b), rate, rate);
  }
  for (const std::int32_t device : from) flow.add(source, static_cast<std::size_t>(device), kEndless, 0);
  for (const std::int32_t device : to) flow.add(static_cast<std::size_t>(device), sink, kEndless, 0);
  return BytesPerSecond{flow.run(source, sink)};
}

}  // namespace nest::cluster
