// The shapes of many groups that talk at once. Most of them are alike: a shape is made once for each way to
// lie in the cluster, and groups say which is theirs.
//
//   const DeviceRanks ranks(cluster.tree(), devices);          // once for all that take part
//   GroupList tensor_groups;
//   tensor_groups.add_strided(ranks, 0, 1, 2);                 // positions 0 and 1 in `devices`
//   tensor_groups.add_strided(ranks, 2, 1, 2);
//   sibling_shapes(cluster, ranks, tensor_groups, 2).shapes     // {one shape}
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "nest/cluster/cluster.hpp"
#include "nest/network/groups/group.hpp"

namespace nest::network {

// Devices and the domains that hold them, numbered without gaps at every level, so that what is counted for
// each lies in plain arrays however large the cluster is.
class DeviceRanks {
 public:
  // Devices may repeat. Throws an InputError for ids that the tree does not have.
  DeviceRanks(const DeviceTree& tree, std::span<const DeviceId> devices);

  // The children of one level (devices at level 0), ascending.
  struct Tier {
    std::vector<std::int32_t> ids;      // in the tree
    std::vector<std::int32_t> devices;  // in each of them
    std::vector<std::int32_t> parents;  // ranks in the tier above
  };
  [[nodiscard]] std::size_t levels() const { return tiers_.size() - 1; }
  // One more than levels: the last holds the domains of the outermost level.
  [[nodiscard]] const Tier& tier(std::size_t level) const { return tiers_[level]; }
  [[nodiscard]] std::size_t positions() const { return ranks_.size(); }
  [[nodiscard]] std::int32_t rank(std::size_t position) const { return ranks_[position]; }

 private:
  std::vector<Tier> tiers_;
  std::vector<std::int32_t> ranks_;
};

// Groups one after the other, each as the ascending ranks of its devices.
class GroupList {
 public:
  void reserve(std::size_t groups, std::size_t members);
  // `count` positions, in the list that the ranks were made of, from `first` on, `step` apart. Repeated
  // devices count once.
  void add_strided(const DeviceRanks& ranks, std::int64_t first, std::int64_t step, std::int64_t count);

  [[nodiscard]] std::size_t size() const { return ends_.size(); }
  [[nodiscard]] std::span<const std::int32_t> group(std::size_t i) const {
    const std::size_t from = i == 0 ? 0 : ends_[i - 1];
    return {members_.data() + from, ends_[i] - from};
  }

 private:
  std::vector<std::int32_t> members_;
  std::vector<std::size_t> ends_;
};

struct SiblingShapes {
  std::vector<GroupShape> shapes;     // that differ, by their first group
  std::vector<std::size_t> of_group;  // which is each wanted group's
};
// The shapes of the first `wanted` groups; all talk at once.
[[nodiscard]] SiblingShapes sibling_shapes(const Cluster& cluster, const DeviceRanks& ranks,
                                           const GroupList& groups, std::size_t wanted);

}  // namespace nest::network
