#include "nest/plan/domain_walk.hpp"

#include <algorithm>
#include <array>

namespace nest {
namespace {

std::int32_t narrow(std::int64_t n) {
  return static_cast<std::int32_t>(n);
}

std::size_t index(std::int64_t i) {
  return static_cast<std::size_t>(i);
}

}  // namespace

DomainWalk::DomainWalk(const DeviceTree& tree, const CellLayout& layout, const FamilySpec& spec,
                       GroupFacts& facts)
    : tree_(tree),
      layout_(layout),
      spec_(spec),
      facts_(facts),
      in_cell_(layout.shape().cell / spec.lanes),
      run_(layout.shape().inner * in_cell_),
      first_hops_(0),
      scratch_(index(tree.levels())) {
  while (first_hops_ < tree.levels() && !facts.hops(first_hops_)) ++first_hops_;
  for (std::int32_t l = 0; l < tree.levels(); ++l) {
    const LevelId level(l);
    const bool alike = tree.regular(level) && !facts.hops(l);
    places_.push_back(alike ? facts.place(tree.children(level, 0), tree.devices_in(level, 0)) : -1);
  }
}

OwnerFacts DomainWalk::run(std::size_t owners) {
  found_.resize(owners);
  const Seen all = look({tree_.levels() - 1, 0, 0, tree_.devices()});
  for (const std::int32_t facts : contents_[index(all.content)].done) keep(all.base.owner, facts);
  for (std::vector<std::int32_t>& names : found_) std::sort(names.begin(), names.end());
  return std::move(found_);
}

void DomainWalk::keep(std::int32_t owner, std::int32_t facts) {
  std::vector<std::int32_t>& names = found_[index(owner)];
  if (std::find(names.begin(), names.end(), facts) == names.end()) names.push_back(facts);
}

DomainWalk::Domain DomainWalk::child_of(const Domain& domain, std::int32_t i) const {
  const LevelId level(domain.level);
  const LevelId below(domain.level - 1);
  if (tree_.regular(level)) {
    const std::int64_t devices = tree_.devices_in(below, 0);
    return {below.value, 0, domain.first + i * devices, devices};
  }
  const std::int32_t number = tree_.first_child(level, domain.number) + i;
  return {below.value, number, tree_.first_device(below, number).value, tree_.devices_in(below, number)};
}

SegmentRun DomainWalk::run_of(const CellSpot& spot, std::int64_t device, std::int64_t count) const {
  const std::int64_t slot = spot.number / layout_.shape().inner;
  const std::int64_t before = spot.number - slot * layout_.shape().inner;
  const std::int64_t segment = spot.block * run_ + before * in_cell_ + (device - spot.start) / spec_.lanes;
  return {slot, segment, count};
}

std::optional<DomainWalk::Within> DomainWalk::within_slot(const Domain& domain, const CellSpot& spot) const {
  const PlacementShape& shape = layout_.shape();
  const std::int64_t end = domain.first + domain.devices;
  const auto& regular = layout_.regular();
  if (regular && domain.devices >= regular->unit()) {
    const std::int64_t cells = domain.devices / regular->unit() * regular->per_unit();
    const std::int64_t left = shape.inner - spot.number % shape.inner - cells;
    if (spot.start != domain.first || left < 0) return std::nullopt;
    const std::int64_t last = end - regular->unit() + (regular->per_unit() - 1) * shape.cell;
    if (layout_.start(spot.block, spot.number + cells - 1) != last) return std::nullopt;
    return Within{run_of(spot, domain.first, cells * in_cell_), left / cells};
  }
  const std::int64_t cell_end = spot.start + shape.cell;
  if (spot.start > domain.first || cell_end < end) return std::nullopt;
  return Within{run_of(spot, domain.first, domain.devices / spec_.lanes), (cell_end - end) / domain.devices};
}

// Whether no two segments belong to one group, and no level asks where they lie.
bool DomainWalk::all_apart(const Domain& domain, const SegmentRun& run) const {
  if (domain.level >= first_hops_) return false;
  return spec_.kind == FamilyKind::pairs || (spec_.kind == FamilyKind::spread && run.count <= spec_.ring);
}

DomainWalk::Seen DomainWalk::look_within(const Domain& domain, const Within& within) {
  const SegmentRun& run = within.run;
  std::array<std::int32_t, 4> key{domain.level, 0, 0, 0};
  Seen out;
  switch (spec_.kind) {
    case FamilyKind::spread:
      out.base = {narrow(run.slot), narrow(run.first % spec_.ring)};
      break;
    case FamilyKind::chunks: {
      const std::int64_t offset = run.first % spec_.ring;
      const bool ends = offset + run.count > spec_.ring;
      out.base = {narrow(run.slot), narrow(run.first / spec_.ring * spec_.classes)};
      key[1] = ends ? 2 : 1;
      key[2] = narrow(ends ? offset : offset % spec_.classes);
      break;
    }
    case FamilyKind::pairs:
      out.base = {0, narrow(run.first)};
      key[1] = 3;
      key[2] = narrow(run.slot);
      break;
  }
  std::int32_t& known = known_content(key);
  if (known < 0 && all_apart(domain, run)) {
    Scratch& s = scratch_[index(domain.level)];
    s.arcs.clear();
    add_arcs(spec_, run, out.base, 0, s.arcs);
    Content content{.devices = narrow(domain.devices)};
    for (const GroupArc& arc : s.arcs)
      content.entries.push_back({arc.owner, arc.from, arc.to, arc.count, facts_.name({})});
    known = narrow(static_cast<std::int64_t>(contents_.size()));
    contents_.push_back(std::move(content));
    out.content = known;
  } else if (known < 0) {
    out.content = make(domain, out.base, spec_.kind != FamilyKind::pairs);
    known_content(key) = out.content;
  } else {
    out.content = known;
  }
  const bool empty = contents_[index(out.content)].entries.empty();
  const bool in_step = run.count % spec_.ring == 0;
  if (in_step && (spec_.kind == FamilyKind::spread || (spec_.kind == FamilyKind::chunks && empty)))
    out.repeats = within.more;
  return out;
}

DomainWalk::Seen DomainWalk::look(const Domain& domain) {
  const std::int64_t end = domain.first + domain.devices;
  const std::optional<CellSpot> spot = layout_.first_after(domain.first);
  if (!spot || spot->start >= end) return {};
  const bool alike = tree_.regular(LevelId(domain.level));
  if (alike) {
    if (const auto within = within_slot(domain, *spot)) return look_within(domain, *within);
  }
  const PlacementShape& shape = layout_.shape();
  const std::int64_t block = domain.first / shape.block_devices;
  const std::int64_t before = block * run_;  // segments of each slot in earlier blocks
  std::int64_t offset = -1;
  Seen out;
  switch (spec_.kind) {
    case FamilyKind::spread:
      out.base.group = narrow(before % spec_.ring);
      break;
    case FamilyKind::chunks: {
      const std::int64_t blocks = (end - 1) / shape.block_devices - block + 1;
      out.base.group = narrow(before / spec_.ring * spec_.classes);
      if (before % spec_.ring + blocks * run_ > spec_.ring) offset = before % spec_.ring;
      break;
    }
    case FamilyKind::pairs:
      out.base.group = narrow(before);
      break;
  }
  if (!alike || !layout_.regular() || end > shape.outer * shape.block_devices) {
    out.content = make(domain, out.base, false);
  } else {
    const std::array<std::int32_t, 5> key{domain.level, 4, narrow(domain.first % shape.block_devices),
                                          narrow(domain.first % layout_.regular()->unit()), narrow(offset)};
    out.content = known_content(key);
    if (out.content < 0) {
      out.content = make(domain, out.base, false);
      known_content(key) = out.content;
    }
  }
  return out;
}

std::int32_t& DomainWalk::known_content(std::span<const std::int32_t> key) {
  const std::size_t name = index(keys_.name(key));
  if (content_of_key_.size() <= name) content_of_key_.resize(keys_.size(), -1);
  return content_of_key_[name];
}

std::int32_t DomainWalk::make(const Domain& domain, const GroupBase& base, bool only) {
  Scratch& s = scratch_[index(domain.level)];
  Content out{.devices = narrow(domain.devices)};
  s.arcs.clear();
  if (domain.level == 0) {
    gather_segments(domain, base, s);
    s.sweep.sweep(s.arcs);
    finish_innermost(domain, s, only, out);
  } else {
    gather_children(domain, base, only, s, out);
    gather_arcs(s);
    s.sweep.sweep(s.arcs);
    finish_outer(domain, s, only, out);
  }
  contents_.push_back(std::move(out));
  return narrow(static_cast<std::int64_t>(contents_.size()) - 1);
}

void DomainWalk::add(const ArcSweep::Piece& piece, std::int32_t count, std::int32_t facts, bool only,
                     Content& out) {
  if (count == spec_.members) {
    if (!only) return keep(piece.owner, facts);
    if (std::find(out.done.begin(), out.done.end(), facts) == out.done.end()) out.done.push_back(facts);
    return;
  }
  if (!out.entries.empty()) {
    Entry& last = out.entries.back();
    if (last.owner == piece.owner && last.to == piece.from && last.count == count && last.facts == facts) {
      last.to = piece.to;
      return;
    }
  }
  out.entries.push_back({piece.owner, piece.from, piece.to, count, facts});
}

std::int32_t DomainWalk::place_of(const Domain& domain, std::span<const std::int32_t> at) {
  const std::int32_t fixed = places_[index(domain.level)];
  if (fixed >= 0) return fixed;
  const LevelId level(domain.level);
  const std::int32_t number = tree_.regular(level) ? 0 : domain.number;
  return facts_.place(tree_.children(level, number), narrow(domain.devices), at);
}

void DomainWalk::gather_segments(const Domain& domain, const GroupBase& base, Scratch& s) const {
  const std::int64_t end = domain.first + domain.devices;
  SegmentRun open;
  const auto close = [&] {
    if (open.count > 0) add_arcs(spec_, open, base, 0, s.arcs);
    open = {};
  };
  for (auto spot = layout_.first_after(domain.first); spot && spot->start < end; spot = layout_.next(*spot)) {
    const std::int64_t from = std::max(spot->start, domain.first);
    const std::int64_t to = std::min(spot->start + layout_.shape().cell, end);
    const SegmentRun next = run_of(*spot, from, (to - from) / spec_.lanes);
    if (facts_.hops(0)) {  // it matters which device
      for (std::int64_t i = 0; i < next.count; ++i)
        add_arcs(spec_, {next.slot, next.first + i, 1}, base, narrow(from + i - domain.first), s.arcs);
    } else if (open.slot == next.slot && open.first + open.count == next.first) {
      open.count += next.count;
    } else {
      close();
      open = next;
    }
  }
  close();
}

void DomainWalk::finish_innermost(const Domain& domain, Scratch& s, bool only, Content& out) {
  const std::vector<ArcSweep::Piece>& pieces = s.sweep.pieces();
  const auto members = [&](const ArcSweep::Piece& piece) {
    std::int32_t count = 0;
    for (const GroupArc& arc : s.sweep.arcs(piece)) count += arc.count;
    return count;
  };
  const auto flows = [&](std::size_t first, std::size_t last) {
    std::int32_t sum = 0;
    for (std::size_t i = first; i < last; ++i) {
      const std::int32_t count = members(pieces[i]);
      if (count > 1) sum += count * (pieces[i].to - pieces[i].from) * narrow(spec_.lanes);
    }
    return sum;
  };
  const std::int32_t all = of_all() ? flows(0, pieces.size()) : 0;
  s.parts.assign(1, {});
  for (std::size_t first = 0; first < pieces.size();) {
    std::size_t last = first + 1;
    while (last < pieces.size() && pieces[last].owner == pieces[first].owner) ++last;
    const std::int32_t own = of_own() ? flows(first, last) : 0;
    for (std::size_t i = first; i < last; ++i) {
      const std::int32_t count = members(pieces[i]);
      GroupFacts::Part& part = s.parts.front();
      part = {};
      if (facts_.hops(0)) part.held = count;
      if (count > 1) {
        part.members = count;
        part.edges = count - 1;
        s.at.clear();
        if (facts_.hops(0)) {
          for (const GroupArc& arc : s.sweep.arcs(pieces[i])) s.at.push_back(arc.child);
        }
        part.place = place_of(domain, s.at);
        if (of_all()) part.loads = facts_.with(0, {1, 1, 1, 1, all, all});
        if (of_own()) part.own = facts_.with(0, {1, 1, 1, 1, own, own});
      }
      add(pieces[i], count, facts_.name(s.parts), only, out);
    }
    first = last;
  }
}

void DomainWalk::gather_children(const Domain& domain, const GroupBase& base, bool only, Scratch& s,
                                 Content& out) {
  constexpr std::size_t kLookBack = 16;
  const LevelId level(domain.level);
  const std::int32_t children = tree_.children(level, tree_.regular(level) ? 0 : domain.number);
  const bool each = facts_.hops(domain.level);
  s.children.clear();
  for (std::int32_t i = 0; i < children; ++i) {
    const Seen seen = look(child_of(domain, i));
    if (seen.content < 0) continue;
    Child child{seen.content, {seen.base.owner - base.owner, seen.base.group - base.group}, i, 1};
    if (spec_.kind == FamilyKind::spread && child.base.group < 0) child.base.group += narrow(spec_.ring);
    const Content& content = contents_[index(child.content)];
    for (const std::int32_t facts : content.done) {
      if (!only)
        keep(seen.base.owner, facts);
      else if (std::find(out.done.begin(), out.done.end(), facts) == out.done.end())
        out.done.push_back(facts);
    }
    if (content.entries.empty()) {
      i += narrow(std::min<std::int64_t>(seen.repeats, children - 1 - i));
      continue;
    }
    if (each) {
      s.children.push_back(child);
      continue;
    }
    child.times += narrow(std::min<std::int64_t>(seen.repeats, children - 1 - i));
    i += child.times - 1;
    const auto alike = [&](const Child& c) {
      return c.content == child.content && c.base.owner == child.base.owner &&
             c.base.group == child.base.group;
    };
    const auto until =
        s.children.rbegin() + static_cast<std::ptrdiff_t>(std::min(kLookBack, s.children.size()));
    const auto known = std::find_if(s.children.rbegin(), until, alike);
    if (known == until) {
      s.children.push_back(child);
    } else {
      known->times += child.times;
    }
  }
}

void DomainWalk::gather_arcs(Scratch& s) const {
  const std::int32_t ring = spec_.kind == FamilyKind::spread ? narrow(spec_.ring) : 0;
  for (std::size_t c = 0; c < s.children.size(); ++c) {
    const Child& child = s.children[c];
    const Content& content = contents_[index(child.content)];
    for (const Entry& e : content.entries) {
      GroupArc arc{e.owner + child.base.owner,          e.from, e.to, e.count, e.facts,
                   narrow(static_cast<std::int64_t>(c))};
      if (ring > 0 && e.to - e.from == ring) {
        s.arcs.push_back(arc);  // all groups, however they are numbered
        continue;
      }
      arc.from += child.base.group;
      arc.to += child.base.group;
      if (ring > 0 && arc.from >= ring) {
        arc.from -= ring;
        arc.to -= ring;
      }
      if (ring > 0 && arc.to > ring) {
        GroupArc rest = arc;
        rest.from = 0;
        rest.to = arc.to - ring;
        arc.to = ring;
        s.arcs.push_back(rest);
      }
      s.arcs.push_back(arc);
    }
  }
}

std::int32_t DomainWalk::outer_facts(const Domain& domain, const ArcSweep::Piece& piece, Scratch& s) {
  const std::span<const GroupArc> arcs = s.sweep.arcs(piece);
  const std::int32_t level = domain.level;
  s.parts.assign(index(level) + 1, {});
  std::int32_t times = 0;  // children with members
  std::int32_t count = 0;
  std::int32_t alike = 0;  // of them, those with the latest facts
  for (std::size_t i = 0; i < arcs.size(); ++i) {
    const std::int32_t own = s.children[index(arcs[i].child)].times;
    times += own;
    count += own * arcs[i].count;
    alike += own;
    if (i + 1 < arcs.size() && arcs[i + 1].facts == arcs[i].facts) continue;
    facts_.merge(arcs[i].facts, alike, s.parts);
    alike = 0;
  }
  GroupFacts::Part& part = s.parts.back();
  part = {};
  if (facts_.hops(level)) part.held = count;
  if (times > 1) {
    part.members = times;
    part.edges = times - 1;
    s.at.clear();
    for (const GroupArc& arc : arcs) {
      const Child& child = s.children[index(arc.child)];
      const std::int32_t devices = contents_[index(child.content)].devices;
      const Traffic& all = s.traffic[index(arc.child)];
      const Traffic& own = s.own[index(arc.child)];
      if (of_all()) part.loads = facts_.with(part.loads, {arc.count, devices, all.flows, all.groups, 1, 1});
      if (of_own()) part.own = facts_.with(part.own, {arc.count, devices, own.flows, own.groups, 1, 1});
      if (facts_.hops(level)) s.at.push_back(child.index);
    }
    part.place = place_of(domain, s.at);
  }
  return facts_.name(s.parts);
}

// Whether a piece lies in the same children as the one before, with equal numbers and facts.
bool DomainWalk::as_before(const ArcSweep::Piece& piece, const ArcSweep::Piece& before,
                           const Scratch& s) const {
  const std::span<const GroupArc> a = s.sweep.arcs(piece);
  const std::span<const GroupArc> b = s.sweep.arcs(before);
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i].child != b[i].child || a[i].count != b[i].count || a[i].facts != b[i].facts) return false;
    if (of_own() && !(s.own[index(a[i].child)] == s.last_own[i])) return false;
  }
  return true;
}

void DomainWalk::finish_outer(const Domain& domain, Scratch& s, bool only, Content& out) {
  const std::vector<ArcSweep::Piece>& pieces = s.sweep.pieces();
  const auto count = [&](std::size_t first, std::size_t last, std::vector<Traffic>& traffic) {
    for (std::size_t i = first; i < last; ++i) {
      const std::span<const GroupArc> arcs = s.sweep.arcs(pieces[i]);
      if (arcs.size() == 1 && s.children[index(arcs.front().child)].times == 1) continue;
      const std::int32_t groups = (pieces[i].to - pieces[i].from) * narrow(spec_.lanes);
      for (const GroupArc& arc : arcs) {
        traffic[index(arc.child)].flows += groups * arc.count;
        traffic[index(arc.child)].groups += groups;
      }
    }
  };
  s.traffic.assign(s.children.size(), {});
  s.own.assign(s.children.size(), {});
  if (of_all()) count(0, pieces.size(), s.traffic);
  std::int32_t facts = 0;
  for (std::size_t first = 0; first < pieces.size();) {
    std::size_t last = first + 1;
    while (last < pieces.size() && pieces[last].owner == pieces[first].owner) ++last;
    if (of_own()) count(first, last, s.own);
    for (std::size_t i = first; i < last; ++i) {
      const std::span<const GroupArc> arcs = s.sweep.arcs(pieces[i]);
      std::int32_t members = 0;
      for (const GroupArc& arc : arcs) members += arc.count * s.children[index(arc.child)].times;
      if (i == 0 || !as_before(pieces[i], pieces[i - 1], s)) {
        facts = outer_facts(domain, pieces[i], s);
        s.last_own.clear();
        for (const GroupArc& arc : arcs) s.last_own.push_back(s.own[index(arc.child)]);
      }
      add(pieces[i], members, facts, only, out);
    }
    for (std::size_t i = first; of_own() && i < last; ++i) {
      for (const GroupArc& arc : s.sweep.arcs(pieces[i])) s.own[index(arc.child)] = {};
    }
    first = last;
  }
}

}  // namespace nest
