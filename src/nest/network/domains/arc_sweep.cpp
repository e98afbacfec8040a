#include "nest/network/domains/arc_sweep.hpp"

#include <algorithm>
#include <tuple>

namespace nest::network {

void ArcSweep::sweep(std::vector<GroupArc>& arcs) {
  sort_by_owner(arcs);
  pieces_.clear();
  arcs_.clear();
  for (std::size_t first = 0; first < arcs.size();) {
    std::size_t last = first + 1;
    while (last < arcs.size() && arcs[last].owner == arcs[first].owner) ++last;
    const std::span own = std::span(arcs).subspan(first, last - first);
    const auto before = [](const GroupArc& a, const GroupArc& b) {
      return std::tie(a.from, a.child, a.to) < std::tie(b.from, b.child, b.to);
    };
    if (!std::is_sorted(own.begin(), own.end(), before)) std::sort(own.begin(), own.end(), before);
    sweep_owner(own);
    first = last;
  }
}

// Arcs come child by child, each child's by owner: counting is faster than sorting.
void ArcSweep::sort_by_owner(std::vector<GroupArc>& arcs) {
  const auto before = [](const GroupArc& a, const GroupArc& b) { return a.owner < b.owner; };
  if (std::is_sorted(arcs.begin(), arcs.end(), before)) return;
  const auto [least, most] = std::minmax_element(arcs.begin(), arcs.end(), before);
  const std::int32_t first = least->owner;
  begins_.assign(static_cast<std::size_t>(most->owner - first) + 2, 0);
  for (const GroupArc& arc : arcs) ++begins_[static_cast<std::size_t>(arc.owner - first) + 1];
  for (std::size_t i = 1; i < begins_.size(); ++i) begins_[i] += begins_[i - 1];
  arcs_.resize(arcs.size());
  for (const GroupArc& arc : arcs) arcs_[begins_[static_cast<std::size_t>(arc.owner - first)]++] = arc;
  arcs.swap(arcs_);
}

void ArcSweep::sweep_owner(std::span<const GroupArc> arcs) {
  const auto add = [&](std::int32_t from, std::int32_t to, std::size_t first) {
    if (arcs_.size() > first) pieces_.push_back({arcs.front().owner, from, to, first, arcs_.size()});
  };
  bool same = true;
  bool apart = true;
  for (std::size_t i = 1; i < arcs.size(); ++i) {
    same = same && arcs[i].from == arcs[0].from && arcs[i].to == arcs[0].to;
    apart = apart && arcs[i].from >= arcs[i - 1].to;
  }
  const std::size_t begin = arcs_.size();
  arcs_.insert(arcs_.end(), arcs.begin(), arcs.end());
  if (same) return add(arcs.front().from, arcs.front().to, begin);
  if (apart) {
    for (std::size_t i = 0; i < arcs.size(); ++i)
      pieces_.push_back({arcs[i].owner, arcs[i].from, arcs[i].to, begin + i, begin + i + 1});
    return;
  }
  arcs_.resize(begin);
  cuts_.clear();
  for (const GroupArc& arc : arcs) cuts_.insert(cuts_.end(), {arc.from, arc.to});
  std::sort(cuts_.begin(), cuts_.end());
  cuts_.erase(std::unique(cuts_.begin(), cuts_.end()), cuts_.end());
  std::size_t open = 0;  // all arcs before it ended
  for (std::size_t c = 0; c + 1 < cuts_.size(); ++c) {
    const std::size_t first = arcs_.size();
    while (open < arcs.size() && arcs[open].to <= cuts_[c]) ++open;
    for (std::size_t i = open; i < arcs.size() && arcs[i].from <= cuts_[c]; ++i) {
      if (arcs[i].to > cuts_[c]) arcs_.push_back(arcs[i]);
    }
    const auto by_child = [](const GroupArc& a, const GroupArc& b) { return a.child < b.child; };
    const auto at = arcs_.begin() + static_cast<std::ptrdiff_t>(first);
    if (!std::is_sorted(at, arcs_.end(), by_child)) std::sort(at, arcs_.end(), by_child);
    add(cuts_[c], cuts_[c + 1], first);
  }
}

}  // namespace nest::network
