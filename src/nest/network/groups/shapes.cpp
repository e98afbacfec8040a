#include "nest/network/groups/shapes.hpp"

#include <algorithm>
#include <utility>

namespace nest::network {

Shapes::Shapes(std::vector<GroupShape> shapes) {
  if (shapes.empty()) return;
  make_canonical(shapes);
  list_ = std::make_shared<const std::vector<GroupShape>>(std::move(shapes));
}

bool Shapes::operator==(const Shapes& other) const {
  return list_ == other.list_ || std::equal(begin(), end(), other.begin(), other.end());
}

}  // namespace nest::network
