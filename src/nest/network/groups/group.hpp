// A group of devices that talk, reduced to what a collective's price depends on: for each level that it spans
// how many members it has there, and how much of a device's bandwidth each of them gets when the sibling
// groups talk too. Made once from device ids or from a regular pattern; pricing it is then O(levels).
//
//   const GroupShape s = group_shape(cluster, ids);            // a group on its own
//   const auto all = group_shapes(cluster, groups);            // each with all the others talking at once
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "nest/base/ids.hpp"
#include "nest/cluster/cluster.hpp"

namespace nest::network {

inline constexpr std::size_t kMostSpannedLevels = 12;

// One level that a group spans: some domain of it has two or more children with members.
struct GroupLevel {
  LevelId level;
  std::int32_t members = 1;     // children with members, in the fullest domain
  std::int32_t inside = 1;      // members of the group in its fullest child
  std::int32_t ring_steps = 0;  // hops of one pass over the members: members - 1 on a switch
  std::int32_t log_steps =
      0;  // messages one after the other at least: ceil(log2 members); 1 where all are joined
  std::int32_t edges = 0;  // hops of a ring over all members of the group that run at this level
  double fraction = 1;     // share of a device's bandwidth that its links to the members carry together
  double link = 1;         // share of it on the link to one member
  // Bytes through the slowest child, per byte of the group's data and in units of one device's bandwidth:
  double load = 1;       // when all members in a child carry an equal part each
  double lone = 1;       // when one member in each child carries everything
  double exchange = 0;   // when every member sends its bytes evenly to all members of the group
  bool or_more = false;  // in bounds: a group of these members or more, of which each figure is the least

  bool operator==(const GroupLevel&) const = default;
  auto operator<=>(const GroupLevel&) const = default;
};

class GroupShape {
 public:
  GroupShape() = default;  // one device: nothing to send
  explicit GroupShape(std::int32_t members) : members_(members) {}

  [[nodiscard]] std::int32_t members() const { return members_; }
  [[nodiscard]] std::span<const GroupLevel> levels() const { return {levels_.data(), spanned_}; }
  [[nodiscard]] const GroupLevel& outermost() const { return levels_[spanned_ - 1]; }
  // Innermost first. Throws an InputError where a group spans more than kMostSpannedLevels.
  void add(const GroupLevel& level);

  bool operator==(const GroupShape& other) const;

 private:
  std::array<GroupLevel, kMostSpannedLevels> levels_{};
  std::size_t spanned_ = 0;
  std::int32_t members_ = 1;
};

// Sorts shapes and drops repeats: what is made in different orders is then equal.
void make_canonical(std::vector<GroupShape>& shapes);

// Repeated ids count once.
[[nodiscard]] GroupShape group_shape(const Cluster& cluster, std::span<const DeviceId> group);

// The shapes of groups that all talk at once, in their order.
[[nodiscard]] std::vector<GroupShape> group_shapes(const Cluster& cluster,
                                                   std::span<const std::vector<DeviceId>> groups);

// Different shapes that groups of one kind have in one stage, in a fixed order. Copies share them.
class Shapes {
 public:
  Shapes() = default;
  explicit Shapes(std::vector<GroupShape> shapes);

  [[nodiscard]] bool empty() const { return list_ == nullptr; }
  [[nodiscard]] std::size_t size() const { return all().size(); }
  [[nodiscard]] const GroupShape& operator[](std::size_t i) const { return all()[i]; }
  [[nodiscard]] const GroupShape& front() const { return all().front(); }
  [[nodiscard]] const GroupShape* begin() const { return all().data(); }
  [[nodiscard]] const GroupShape* end() const { return all().data() + all().size(); }
  bool operator==(const Shapes& other) const;
  // The same for copies; as long as one of them lives, no other shapes have it.
  [[nodiscard]] const void* number() const { return list_.get(); }

 private:
  [[nodiscard]] std::span<const GroupShape> all() const {
    return list_ == nullptr ? std::span<const GroupShape>{} : std::span<const GroupShape>(*list_);
  }

  std::shared_ptr<const std::vector<GroupShape>> list_;  // none where there are no shapes
};

// What the shape of a group at one level follows from, one entry for each child that holds members of it.
struct ChildLoad {
  std::int32_t inside = 1;        // members of the group in the child
  std::int32_t devices = 1;       // devices in the child
  std::int32_t flows = 1;         // members of all sibling groups that leave the child, this group's included
  std::int32_t groups = 1;        // sibling groups that leave it
  std::int32_t domain_flows = 1;  // the same over the whole domain, which counts at level 0
  std::int32_t domain_groups = 1;

  bool operator==(const ChildLoad&) const = default;
};
struct LevelSituation {
  LevelId level;
  std::int32_t members = 1;          // children with members, in the fullest domain
  std::int32_t children = 1;         // of the fullest domain
  std::int32_t domain_devices = 1;   // devices in it
  std::int32_t domain_members = 1;   // members of the group in it
  std::int32_t group_members = 1;    // members of the group
  std::int32_t edges = 0;            // children with members less domains with members
  bool siblings = false;             // whether other groups talk at the same time
  std::span<const std::int32_t> at;  // on grids: which children of the fullest domain, ascending
  std::span<const ChildLoad> loads;  // of all domains
};
[[nodiscard]] GroupLevel level_shape(const Level& level, const LevelSituation& situation);

}  // namespace nest::network
