// A cluster: one kind of accelerator under a tree of network levels, and what two of its devices get when
// they talk.
//
//   const Cluster c = catalog_cluster("h100-spine-leaf");
//   c.devices()                                        -> 1024
//   pair_bandwidth(c, DeviceId{0}, DeviceId{9})        -> 50 GB/s   (they meet in the rack)
//   bisection(c)                                       -> 6.4 TB/s  (512 devices x 50 GB/s / 4)
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "nest/base/ids.hpp"
#include "nest/base/units.hpp"
#include "nest/cluster/absent.hpp"
#include "nest/cluster/accelerator.hpp"
#include "nest/cluster/level.hpp"
#include "nest/cluster/tree.hpp"

namespace nest::cluster {

struct ClusterParts {
  std::string name;
  Accelerator accelerator;
  std::vector<Level> levels;  // innermost first
  std::string source;
  std::string date;
  std::string note;
  // What each device is called elsewhere (in the measurements or files that the levels come from), in the order of
  // ids; empty: nothing is known. Only exports look at them: what stands before the last '/' is the host.
  std::vector<std::string> device_names;
  // What its file lists as absent, for whoever writes the file again or says what is missing.
  Absences absences;
};

class Cluster {
 public:
  // Throws an InputError where the levels make no tree.
  explicit Cluster(ClusterParts parts);

  [[nodiscard]] const std::string& name() const { return parts_.name; }
  // All devices are of one kind today. Whoever does not need its rates asks one of the questions below, which
  // clusters of several kinds can answer too.
  [[nodiscard]] const Accelerator& accelerator() const { return parts_.accelerator; }
  [[nodiscard]] const std::string& device_name() const { return parts_.accelerator.name; }
  [[nodiscard]] const std::string& device_software() const { return parts_.accelerator.software; }
  [[nodiscard]] Bytes device_memory() const { return parts_.accelerator.memory; }  // of the smallest device
  // Whether every device has this arithmetic.
  [[nodiscard]] bool computes(MathType type) const { return parts_.accelerator.peak(type).has_value(); }
  [[nodiscard]] const std::vector<Level>& levels() const { return parts_.levels; }
  [[nodiscard]] const Level& level(LevelId id) const { return parts_.levels[id.index()]; }
  [[nodiscard]] const ClusterParts& parts() const { return parts_; }
  [[nodiscard]] const DeviceTree& tree() const { return tree_; }
  [[nodiscard]] std::int32_t devices() const { return tree_.devices(); }

  // The same network with equal siblings in a fixed order (sibling_order.hpp), whose devices have other ids:
  // the placement rule and the prices of networks start from it. It lives as long as any copy of this cluster.
  [[nodiscard]] const Cluster& sorted() const;
  // Ids that the cluster does not have stay as they are.
  [[nodiscard]] DeviceId id_in_sorted(DeviceId own) const;
  [[nodiscard]] DeviceId id_from_sorted(DeviceId sorted) const;

 private:
  struct Sorted;

  ClusterParts parts_;
  DeviceTree tree_;
  std::shared_ptr<const Sorted> sorted_;  // none where the order is this cluster's own
};

// The innermost level at which a list of levels makes no tree or is wrong in itself, with the key to blame.
struct ClusterProblem {
  LevelId level;
  LevelProblem problem;
};
[[nodiscard]] std::optional<ClusterProblem> check_levels(const std::vector<Level>& levels);

// Why these are no names of so many devices; empty where they are, or where there are none.
[[nodiscard]] std::string check_device_names(const std::vector<std::string>& names, std::int64_t devices);

// How two devices talk: where they meet, over how many hops, and over which part of a device's bandwidth
// there.
struct PairRoute {
  LevelId level;
  std::int32_t hops = 1;
  std::int32_t links = 1;  // the pair uses one of so many links
};
// None where both are the same device.
[[nodiscard]] std::optional<PairRoute> pair_route(const Cluster& cluster, DeviceId a, DeviceId b);

// What the pair gets when nobody else talks. Both devices must differ.
[[nodiscard]] BytesPerSecond pair_bandwidth(const Cluster& cluster, DeviceId a, DeviceId b);
[[nodiscard]] Seconds pair_latency(const Cluster& cluster, DeviceId a, DeviceId b);

// Bandwidth in one direction across the middle of the level's largest domain; 0 where it has a single child.
// Switch: uplinks of the smaller half of its children. Fully connected: links between the halves. Ring, mesh
// and torus: links cut by the cheapest straight cut, two for each row that closes into a ring.
[[nodiscard]] BytesPerSecond bisection(const Cluster& cluster, LevelId level);
// Of the outermost level with more than one child.
[[nodiscard]] BytesPerSecond bisection(const Cluster& cluster);

}  // namespace nest::cluster
