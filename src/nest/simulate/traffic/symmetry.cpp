#include "nest/simulate/traffic/symmetry.hpp"

#include <algorithm>
#include <map>

namespace nest::simulate {
namespace {

// Numbers for shapes, in the order in which they come up.
class ShapeNumbers {
 public:
  [[nodiscard]] double of(const GroupShape& shape) {
    const auto at = std::find(known_.begin(), known_.end(), shape);
    if (at != known_.end()) return static_cast<double>(at - known_.begin());
    known_.push_back(shape);
    return static_cast<double>(known_.size() - 1);
  }

 private:
  std::vector<GroupShape> known_;
};

}  // namespace

std::vector<std::vector<std::size_t>> alike_copies(std::span<const BoundaryRoutes> boundaries,
                                                   std::size_t copies, const LinkTable& links) {
  std::vector<std::vector<double>> signatures(copies);
  ShapeNumbers numbers;
  std::vector<double> load(links.size());
  for (const BoundaryRoutes& boundary : boundaries) {
    std::fill(load.begin(), load.end(), 0.0);
    for (const Routes& routes : boundary) {
      for (const LinkUse& use : routes.uses) load[use.link.index()] += use.bytes;
    }
    for (std::size_t c = 0; c < copies; ++c) {
      std::vector<double> shapes;
      for (const GroupShape& shape : boundary[c].shapes) shapes.push_back(numbers.of(shape));
      std::sort(shapes.begin(), shapes.end());
      double fullest = 0;
      for (const LinkUse& use : boundary[c].uses) {
        fullest = std::max(fullest, load[use.link.index()] / links.capacity(use.link).value);
      }
      std::vector<double>& signature = signatures[c];
      signature.insert(signature.end(), shapes.begin(), shapes.end());
      signature.push_back(-1);  // ends the shapes
      signature.push_back(fullest);
    }
  }
  std::map<std::vector<double>, std::size_t> classes;
  std::vector<std::vector<std::size_t>> out;
  for (std::size_t c = 0; c < copies; ++c) {
    const auto [at, fresh] = classes.emplace(std::move(signatures[c]), out.size());
    if (fresh) out.emplace_back();
    out[at->second].push_back(c);
  }
  return out;
}

Routes joint_routes(const BoundaryRoutes& boundary, std::span<const std::size_t> copies,
                    const std::vector<bool>& matters) {
  Routes out;
  out.shapes = boundary[copies.front()].shapes;
  for (const std::size_t c : copies) {
    for (const LinkUse& use : boundary[c].uses) {
      if (matters[use.link.index()]) out.uses.push_back(use);
    }
    for (const LevelBytes& level : boundary[c].by_level) {
      const auto at = std::find_if(out.by_level.begin(), out.by_level.end(),
                                   [&](const LevelBytes& l) { return l.level == level.level; });
      if (at == out.by_level.end()) {
        out.by_level.push_back(level);
      } else {
        at->bytes += level.bytes;
      }
    }
  }
  merge_uses(out.uses);
  return out;
}

}  // namespace nest::simulate
