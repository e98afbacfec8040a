#include "nest/cluster/reduce/candidates.hpp"

#include <algorithm>
#include <limits>
#include <set>
#include <tuple>

#include "nest/cluster/reduce/partitions.hpp"

namespace nest::cluster {
namespace {

constexpr double kTolerant = 1.01;

// Where classes of sorted values begin.
std::vector<double> class_starts(std::vector<double> values, double gap) {
  std::sort(values.begin(), values.end());
  std::vector<double> starts;
  double before = 0;
  for (const double v : values) {
    if (starts.empty() || v > before * gap) starts.push_back(v);
    before = v;
  }
  return starts;
}

std::size_t class_of(const std::vector<double>& starts, double value) {
  return static_cast<std::size_t>(std::upper_bound(starts.begin(), starts.end(), value) - starts.begin()) - 1;
}

// Ranks pairs from near to far: by class of bandwidth, widest first, then by class of latency.
class Ranks {
 public:
  Ranks(const PairTable& table, double gap) {
    std::vector<double> rates;
    rates.reserve(table.pairs());
    for (const PairFigures& pair : table.all()) rates.push_back(pair.bandwidth);
    rates_ = class_starts(std::move(rates), gap);
    std::vector<std::vector<double>> latencies(rates_.size());
    for (const PairFigures& pair : table.all())
      latencies[class_of(rates_, pair.bandwidth)].push_back(pair.latency);
    first_.assign(rates_.size(), 0);
    for (std::size_t c = rates_.size(); c-- > 0;) {
      latencies_.insert(latencies_.begin(), class_starts(std::move(latencies[c]), gap));
      first_[c] = count_;
      count_ += latencies_.front().size();
    }
  }
  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] std::size_t of(const PairFigures& pair) const {
    const std::size_t c = class_of(rates_, pair.bandwidth);
    return first_[c] + class_of(latencies_[c], pair.latency);
  }

 private:
  std::vector<double> rates_;
  std::vector<std::vector<double>> latencies_;
  std::vector<std::size_t> first_;
  std::size_t count_ = 0;
};

struct Edge {
  std::size_t rank;
  std::int32_t a;
  std::int32_t b;
};

// Prim's minimum spanning tree over ranks: what is joined within a rank is joined by it.
std::vector<Edge> spanning_tree(const PairTable& table, const Ranks& ranks) {
  const std::int32_t n = table.devices();
  std::vector<Edge> best(static_cast<std::size_t>(n), {std::numeric_limits<std::size_t>::max(), 0, 0});
  std::vector<bool> in(static_cast<std::size_t>(n), false);
  std::vector<Edge> tree;
  std::int32_t at = 0;
  for (std::int32_t step = 1; step < n; ++step) {
    in[static_cast<std::size_t>(at)] = true;
    std::int32_t next = -1;
    for (std::int32_t d = 0; d < n; ++d) {
      Edge& edge = best[static_cast<std::size_t>(d)];
      if (in[static_cast<std::size_t>(d)]) continue;
      const std::size_t rank = ranks.of(table.at(at, d));
      if (rank < edge.rank) edge = {rank, at, d};
      if (next < 0 || edge.rank < best[static_cast<std::size_t>(next)].rank) next = d;
    }
    tree.push_back(best[static_cast<std::size_t>(next)]);
    at = next;
  }
  std::sort(tree.begin(), tree.end(), [](const Edge& x, const Edge& y) {
    return std::tie(x.rank, x.a, x.b) < std::tie(y.rank, y.a, y.b);
  });
  return tree;
}

}  // namespace

std::optional<Candidate> by_bottleneck(const PairTable& table, double gap) {
  const Ranks ranks(table, gap);
  const std::vector<Edge> tree = spanning_tree(table, ranks);
  UnionFind joined(table.devices());
  std::vector<Labels> partitions;
  for (std::size_t i = 0; i < tree.size(); ++i) {
    joined.join(tree[i].a, tree[i].b);
    if (i + 1 < tree.size() && tree[i + 1].rank == tree[i].rank) continue;
    if (partitions.size() >= kMostReducedLevels) return std::nullopt;
    partitions.push_back(joined.labels());
  }
  return nested(gap > kTolerant ? "bottleneck-tolerant" : "bottleneck", partitions);
}

Candidate by_dimension(const GridShape& shape, std::int32_t devices) {
  Candidate out{"dimensions", {}, identity(devices)};
  for (std::size_t d = 0; d < shape.dims.size(); ++d) {
    Level level = plain_level(d);
    level.fan_out.size = shape.dims[d];
    // Two devices and one link are as well described by a switch, and a line by a mesh.
    level.kind = shape.wrap[d] ? LevelKind::ring : shape.dims[d] > 2 ? LevelKind::mesh : LevelKind::switched;
    if (level.kind == LevelKind::mesh) {
      level.dims = {shape.dims[d]};
      level.wrap = {false};
    }
    out.levels.push_back(std::move(level));
  }
  return out;
}

Candidate as_torus(const GridShape& shape, std::int32_t devices) {
  Level level = plain_level(0);
  level.fan_out.size = devices;
  level.dims = shape.dims;
  level.wrap = shape.wrap;
  const bool wraps = std::find(shape.wrap.begin(), shape.wrap.end(), true) != shape.wrap.end();
  level.kind = wraps ? LevelKind::torus : LevelKind::mesh;
  return {"torus", {level}, identity(devices)};
}

Candidate flat(std::int32_t devices) {
  Level level = plain_level(0);
  level.fan_out.sizes = {devices};
  return {"flat", {level}, identity(devices)};
}

void recognise_full_connection(const NetworkGraph& graph, const PairTable& table, Candidate& candidate) {
  Level& level = candidate.levels.front();
  if (level.kind != LevelKind::switched) return;
  std::set<std::pair<std::int32_t, std::int32_t>> direct;
  for (const Link& link : graph.links) {
    const bool devices = link.a < graph.devices && link.b < graph.devices;
    if (devices && link.bandwidth.value == table.at(link.a, link.b).bandwidth) direct.emplace(link.a, link.b);
  }
  std::size_t first = 0;
  std::int32_t largest = 0;
  for (const std::int32_t children : level.fan_out.sizes) {
    const auto size = static_cast<std::size_t>(children);
    largest = std::max(largest, children);
    for (std::size_t i = first; i < first + size; ++i) {
      for (std::size_t j = i + 1; j < first + size; ++j) {
        const auto ends = std::minmax(candidate.order[i], candidate.order[j]);
        if (!direct.contains({ends.first, ends.second})) return;
      }
    }
    first += size;
  }
  if (largest > 2) level.kind = LevelKind::fully_connected;
}

}  // namespace nest::cluster
