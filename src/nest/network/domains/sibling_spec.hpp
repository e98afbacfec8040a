// Sibling groups of a placement by the rule, as numbers.
//
// Every device belongs to a segment: `lanes` neighbouring devices of one cell that lie in one innermost
// domain, whose groups lie alike. Segments of a slot are numbered in device order, over all blocks. A segment
// belongs to the groups of its owner (a slot, or a pair of slots) with number
//   spread   segment % ring                                (ring = classes * groups)
//   chunks   segment / ring * classes + segment % classes  (ring = classes * members)
//   pairs    segment
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "nest/network/domains/arc_sweep.hpp"

namespace nest::network {

enum class SiblingKind { spread, chunks, pairs };

struct SiblingSpec {
  SiblingKind kind = SiblingKind::spread;
  std::int64_t lanes = 1;    // devices of a segment
  std::int64_t ring = 1;     // segments after which group numbers repeat, or chunks end
  std::int64_t classes = 1;  // segments of one rank number
  std::int64_t members = 1;  // of a group
  bool alone = false;        // whether facts with the owner's groups alone are wanted as well
  std::vector<std::vector<std::int32_t>> pairs_of_slot;

  // Makes slots the owners of pairs.
  void set_pairs(const std::vector<std::pair<std::int64_t, std::int64_t>>& pairs, std::size_t slots);
};

// Segments of one slot, one after the other.
struct SegmentRun {
  std::int64_t slot = 0;
  std::int64_t first = 0;
  std::int64_t count = 0;
};

// What to take away from owners and group numbers so that contents that differ only there become equal.
struct GroupBase {
  std::int32_t owner = 0;
  std::int32_t group = 0;
};

// The groups of these segments, as they lie in one child.
void add_arcs(const SiblingSpec& spec, const SegmentRun& run, const GroupBase& base, std::int32_t child,
              std::vector<GroupArc>& arcs);

}  // namespace nest::network
