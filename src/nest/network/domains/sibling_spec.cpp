#include "nest/network/domains/sibling_spec.hpp"

#include <algorithm>

namespace nest::network {
namespace {

std::int32_t narrow(std::int64_t n) {
  return static_cast<std::int32_t>(n);
}

// So many segments one after the other, whose groups repeat after `ring` of them.
struct Round {
  std::int64_t first = 0;
  std::int64_t count = 0;
  std::int64_t ring = 1;
  std::int64_t group = 0;  // of the ring's first segment

  void add(std::int32_t owner, std::int32_t child, std::vector<GroupArc>& arcs) const {
    const auto push = [&](std::int64_t from, std::int64_t to, std::int64_t members) {
      arcs.push_back({owner, narrow(group + from), narrow(group + to), narrow(members), 0, child});
    };
    const std::int64_t rest = count % ring;
    if (count >= ring) push(0, ring, count / ring);
    if (rest > 0) push(first, std::min(ring, first + rest), 1);
    if (first + rest > ring) push(0, first + rest - ring, 1);
  }
};

}  // namespace

void SiblingSpec::set_pairs(const std::vector<std::pair<std::int64_t, std::int64_t>>& pairs,
                            std::size_t slots) {
  pairs_of_slot.assign(slots, {});
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    for (const std::int64_t slot : {pairs[i].first, pairs[i].second})
      pairs_of_slot[static_cast<std::size_t>(slot)].push_back(static_cast<std::int32_t>(i));
  }
}

void add_arcs(const SiblingSpec& spec, const SegmentRun& run, const GroupBase& base, std::int32_t child,
              std::vector<GroupArc>& arcs) {
  const std::int32_t owner = narrow(run.slot) - base.owner;
  const std::int64_t end = run.first + run.count;
  switch (spec.kind) {
    case SiblingKind::spread: {
      const std::int64_t first = (run.first % spec.ring - base.group + spec.ring) % spec.ring;
      Round{first, run.count, spec.ring, 0}.add(owner, child, arcs);
      break;
    }
    case SiblingKind::chunks:
      for (std::int64_t at = run.first; at < end;) {
        const std::int64_t chunk = at / spec.ring;
        const std::int64_t until = std::min((chunk + 1) * spec.ring, end);
        Round{at % spec.classes, until - at, spec.classes, chunk * spec.classes - base.group}.add(
            owner, child, arcs);
        at = until;
      }
      break;
    case SiblingKind::pairs:
      for (const std::int32_t pair : spec.pairs_of_slot[static_cast<std::size_t>(run.slot)]) {
        arcs.push_back(
            {pair - base.owner, narrow(run.first - base.group), narrow(end - base.group), 1, 0, child});
      }
      break;
  }
}

}  // namespace nest::network
