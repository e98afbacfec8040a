// What the shapes of groups follow from, gathered domain by domain from the inside out. Every different fact
// is kept once and named by a number, so that groups that lie alike are known to at a glance.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "nest/cluster/cluster.hpp"
#include "nest/network/domains/int_lists.hpp"
#include "nest/network/groups/group.hpp"

namespace nest::network {

class GroupFacts {
 public:
  explicit GroupFacts(const Cluster& cluster);

  // Of a group at one level, in one domain or in all that were looked at.
  struct Part {
    std::int32_t members = 0;  // children with members of it, in the fullest domain; 0: nowhere more than one
    std::int32_t held = 0;   // members in the domain that holds most; counted on rings, meshes and tori only
    std::int32_t edges = 0;  // children with members less domains with members
    std::int32_t loads = 0;  // names of sets of ChildLoad: with all groups talking,
    std::int32_t own = 0;    // and with those of its own slot only
    std::int32_t place = 0;  // name of the fullest domain's outlook; of equal ones the first
  };

  [[nodiscard]] std::int32_t levels() const { return levels_; }
  // Whether messages pass through the children of a level, so that it matters which have members.
  [[nodiscard]] bool hops(std::int32_t level) const { return hops_[static_cast<std::size_t>(level)]; }

  // The set with one load more; 0 is the empty one.
  [[nodiscard]] std::int32_t with(std::int32_t set, const ChildLoad& load);
  [[nodiscard]] std::int32_t united(std::int32_t a, std::int32_t b);
  // A domain's children and devices and, where messages hop through them, which children have members.
  [[nodiscard]] std::int32_t place(std::int32_t children, std::int32_t devices,
                                   std::span<const std::int32_t> at = {});

  // One part for each level from the innermost on; those that are left out have no members.
  [[nodiscard]] std::int32_t name(std::span<const Part> parts);
  [[nodiscard]] Part part(std::int32_t facts, std::int32_t level) const;
  // Adds `times` domains' facts to the parts of their levels.
  void merge(std::int32_t facts, std::int32_t times, std::vector<Part>& into);

  // The shape of a group of so many members; `siblings` says whether other groups talk at the same time.
  [[nodiscard]] GroupShape shape(std::int32_t facts, std::int32_t members, bool own, bool siblings) const;

 private:
  const Cluster* cluster_;
  std::int32_t levels_;
  std::vector<bool> hops_;
  IntLists loads_;
  IntLists sets_;    // of names of loads, ascending
  IntLists places_;  // children, devices, at..
  IntLists facts_;
  std::vector<std::int32_t> scratch_;
};

}  // namespace nest::network
