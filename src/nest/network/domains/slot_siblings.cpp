#include "nest/network/domains/slot_siblings.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace nest::network {

SlotSiblings::SlotSiblings(const Cluster& cluster, const CellLayout& layout)
    : cluster_(&cluster), layout_(&layout), facts_(cluster) {}

std::int64_t SlotSiblings::lanes(std::int64_t width) const {
  const DeviceTree& tree = cluster_->tree();
  if (!tree.regular(LevelId(0)) || facts_.hops(0)) return 1;
  const std::int64_t domain = tree.devices_in(LevelId(0), 0);
  if (layout_->shape().cell <= domain) return width;
  return std::gcd(width, std::gcd(domain, layout_->common_divisor()));
}

Shapes SlotSiblings::shared(std::vector<GroupShape> shapes) {
  Shapes made(std::move(shapes));
  const auto known = std::find(known_.begin(), known_.end(), made);
  if (known != known_.end()) return *known;
  return known_.emplace_back(std::move(made));
}

SlotShapes SlotSiblings::found(const SiblingSpec& spec, std::size_t owners, std::int64_t groups) {
  // What a walk needs on its way is much on large clusters, and placements live long: each has its own.
  DomainWalk walk(*cluster_, *layout_, facts_);
  const OwnerFacts facts = walk.run(spec, owners);
  const bool pairs = spec.kind == SiblingKind::pairs;
  const auto shapes = [&](const std::vector<std::int32_t>& names, bool own) {
    const bool siblings = (own ? groups : groups * static_cast<std::int64_t>(owners)) > 1;
    std::vector<GroupShape> list;
    list.reserve(names.size());
    for (const std::int32_t name : names)
      list.push_back(facts_.shape(name, static_cast<std::int32_t>(spec.members), own, siblings));
    return shared(std::move(list));
  };
  SlotShapes out;
  const auto fill = [&](std::vector<Shapes>& to, bool own) {
    for (std::size_t i = 0; i < owners; ++i) {
      // Most slots have the same facts as one before.
      const auto same = std::find(facts.begin(), facts.begin() + static_cast<std::ptrdiff_t>(i), facts[i]);
      const auto at = static_cast<std::size_t>(same - facts.begin());
      to.push_back(at < i ? to[at] : shapes(facts[i], own));
    }
  };
  fill(out.together, pairs);
  if (spec.alone) fill(out.alone, true);
  return out;
}

SlotShapes SlotSiblings::spread(std::int64_t width, std::int64_t groups, bool alone) {
  const PlacementShape& shape = layout_->shape();
  SiblingSpec spec{.kind = SiblingKind::spread, .lanes = lanes(width), .alone = alone};
  spec.classes = width / spec.lanes;
  spec.ring = spec.classes * groups;
  spec.members = shape.inner * shape.outer * shape.cell / width / groups;
  return found(spec, static_cast<std::size_t>(shape.stages), width * groups);
}

SlotShapes SlotSiblings::chunks(std::int64_t width, std::int64_t members, bool alone) {
  const PlacementShape& shape = layout_->shape();
  SiblingSpec spec{.kind = SiblingKind::chunks, .lanes = lanes(width), .members = members, .alone = alone};
  spec.classes = width / spec.lanes;
  spec.ring = spec.classes * members;
  return found(spec, static_cast<std::size_t>(shape.stages),
               shape.inner * shape.outer * shape.cell / members);
}

std::vector<Shapes> SlotSiblings::pairs(const std::vector<std::pair<std::int64_t, std::int64_t>>& slots) {
  const PlacementShape& shape = layout_->shape();
  SiblingSpec spec{.kind = SiblingKind::pairs, .lanes = lanes(shape.cell), .members = 2};
  spec.set_pairs(slots, static_cast<std::size_t>(shape.stages));
  return found(spec, slots.size(), shape.inner * shape.outer * shape.cell).together;
}

}  // namespace nest::network
