// The shapes of sibling groups of a placement by the rule, without a list of its devices (domain_walk.hpp
// says how).
//
//   SlotSiblings siblings(cluster, layout);
//   siblings.spread(8, 1).together[slot]     // the groups of ranks 8 devices apart, one for each lane
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "nest/network/cells/cell_layout.hpp"
#include "nest/network/domains/domain_walk.hpp"
#include "nest/network/domains/group_facts.hpp"
#include "nest/network/domains/sibling_spec.hpp"
#include "nest/network/groups/group.hpp"

namespace nest::network {

// Shapes by slot.
struct SlotShapes {
  std::vector<Shapes> together;  // with all slots' groups talking
  std::vector<Shapes> alone;     // with the slot's own only; empty where nobody asked
};

// Slots are counted in device order. For one thread at a time.
class SlotSiblings {
 public:
  // Both outlive this.
  SlotSiblings(const Cluster& cluster, const CellLayout& layout);
  SlotSiblings(const SlotSiblings&) = delete;
  SlotSiblings& operator=(const SlotSiblings&) = delete;

  // The ranks of a slot are its devices `width` apart, copy after copy; there are `width` lanes of them.
  // Groups of the ranks whose numbers leave the same rest when divided by `groups`; 1: all of them.
  [[nodiscard]] SlotShapes spread(std::int64_t width, std::int64_t groups, bool alone = false);
  // Groups of so many ranks that follow one another.
  [[nodiscard]] SlotShapes chunks(std::int64_t width, std::int64_t members, bool alone = false);
  // Pairs of the same place in two slots, each two slots on their own.
  [[nodiscard]] std::vector<Shapes> pairs(const std::vector<std::pair<std::int64_t, std::int64_t>>& slots);

 private:
  // How many neighbouring lanes lie alike.
  [[nodiscard]] std::int64_t lanes(std::int64_t width) const;
  // With so many groups of each owner.
  [[nodiscard]] SlotShapes found(const SiblingSpec& spec, std::size_t owners, std::int64_t groups);
  [[nodiscard]] Shapes shared(std::vector<GroupShape> shapes);

  const Cluster* cluster_;
  const CellLayout* layout_;
  GroupFacts facts_;
  std::vector<Shapes> known_;  // equal shapes are the same
};

}  // namespace nest::network
