// The links that messages take on rings, meshes and tori.
#include <cstdlib>
#include <optional>

#include "nest/network/groups/grid_axes.hpp"
#include "nest/network/groups/group_grid.hpp"

namespace nest::network {
namespace {

// Steps of one dimension from child to child, `way` +1 or -1 at a time.
class Walk {
 public:
  Walk(const GridAxes& axes, std::vector<GridFlow>& out) : axes_(axes), out_(out) {}

  // `steps` neighbours further along dimension d, and where that ends.
  std::int32_t go(std::int32_t child, std::size_t d, std::int32_t way, std::int32_t steps, double share) {
    for (std::int32_t i = 0; i < steps; ++i) {
      const std::int32_t next = axes_.moved(child, d, way);
      out_.push_back({child, next, share});
      child = next;
    }
    return child;
  }
  // Along dimension d to a coordinate, the shorter way; of equal ones half goes either way, or all of it ahead.
  std::int32_t go_to(std::int32_t child, std::size_t d, std::int32_t coordinate, double share, bool both) {
    const GridAxis& axis = axes_.axis[d];
    const std::int32_t ahead = (coordinate - axes_.coordinate(child, d) + axis.size) % axis.size;
    const std::int32_t back = axis.size - ahead;
    if (ahead == 0) return child;
    if (!axis.wraps) {
      const std::int32_t far = coordinate - axes_.coordinate(child, d);
      return go(child, d, far > 0 ? 1 : -1, std::abs(far), share);
    }
    // In a ring of two both ways are one pair of neighbours with two links.
    if (ahead == back && both) {
      if (axis.size > 2) go(child, d, -1, back, share / 2);
      return go(child, d, 1, ahead, share / 2);
    }
    return ahead <= back ? go(child, d, 1, ahead, share) : go(child, d, -1, back, share);
  }

 private:
  const GridAxes& axes_;
  std::vector<GridFlow>& out_;
};

// A message that turns takes one way.
void add_message(const GridAxes& axes, std::int32_t from, std::int32_t to, double share,
                 std::vector<GridFlow>& out) {
  Walk walk(axes, out);
  std::size_t differ = 0;
  for (std::size_t d = 0; d < axes.size; ++d)
    differ += axes.coordinate(from, d) != axes.coordinate(to, d) ? 1U : 0U;
  for (std::size_t d = 0; d < axes.size; ++d)
    from = walk.go_to(from, d, axes.coordinate(to, d), share, differ == 1);
}

// Neighbouring members of one dimension pass `share` on to each other over each link that the dimension gives them.
void add_rings(const GridAxes& axes, std::size_t d, std::span<const std::int32_t> at, double share,
               std::vector<GridFlow>& out) {
  const GridAxis& axis = axes.axis[d];
  Walk walk(axes, out);
  for (const std::int32_t child : at) {
    const std::int32_t own = axes.coordinate(child, d);
    if (axis.closes()) {
      walk.go(child, d, 1, axis.stride, share);
      if (axis.size > 2) walk.go(child, d, -1, axis.stride, share);
    } else if (own != axis.last) {
      walk.go(child, d, 1, axis.stride, share);
    } else {
      walk.go(child, d, -1, axis.last - axis.first, share);  // the way back
    }
  }
}

// All with all along one dimension: what crosses each link of a line, or half of it on each way round a ring.
void add_exchange(const GridAxes& axes, std::size_t d, std::span<const std::int32_t> at,
                  std::vector<GridFlow>& out) {
  const GridAxis& axis = axes.axis[d];
  const double n = axis.count;
  const std::int32_t smaller = axis.count / 2;  // whole members on each side of the middle
  const double middle = static_cast<double>(smaller) * (axis.count - smaller) / n;
  Walk walk(axes, out);
  for (const std::int32_t child : at) {
    const std::int32_t steps = (axes.coordinate(child, d) - axis.first) / axis.stride;
    const double before = steps;
    if (axis.closes()) {
      walk.go(child, d, 1, axis.stride, middle / 2);
      if (axis.size > 2) walk.go(child, d, -1, axis.stride, middle / 2);
      continue;
    }
    if (axes.coordinate(child, d) != axis.last)
      walk.go(child, d, 1, axis.stride, (before + 1) * (n - before - 1) / n);
    if (before > 0) walk.go(child, d, -1, axis.stride, before * (n - before) / n);
  }
}

// Child after child and back to the first.
std::vector<GridFlow> one_ring(const GridAxes& axes, std::span<const std::int32_t> at, double share) {
  std::vector<GridFlow> out;
  for (std::size_t i = 0; i < at.size(); ++i) add_message(axes, at[i], at[(i + 1) % at.size()], share, out);
  return out;
}

}  // namespace

std::vector<GridFlow> grid_message(const Level& level, std::int32_t children, std::int32_t from,
                                   std::int32_t to) {
  std::vector<GridFlow> out;
  add_message(grid_axes(level, children), from, to, 1, out);
  return out;
}

std::vector<GridFlow> grid_rings(const Level& level, std::int32_t children,
                                 std::span<const std::int32_t> at) {
  const std::optional<GridAxes> box = grid_box(level, children, at);
  if (!box) return one_ring(grid_axes(level, children), at, 1);
  std::vector<GridFlow> out;
  double used = 0;
  const auto links = [&](std::size_t d) { return box->axis[d].links() / box->axis[d].stride; };
  for (std::size_t d = 0; d < box->size; ++d) used += box->axis[d].count > 1 ? links(d) : 0;
  for (std::size_t d = 0; d < box->size; ++d) {
    if (box->axis[d].count > 1) add_rings(*box, d, at, links(d) / used / box->axis[d].links(), out);
  }
  return out;
}

std::vector<GridFlow> grid_exchange(const Level& level, std::int32_t children,
                                    std::span<const std::int32_t> at) {
  const std::optional<GridAxes> box = grid_box(level, children, at);
  if (!box) return one_ring(grid_axes(level, children), at, static_cast<double>(at.size()) / 4);
  std::vector<GridFlow> out;
  for (std::size_t d = 0; d < box->size; ++d) {
    if (box->axis[d].count > 1) add_exchange(*box, d, at, out);
  }
  return out;
}

}  // namespace nest::network
