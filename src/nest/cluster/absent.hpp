// Parts of a cluster by name, and the same cluster without those that a file lists as absent: an uneven tree in which
// the others keep their places and their names.
//
//   levels: [{name: node, size: 8, ..}, {name: rack, size: 4, ..}]
//   absent: [node 1, 27]              -> racks of 8, 7 and 8 devices; device 8 is called d16
//
// A part is a device by its name or id, a host (all devices whose names begin with HOST/), or a domain of a level by its
// number ("rack 3"), counted in the tree as the file describes it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "nest/base/error.hpp"
#include "nest/base/ids.hpp"
#include "nest/cluster/level.hpp"
#include "nest/cluster/tree.hpp"

namespace nest::cluster {

// What of a level says how many children it has and how many links they have.
struct LevelShape {
  FanOut fan_out;
  std::int32_t own_links = 0;

  bool operator==(const LevelShape&) const = default;
};
[[nodiscard]] std::vector<LevelShape> shapes_of(const std::vector<Level>& levels);

// The file's own tree, names and list, kept so that the file can be written again.
struct Absences {
  std::vector<std::string> entries;
  std::vector<LevelShape> whole;
  std::vector<std::string> names;  // of all devices; empty: they have none
  std::vector<LevelShape> left;    // once the levels are other ones than these, all this is void
};

// Finds parts by name; the tree and the lists outlive it.
class PartFinder {
 public:
  PartFinder(const std::vector<Level>& levels, const DeviceTree& tree, const std::vector<std::string>& names);

  // The devices of a part, ascending; none where nothing is called so.
  [[nodiscard]] std::optional<std::vector<DeviceId>> find(std::string_view part) const;
  // A guess at what was meant.
  [[nodiscard]] std::string hint(std::string_view part) const;

 private:
  const std::vector<Level>* levels_;
  const DeviceTree* tree_;
  const std::vector<std::string>* names_;
  std::vector<std::int32_t> by_name_;  // device ids in the order of their names
};

struct WithoutAbsent {
  std::vector<LevelShape> shapes;
  std::vector<std::string> names;  // of the devices that are left
};

// `gone` has one flag for each device. Throws an InputError without a file where nothing would be left, or where a ring,
// mesh or torus would have a hole. Links of a fully connected level that led to what is gone stay unused.
[[nodiscard]] WithoutAbsent without_devices(const std::vector<Level>& levels, const DeviceTree& tree,
                                            const std::vector<std::string>& names,
                                            const std::vector<bool>& gone);

}  // namespace nest::cluster
