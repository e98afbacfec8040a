// Facts of sibling groups of a placement, from the devices outwards. Domains that begin at the same place
// of a block, or lie within one slot's devices, have the same content but for the numbers of owners and
// groups, and are looked at once.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "nest/cluster/cluster.hpp"
#include "nest/network/cells/cell_layout.hpp"
#include "nest/network/domains/domain_contents.hpp"
#include "nest/network/domains/group_facts.hpp"
#include "nest/network/domains/int_lists.hpp"
#include "nest/network/domains/sibling_spec.hpp"

namespace nest::network {

class DomainWalk {
 public:
  // All outlive this.
  DomainWalk(const Cluster& cluster, const CellLayout& layout, GroupFacts& facts);

  [[nodiscard]] OwnerFacts run(const SiblingSpec& spec, std::size_t owners);

 private:
  // A domain's content, its base, and how many domains after it certainly have equal ones.
  struct Seen {
    std::int32_t content = -1;  // none: no cell
    GroupBase base;
    std::int64_t repeats = 0;
  };
  // Segments of a domain that lies within one slot's devices of one block and is full of them, and how many
  // such domains follow.
  struct Within {
    SegmentRun run;
    std::int64_t more = 0;
  };
  struct Scratch {
    std::vector<ChildContent> children;
    std::vector<std::int32_t> done;
  };

  [[nodiscard]] DomainSpot child_of(const DomainSpot& domain, std::int32_t i) const;
  [[nodiscard]] SegmentRun run_of(const CellSpot& spot, std::int64_t device, std::int64_t count) const;
  [[nodiscard]] std::optional<Within> within_slot(const DomainSpot& domain, const CellSpot& spot) const;
  [[nodiscard]] bool all_apart(const DomainSpot& domain, const SegmentRun& run) const;

  // `only`: the one owner of all its groups, where that is known.
  Seen look(const DomainSpot& domain, std::optional<std::int32_t> only);
  Seen look_within(const DomainSpot& domain, const Within& within);
  // By its key; -1 where it is not made yet.
  std::int32_t& known_content(std::span<const std::int32_t> key);
  std::int32_t make(const DomainSpot& domain, const GroupBase& base, bool only);
  void gather_segments(const DomainSpot& domain, const GroupBase& base);
  void gather_children(const DomainSpot& domain, const GroupBase& base, bool only, Scratch& s);

  const DeviceTree& tree_;
  const CellLayout& layout_;
  GroupFacts& facts_;
  DomainContents contents_;
  std::int32_t first_hops_ = 0;   // the innermost level whose messages hop through children
  std::vector<Scratch> scratch_;  // by level
  std::vector<GroupArc> arcs_;
  // Of the siblings that are being looked at.
  const SiblingSpec* spec_ = nullptr;
  std::int64_t in_cell_ = 1;  // segments of a cell
  std::int64_t run_ = 1;      // of one slot in one block
  IntLists keys_;
  std::vector<std::int32_t> content_of_key_;
};

}  // namespace nest::network
