#include "nest/cluster/reduce/grid_shape.hpp"

#include <algorithm>
#include <unordered_map>

namespace nest::cluster {
namespace {

constexpr std::size_t kMostDims = 6;

class GridFinder {
 public:
  explicit GridFinder(const NetworkGraph& graph) : graph_(graph) {
    for (const Link& link : graph.links) links_.emplace(key(link.a, link.b), &link);
  }

  std::optional<GridShape> find() {
    if (graph_.nodes() != graph_.devices) return std::nullopt;
    for (std::size_t dims = 1; dims <= kMostDims; ++dims) {
      std::vector<std::int32_t> chosen;
      if (auto shape = extend(chosen, graph_.devices, dims)) return shape;
    }
    return std::nullopt;
  }

 private:
  [[nodiscard]] std::int64_t key(std::int32_t a, std::int32_t b) const {
    return std::int64_t{std::min(a, b)} * graph_.devices + std::max(a, b);
  }
  [[nodiscard]] const Link* link(std::int32_t a, std::int32_t b) const {
    const auto it = links_.find(key(a, b));
    return it == links_.end() ? nullptr : it->second;
  }

  // All ordered ways to write `rest` as a product of `left` factors, cut off where device 0 lacks the
  // neighbour.
  std::optional<GridShape> extend(std::vector<std::int32_t>& chosen, std::int32_t rest, std::size_t left) {
    const std::int32_t stride = graph_.devices / rest;
    if (left == 0) return rest == 1 ? check(chosen) : std::nullopt;
    if (rest < 2 || link(0, stride) == nullptr) return std::nullopt;
    for (std::int32_t n = 2; n <= rest; ++n) {
      if (rest % n != 0) continue;
      chosen.push_back(n);
      if (auto shape = extend(chosen, rest / n, left - 1)) return shape;
      chosen.pop_back();
    }
    return std::nullopt;
  }

  [[nodiscard]] std::optional<GridShape> check(const std::vector<std::int32_t>& dims) const {
    GridShape shape{dims, {}, true};
    std::size_t found = 0;
    std::int32_t stride = 1;
    const Link* any = nullptr;
    for (const std::int32_t n : dims) {
      const bool wraps = n > 2 && link(0, (n - 1) * stride) != nullptr;
      shape.wrap.push_back(wraps);
      const Link* first = nullptr;
      for (std::int32_t d = 0; d < graph_.devices; ++d) {
        const bool last = d / stride % n == n - 1;
        if (last && !wraps) continue;
        const Link* here = link(d, last ? d - (n - 1) * stride : d + stride);
        if (here == nullptr) return std::nullopt;
        if (first == nullptr) first = here;
        if (here->bandwidth != first->bandwidth || here->latency != first->latency) return std::nullopt;
        ++found;
      }
      if (any == nullptr) any = first;
      shape.same_links =
          shape.same_links && any->bandwidth == first->bandwidth && any->latency == first->latency;
      stride *= n;
    }
    if (found != graph_.links.size()) return std::nullopt;
    return shape;
  }

  const NetworkGraph& graph_;
  std::unordered_map<std::int64_t, const Link*> links_;
};

}  // namespace

std::optional<GridShape> grid_shape(const NetworkGraph& graph) {
  return GridFinder(graph).find();
}

}  // namespace nest::cluster
