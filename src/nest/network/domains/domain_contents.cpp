#include "nest/network/domains/domain_contents.hpp"

#include <algorithm>
#include <utility>

namespace nest::network {
namespace {

std::int32_t narrow(std::int64_t n) {
  return static_cast<std::int32_t>(n);
}

std::size_t index(std::int64_t i) {
  return static_cast<std::size_t>(i);
}

}  // namespace

DomainContents::DomainContents(const Cluster& cluster, GroupFacts& facts)
    : cluster_(&cluster), facts_(&facts) {
  const DeviceTree& tree = cluster.tree();
  for (std::int32_t l = 0; l < tree.levels(); ++l) {
    const LevelId level(l);
    const bool alike = tree.regular(level) && !facts.hops(l);
    places_.push_back(alike ? facts.place(tree.children(level, 0), tree.devices_in(level, 0)) : -1);
  }
}

void DomainContents::start(const SiblingSpec& spec, std::size_t owners) {
  spec_ = &spec;
  contents_.clear();
  entries_.clear();
  done_.clear();
  done_begin_ = entries_begin_ = 0;
  found_.assign(owners, {});
}

std::span<const GroupEntry> DomainContents::entries(std::int32_t content) const {
  const std::size_t from = content == 0 ? 0 : contents_[index(content) - 1].entries_end;
  return {entries_.data() + from, contents_[index(content)].entries_end - from};
}

std::span<const std::int32_t> DomainContents::done(std::int32_t content) const {
  const std::size_t from = content == 0 ? 0 : contents_[index(content) - 1].done_end;
  return {done_.data() + from, contents_[index(content)].done_end - from};
}

std::int32_t DomainContents::close(const DomainSpot& domain) {
  contents_.push_back({narrow(domain.devices), entries_.size(), done_.size()});
  entries_begin_ = entries_.size();
  done_begin_ = done_.size();
  return narrow(static_cast<std::int64_t>(contents_.size()) - 1);
}

void DomainContents::keep(std::int32_t owner, std::int32_t facts) {
  // Mostly there are few. On a grid every group may have its own: what comes twice is then found at the end.
  constexpr std::size_t kFew = 8;
  std::vector<std::int32_t>& names = found_[index(owner)];
  const auto few = names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), kFew));
  if (std::find(names.begin(), few, facts) != few) return;
  if (names.empty() || names.back() != facts) names.push_back(facts);
}

OwnerFacts DomainContents::take_found() {
  for (std::vector<std::int32_t>& names : found_) {
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
  }
  return std::exchange(found_, {});
}

void DomainContents::add(const ArcSweep::Piece& piece, std::int32_t count, std::int32_t facts, bool only) {
  if (count == spec_->members) {
    if (!only) return keep(piece.owner, facts);
    const auto own = done_.begin() + static_cast<std::ptrdiff_t>(done_begin_);
    if (std::find(own, done_.end(), facts) == done_.end()) done_.push_back(facts);
    return;
  }
  if (entries_.size() > entries_begin_) {
    GroupEntry& last = entries_.back();
    if (last.owner == piece.owner && last.to == piece.from && last.count == count && last.facts == facts) {
      last.to = piece.to;
      return;
    }
  }
  entries_.push_back({piece.owner, piece.from, piece.to, count, facts});
}

std::int32_t DomainContents::place_of(const DomainSpot& domain) {
  const std::int32_t fixed = places_[index(domain.level)];
  if (fixed >= 0) return fixed;
  const LevelId level(domain.level);
  const std::int32_t number = cluster_->tree().regular(level) ? 0 : domain.number;
  return facts_->place(cluster_->tree().children(level, number), narrow(domain.devices), at_);
}

// Loads that leave a device its whole bandwidth are all one: level_shape() then looks at nothing but the
// members inside.
std::int32_t DomainContents::with_load(std::int32_t set, std::int32_t level, ChildLoad load) const {
  const double oversubscription = cluster_->level(LevelId(level)).oversubscription;
  if (level > 0) {
    if (oversubscription * load.flows <= load.devices) load.flows = 1;
    if (oversubscription * load.groups <= load.devices) load.groups = 1;
    if (load.flows == 1 && load.groups == 1 && oversubscription <= load.devices) load.devices = 1 << 24;
  } else if (places_[0] >= 0) {
    const std::int32_t devices = cluster_->tree().devices_in(LevelId(0), 0);
    if (oversubscription * load.domain_flows <= devices) load.domain_flows = load.domain_groups = 1;
  }
  return facts_->with(set, load);
}

std::int32_t DomainContents::apart(const DomainSpot& domain, std::span<const GroupArc> arcs) {
  const std::int32_t nothing = facts_->name({});
  for (const GroupArc& arc : arcs) entries_.push_back({arc.owner, arc.from, arc.to, arc.count, nothing});
  return close(domain);
}

std::int32_t DomainContents::innermost(const DomainSpot& domain, std::vector<GroupArc>& arcs, bool only) {
  sweep_.sweep(arcs);
  const std::vector<ArcSweep::Piece>& pieces = sweep_.pieces();
  const auto members = [&](const ArcSweep::Piece& piece) {
    std::int32_t count = 0;
    for (const GroupArc& arc : sweep_.arcs(piece)) count += arc.count;
    return count;
  };
  const auto flows = [&](std::size_t first, std::size_t last) {
    std::int32_t sum = 0;
    for (std::size_t i = first; i < last; ++i) {
      const std::int32_t count = members(pieces[i]);
      if (count > 1) sum += count * (pieces[i].to - pieces[i].from) * narrow(spec_->lanes);
    }
    return sum;
  };
  const bool hops = facts_->hops(0);
  const std::int32_t all = of_all() ? flows(0, pieces.size()) : 0;
  for (std::size_t first = 0; first < pieces.size();) {
    std::size_t last = first + 1;
    while (last < pieces.size() && pieces[last].owner == pieces[first].owner) ++last;
    const std::int32_t own = of_own() ? flows(first, last) : 0;
    for (std::size_t i = first; i < last; ++i) {
      const std::int32_t count = members(pieces[i]);
      parts_.assign(1, {});
      GroupFacts::Part& part = parts_.front();
      if (hops) part.held = count;
      if (count > 1) {
        at_.clear();
        for (const GroupArc& arc : sweep_.arcs(pieces[i])) {
          if (hops) at_.push_back(arc.child);
        }
        part.members = count;
        part.edges = count - 1;
        part.place = place_of(domain);
        if (of_all()) part.loads = with_load(0, 0, {1, 1, 1, 1, all, all});
        if (of_own()) part.own = with_load(0, 0, {1, 1, 1, 1, own, own});
      }
      add(pieces[i], count, facts_->name(parts_), only);
    }
    first = last;
  }
  return close(domain);
}

// The children's groups, numbered as the domain's.
void DomainContents::gather(std::span<const ChildContent> children) {
  const std::int32_t ring = spec_->kind == SiblingKind::spread ? narrow(spec_->ring) : 0;
  arcs_.clear();
  for (std::size_t c = 0; c < children.size(); ++c) {
    const GroupBase& base = children[c].base;
    for (const GroupEntry& e : entries(children[c].content)) {
      GroupArc arc{
          e.owner + base.owner, e.from, e.to, e.count, e.facts, narrow(static_cast<std::int64_t>(c))};
      if (ring > 0 && e.to - e.from == ring) {
        arcs_.push_back(arc);  // all groups, however they are numbered
        continue;
      }
      arc.from += base.group;
      arc.to += base.group;
      if (ring > 0 && arc.from >= ring) {
        arc.from -= ring;
        arc.to -= ring;
      }
      if (ring > 0 && arc.to > ring) {
        GroupArc rest = arc;
        rest.from = 0;
        rest.to = arc.to - ring;
        arc.to = ring;
        arcs_.push_back(rest);
      }
      arcs_.push_back(arc);
    }
  }
}

void DomainContents::count_traffic(std::span<const ChildContent> children, std::size_t first,
                                   std::size_t last, std::vector<Traffic>& traffic) const {
  for (const ArcSweep::Piece& piece : std::span(sweep_.pieces()).subspan(first, last - first)) {
    const std::span<const GroupArc> arcs = sweep_.arcs(piece);
    if (arcs.size() == 1 && children[index(arcs.front().child)].times == 1) continue;
    const std::int32_t groups = (piece.to - piece.from) * narrow(spec_->lanes);
    for (const GroupArc& arc : arcs) {
      traffic[index(arc.child)].flows += groups * arc.count;
      traffic[index(arc.child)].groups += groups;
    }
  }
}

std::int32_t DomainContents::outer_facts(const DomainSpot& domain, std::span<const ChildContent> children,
                                         const ArcSweep::Piece& piece) {
  const std::span<const GroupArc> arcs = sweep_.arcs(piece);
  const bool hops = facts_->hops(domain.level);
  parts_.assign(index(domain.level) + 1, {});
  std::int32_t times = 0;  // children with members
  std::int32_t count = 0;
  std::int32_t alike = 0;  // of them, those with the latest facts
  for (std::size_t i = 0; i < arcs.size(); ++i) {
    const std::int32_t own = children[index(arcs[i].child)].times;
    times += own;
    count += own * arcs[i].count;
    alike += own;
    if (i + 1 < arcs.size() && arcs[i + 1].facts == arcs[i].facts) continue;
    facts_->merge(arcs[i].facts, alike, parts_);
    alike = 0;
  }
  GroupFacts::Part& part = parts_.back();
  part = {};
  if (hops) part.held = count;
  if (times > 1) {
    part.members = times;
    part.edges = times - 1;
    at_.clear();
    ChildLoad last_all;
    ChildLoad last_own;
    for (std::size_t i = 0; i < arcs.size(); ++i) {
      const ChildContent& child = children[index(arcs[i].child)];
      const std::int32_t devices = contents_[index(child.content)].devices;
      const Traffic& all = all_[index(arcs[i].child)];
      const Traffic& own = own_[index(arcs[i].child)];
      const ChildLoad of_everyone{arcs[i].count, devices, all.flows, all.groups, 1, 1};
      const ChildLoad of_owner{arcs[i].count, devices, own.flows, own.groups, 1, 1};
      if (of_all() && (i == 0 || of_everyone != last_all))
        part.loads = with_load(part.loads, domain.level, of_everyone);
      if (of_own() && (i == 0 || of_owner != last_own))
        part.own = with_load(part.own, domain.level, of_owner);
      last_all = of_everyone;
      last_own = of_owner;
      if (hops) at_.push_back(child.index);
    }
    part.place = place_of(domain);
  }
  return facts_->name(parts_);
}

// Whether a piece lies in the same children as the one before, with equal numbers and facts.
bool DomainContents::as_before(std::size_t piece) const {
  if (piece == 0) return false;
  const std::span<const GroupArc> a = sweep_.arcs(sweep_.pieces()[piece]);
  const std::span<const GroupArc> b = sweep_.arcs(sweep_.pieces()[piece - 1]);
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i].child != b[i].child || a[i].count != b[i].count || a[i].facts != b[i].facts) return false;
    if (of_own() && own_[index(a[i].child)] != last_own_[i]) return false;
  }
  return true;
}

std::int32_t DomainContents::outer(const DomainSpot& domain, std::span<const ChildContent> children,
                                   std::span<const std::int32_t> done, bool only) {
  gather(children);
  sweep_.sweep(arcs_);
  const std::vector<ArcSweep::Piece>& pieces = sweep_.pieces();
  done_.insert(done_.end(), done.begin(), done.end());
  all_.assign(children.size(), {});
  own_.assign(children.size(), {});
  if (of_all()) count_traffic(children, 0, pieces.size(), all_);
  std::int32_t facts = 0;
  for (std::size_t first = 0; first < pieces.size();) {
    std::size_t last = first + 1;
    while (last < pieces.size() && pieces[last].owner == pieces[first].owner) ++last;
    if (of_own()) count_traffic(children, first, last, own_);
    for (std::size_t i = first; i < last; ++i) {
      const std::span<const GroupArc> arcs = sweep_.arcs(pieces[i]);
      if (!as_before(i)) {
        facts = outer_facts(domain, children, pieces[i]);
        last_own_.clear();
        for (const GroupArc& arc : arcs) last_own_.push_back(own_[index(arc.child)]);
      }
      std::int32_t members = 0;
      for (const GroupArc& arc : arcs) members += arc.count * children[index(arc.child)].times;
      add(pieces[i], members, facts, only);
    }
    for (std::size_t i = first; of_own() && i < last; ++i) {
      for (const GroupArc& arc : sweep_.arcs(pieces[i])) own_[index(arc.child)] = {};
    }
    first = last;
  }
  return close(domain);
}

}  // namespace nest::network
