#include "nest/network/domains/domain_walk.hpp"

#include <algorithm>
#include <array>

namespace nest::network {
namespace {

std::int32_t narrow(std::int64_t n) {
  return static_cast<std::int32_t>(n);
}

std::size_t index(std::int64_t i) {
  return static_cast<std::size_t>(i);
}

}  // namespace

DomainWalk::DomainWalk(const Cluster& cluster, const CellLayout& layout, GroupFacts& facts)
    : tree_(cluster.tree()),
      layout_(layout),
      facts_(facts),
      contents_(cluster, facts),
      scratch_(index(cluster.tree().levels())) {
  while (first_hops_ < tree_.levels() && !facts.hops(first_hops_)) ++first_hops_;
}

OwnerFacts DomainWalk::run(const SiblingSpec& spec, std::size_t owners) {
  spec_ = &spec;
  in_cell_ = layout_.shape().cell / spec.lanes;
  run_ = layout_.shape().inner * in_cell_;
  keys_.clear();
  content_of_key_.clear();
  contents_.start(spec, owners);
  const Seen all = look({tree_.levels() - 1, 0, 0, tree_.devices()}, std::nullopt);
  for (const std::int32_t facts : contents_.done(all.content)) contents_.keep(all.base.owner, facts);
  return contents_.take_found();
}

DomainSpot DomainWalk::child_of(const DomainSpot& domain, std::int32_t i) const {
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
  const std::int64_t segment = spot.block * run_ + before * in_cell_ + (device - spot.start) / spec_->lanes;
  return {slot, segment, count};
}

std::optional<DomainWalk::Within> DomainWalk::within_slot(const DomainSpot& domain,
                                                          const CellSpot& spot) const {
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
  return Within{run_of(spot, domain.first, domain.devices / spec_->lanes), (cell_end - end) / domain.devices};
}

// Whether no two segments belong to one group, and no level asks where they lie.
bool DomainWalk::all_apart(const DomainSpot& domain, const SegmentRun& run) const {
  if (domain.level >= first_hops_) return false;
  return spec_->kind == SiblingKind::pairs ||
         (spec_->kind == SiblingKind::spread && run.count <= spec_->ring);
}

DomainWalk::Seen DomainWalk::look_within(const DomainSpot& domain, const Within& within) {
  const SegmentRun& run = within.run;
  std::array<std::int32_t, 4> key{domain.level, 0, 0, 0};
  Seen out;
  switch (spec_->kind) {
    case SiblingKind::spread:
      out.base = {narrow(run.slot), narrow(run.first % spec_->ring)};
      break;
    case SiblingKind::chunks: {
      const std::int64_t offset = run.first % spec_->ring;
      const bool ends = offset + run.count > spec_->ring;
      out.base = {narrow(run.slot), narrow(run.first / spec_->ring * spec_->classes)};
      key[1] = ends ? 2 : 1;
      key[2] = narrow(ends ? offset : offset % spec_->classes);
      break;
    }
    case SiblingKind::pairs:
      out.base = {0, narrow(run.first)};
      key[1] = 3;
      key[2] = narrow(run.slot);
      break;
  }
  std::int32_t& known = known_content(key);
  out.content = known;
  if (known < 0 && all_apart(domain, run)) {
    arcs_.clear();
    add_arcs(*spec_, run, out.base, 0, arcs_);
    out.content = known = contents_.apart(domain, arcs_);
  } else if (known < 0) {
    out.content = make(domain, out.base, spec_->kind != SiblingKind::pairs);
    known_content(key) = out.content;
  }
  const bool empty = contents_.entries(out.content).empty();
  const bool in_step = run.count % spec_->ring == 0;
  if (in_step && (spec_->kind == SiblingKind::spread || (spec_->kind == SiblingKind::chunks && empty)))
    out.repeats = within.more;
  return out;
}

DomainWalk::Seen DomainWalk::look(const DomainSpot& domain, std::optional<std::int32_t> only) {
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
  Seen out{.base = {only.value_or(0), 0}};
  switch (spec_->kind) {
    case SiblingKind::spread:
      out.base.group = narrow(before % spec_->ring);
      break;
    case SiblingKind::chunks: {
      const std::int64_t blocks = (end - 1) / shape.block_devices - block + 1;
      out.base.group = narrow(before / spec_->ring * spec_->classes);
      if (before % spec_->ring + blocks * run_ > spec_->ring) offset = before % spec_->ring;
      break;
    }
    case SiblingKind::pairs:
      out.base.group = narrow(before);
      break;
  }
  if (!alike || !layout_.regular() || end > shape.outer * shape.block_devices) {
    out.content = make(domain, out.base, only.has_value());
  } else {
    const std::array<std::int32_t, 5> key{domain.level, only ? 5 : 4,
                                          narrow(domain.first % shape.block_devices),
                                          narrow(domain.first % layout_.regular()->unit()), narrow(offset)};
    out.content = known_content(key);
    if (out.content < 0) {
      out.content = make(domain, out.base, only.has_value());
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

std::int32_t DomainWalk::make(const DomainSpot& domain, const GroupBase& base, bool only) {
  if (domain.level == 0) {
    gather_segments(domain, base);
    return contents_.innermost(domain, arcs_, only);
  }
  Scratch& s = scratch_[index(domain.level)];
  gather_children(domain, base, only, s);
  return contents_.outer(domain, s.children, s.done, only);
}

void DomainWalk::gather_segments(const DomainSpot& domain, const GroupBase& base) {
  const std::int64_t end = domain.first + domain.devices;
  SegmentRun open;
  arcs_.clear();
  const auto close = [&] {
    if (open.count > 0) add_arcs(*spec_, open, base, 0, arcs_);
    open = {};
  };
  for (auto spot = layout_.first_after(domain.first); spot && spot->start < end; spot = layout_.next(*spot)) {
    const std::int64_t from = std::max(spot->start, domain.first);
    const std::int64_t to = std::min(spot->start + layout_.shape().cell, end);
    const SegmentRun next = run_of(*spot, from, (to - from) / spec_->lanes);
    if (facts_.hops(0)) {  // it matters which device
      for (std::int64_t i = 0; i < next.count; ++i)
        add_arcs(*spec_, {next.slot, next.first + i, 1}, base, narrow(from + i - domain.first), arcs_);
    } else if (open.slot == next.slot && open.first + open.count == next.first) {
      open.count += next.count;
    } else {
      close();
      open = next;
    }
  }
  close();
}

void DomainWalk::gather_children(const DomainSpot& domain, const GroupBase& base, bool only, Scratch& s) {
  constexpr std::size_t kLookBack = 16;
  const LevelId level(domain.level);
  const std::int32_t children = tree_.children(level, tree_.regular(level) ? 0 : domain.number);
  const auto owner = only ? std::optional(base.owner) : std::nullopt;
  s.children.clear();
  s.done.clear();
  for (std::int32_t i = 0; i < children; ++i) {
    const Seen seen = look(child_of(domain, i), owner);
    if (seen.content < 0) continue;
    for (const std::int32_t facts : contents_.done(seen.content)) {
      if (!only)
        contents_.keep(seen.base.owner, facts);
      else if (std::find(s.done.begin(), s.done.end(), facts) == s.done.end())
        s.done.push_back(facts);
    }
    ChildContent child{seen.content, {seen.base.owner - base.owner, seen.base.group - base.group}, i, 1};
    if (spec_->kind == SiblingKind::spread && child.base.group < 0) child.base.group += narrow(spec_->ring);
    if (!facts_.hops(domain.level))
      child.times += narrow(std::min<std::int64_t>(seen.repeats, children - 1 - i));
    i += child.times - 1;
    if (contents_.entries(child.content).empty()) continue;
    const auto alike = [&](const ChildContent& c) {
      return c.content == child.content && c.base.owner == child.base.owner &&
             c.base.group == child.base.group;
    };
    const auto until =
        s.children.rbegin() + static_cast<std::ptrdiff_t>(std::min(kLookBack, s.children.size()));
    const auto known = facts_.hops(domain.level) ? until : std::find_if(s.children.rbegin(), until, alike);
    if (known == until) {
      s.children.push_back(child);
    } else {
      known->times += child.times;
    }
  }
}

}  // namespace nest::network
