// Facts of one family of groups of a placement, from the devices outwards. A domain's content is what each
// owner's groups have there. Domains that begin at the same place of a block, or lie within one slot's
// devices, have the same content but for the numbers of owners and groups, and are looked at once.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "nest/plan/arc_sweep.hpp"
#include "nest/plan/cell_layout.hpp"
#include "nest/plan/family_spec.hpp"
#include "nest/plan/group_facts.hpp"

namespace nest {

// Names of facts that the groups of each owner have.
using OwnerFacts = std::vector<std::vector<std::int32_t>>;

class DomainWalk {
 public:
  // All outlive this.
  DomainWalk(const DeviceTree& tree, const CellLayout& layout, const FamilySpec& spec, GroupFacts& facts);

  [[nodiscard]] OwnerFacts run(std::size_t owners);

 private:
  // Groups of an owner that are not yet complete: members in the domain, and facts of the levels inside.
  struct Entry {
    std::int32_t owner = 0;
    std::int32_t from = 0;
    std::int32_t to = 0;
    std::int32_t count = 0;
    std::int32_t facts = 0;
  };
  struct Content {
    std::int32_t devices = 0;
    std::vector<Entry> entries;
    // Facts of groups that are complete there, where all groups are of one owner; else they are in found_.
    std::vector<std::int32_t> done;
  };
  // A domain: its content, its base, and how many domains after it certainly have equal ones.
  struct Seen {
    std::int32_t content = -1;  // none: no cell
    GroupBase base;
    std::int64_t repeats = 0;
  };
  // Children with equal contents.
  struct Child {
    std::int32_t content = 0;
    GroupBase base;  // relative to the domain's
    std::int32_t index = 0;
    std::int32_t times = 1;
  };
  struct Traffic {
    std::int32_t flows = 0;
    std::int32_t groups = 0;
    bool operator==(const Traffic&) const = default;
  };
  struct Scratch {
    std::vector<Child> children;
    std::vector<GroupArc> arcs;
    ArcSweep sweep;
    std::vector<Traffic> traffic;   // by child: of all groups,
    std::vector<Traffic> own;       // and of one owner's
    std::vector<Traffic> last_own;  // of the children of the latest piece
    std::vector<GroupFacts::Part> parts;
    std::vector<std::int32_t> at;
  };
  // A domain by level and first device; the domain's number where its level is uneven.
  struct Domain {
    std::int32_t level = 0;
    std::int32_t number = 0;
    std::int64_t first = 0;
    std::int64_t devices = 0;
  };

  [[nodiscard]] Domain child_of(const Domain& domain, std::int32_t i) const;
  [[nodiscard]] SegmentRun run_of(const CellSpot& spot, std::int64_t device, std::int64_t count) const;
  // Segments of a domain that lies within one slot's devices of one block and is full of them, and how many
  // such domains follow.
  struct Within {
    SegmentRun run;
    std::int64_t more = 0;
  };
  [[nodiscard]] std::optional<Within> within_slot(const Domain& domain, const CellSpot& spot) const;

  Seen look(const Domain& domain);
  Seen look_within(const Domain& domain, const Within& within);
  [[nodiscard]] bool all_apart(const Domain& domain, const SegmentRun& run) const;
  // By its key; -1 where it is not made yet.
  std::int32_t& known_content(std::span<const std::int32_t> key);
  // `only`: all groups are of one owner.
  std::int32_t make(const Domain& domain, const GroupBase& base, bool only);

  void gather_segments(const Domain& domain, const GroupBase& base, Scratch& s) const;
  void finish_innermost(const Domain& domain, Scratch& s, bool only, Content& out);
  void gather_children(const Domain& domain, const GroupBase& base, bool only, Scratch& s, Content& out);
  void gather_arcs(Scratch& s) const;
  void finish_outer(const Domain& domain, Scratch& s, bool only, Content& out);
  [[nodiscard]] bool as_before(const ArcSweep::Piece& piece, const ArcSweep::Piece& before,
                               const Scratch& s) const;
  [[nodiscard]] std::int32_t outer_facts(const Domain& domain, const ArcSweep::Piece& piece, Scratch& s);
  void add(const ArcSweep::Piece& piece, std::int32_t count, std::int32_t facts, bool only, Content& out);
  void keep(std::int32_t owner, std::int32_t facts);
  [[nodiscard]] std::int32_t place_of(const Domain& domain, std::span<const std::int32_t> at);
  [[nodiscard]] bool of_all() const { return spec_.kind != FamilyKind::pairs; }
  [[nodiscard]] bool of_own() const { return spec_.alone || spec_.kind == FamilyKind::pairs; }

  const DeviceTree& tree_;
  const CellLayout& layout_;
  const FamilySpec& spec_;
  GroupFacts& facts_;
  std::int64_t in_cell_;              // segments of a cell
  std::int64_t run_;                  // of one slot in one block
  std::int32_t first_hops_;           // the innermost level whose messages hop through children
  std::vector<std::int32_t> places_;  // by level, where it is regular and no grid; else -1
  std::vector<Scratch> scratch_;      // by level
  std::vector<Content> contents_;
  IntLists keys_;
  std::vector<std::int32_t> content_of_key_;
  OwnerFacts found_;
};

}  // namespace nest
