// What sibling groups have in a domain, made from its segments or from its children's contents.
// Groups that are complete in a domain leave it: only their facts are kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "nest/cluster/cluster.hpp"
#include "nest/network/domains/arc_sweep.hpp"
#include "nest/network/domains/group_facts.hpp"
#include "nest/network/domains/sibling_spec.hpp"

namespace nest::network {

// Names of facts that the groups of each owner have.
using OwnerFacts = std::vector<std::vector<std::int32_t>>;

// Groups of an owner that are not yet complete: members in the domain, and facts of the levels inside.
struct GroupEntry {
  std::int32_t owner = 0;
  std::int32_t from = 0;
  std::int32_t to = 0;
  std::int32_t count = 0;
  std::int32_t facts = 0;
};

// A domain by level and first device; the domain's number where its level is uneven.
struct DomainSpot {
  std::int32_t level = 0;
  std::int32_t number = 0;
  std::int64_t first = 0;
  std::int64_t devices = 0;
};

// Children of a domain that have equal contents.
struct ChildContent {
  std::int32_t content = 0;
  GroupBase base;  // relative to the domain's
  std::int32_t index = 0;
  std::int32_t times = 1;
};

class DomainContents {
 public:
  // Both outlive this.
  DomainContents(const Cluster& cluster, GroupFacts& facts);

  // Forgets everything; the spec outlives what is made after it.
  void start(const SiblingSpec& spec, std::size_t owners);

  // By number. What is complete in it and of its only owner, where it has one.
  [[nodiscard]] std::span<const GroupEntry> entries(std::int32_t content) const;
  [[nodiscard]] std::span<const std::int32_t> done(std::int32_t content) const;

  // Contents of segments of which no two belong to one group.
  [[nodiscard]] std::int32_t apart(const DomainSpot& domain, std::span<const GroupArc> arcs);
  // Of an innermost domain's segments; `only`: all groups are of one owner.
  [[nodiscard]] std::int32_t innermost(const DomainSpot& domain, std::vector<GroupArc>& arcs, bool only);
  // Of children; `done`: facts of groups that are complete in them, where `only` says that there is one
  // owner.
  [[nodiscard]] std::int32_t outer(const DomainSpot& domain, std::span<const ChildContent> children,
                                   std::span<const std::int32_t> done, bool only);

  // Facts of complete groups of contents with several owners.
  void keep(std::int32_t owner, std::int32_t facts);
  [[nodiscard]] OwnerFacts take_found();

 private:
  struct Content {
    std::int32_t devices = 0;
    std::size_t entries_end = 0;
    std::size_t done_end = 0;
  };
  struct Traffic {
    std::int32_t flows = 0;
    std::int32_t groups = 0;
    bool operator==(const Traffic&) const = default;
  };

  [[nodiscard]] std::int32_t close(const DomainSpot& domain);
  void add(const ArcSweep::Piece& piece, std::int32_t count, std::int32_t facts, bool only);
  void gather(std::span<const ChildContent> children);
  void count_traffic(std::span<const ChildContent> children, std::size_t first, std::size_t last,
                     std::vector<Traffic>& traffic) const;
  [[nodiscard]] bool as_before(std::size_t piece) const;
  [[nodiscard]] std::int32_t outer_facts(const DomainSpot& domain, std::span<const ChildContent> children,
                                         const ArcSweep::Piece& piece);
  [[nodiscard]] std::int32_t with_load(std::int32_t set, std::int32_t level, ChildLoad load) const;
  [[nodiscard]] std::int32_t place_of(const DomainSpot& domain);
  [[nodiscard]] bool of_all() const { return spec_->kind != SiblingKind::pairs; }
  [[nodiscard]] bool of_own() const { return spec_->alone || spec_->kind == SiblingKind::pairs; }

  const Cluster* cluster_;
  GroupFacts* facts_;
  const SiblingSpec* spec_ = nullptr;
  std::vector<std::int32_t> places_;  // by level, where it is regular and no grid; else -1
  std::vector<Content> contents_;
  std::vector<GroupEntry> entries_;
  std::vector<std::int32_t> done_;
  std::size_t done_begin_ = 0;  // of the content that is being made
  std::size_t entries_begin_ = 0;
  OwnerFacts found_;
  // Of the domain that is being looked at.
  std::vector<GroupArc> arcs_;
  ArcSweep sweep_;
  std::vector<Traffic> all_;  // by child: of all groups,
  std::vector<Traffic> own_;  // and of one owner's
  std::vector<Traffic> last_own_;
  std::vector<GroupFacts::Part> parts_;
  std::vector<std::int32_t> at_;
};

}  // namespace nest::network
