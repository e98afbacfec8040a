#include "nest/cluster/leave_out.hpp"

#include <utility>

#include "nest/base/error.hpp"
#include "nest/cluster/absent.hpp"
#include "nest/cluster/name_list.hpp"

namespace nest::cluster {
namespace {

std::vector<std::string> parts_of(const std::string& entry) {
  if (!has_ranges(entry)) return {entry};
  NameList list = expand_ranges(entry, static_cast<std::size_t>(kMostDevices));
  if (!list.problem.empty()) throw InputError("", "absent", list.problem);
  return std::move(list.names);
}

}  // namespace

Cluster leave_out(ClusterParts parts, std::vector<std::string> entries) {
  if (entries.empty()) return Cluster(std::move(parts));
  const Cluster whole(parts);
  std::vector<bool> gone(static_cast<std::size_t>(whole.devices()), false);
  const PartFinder finder(parts.levels, whole.tree(), parts.device_names);
  for (const std::string& entry : entries) {
    for (const std::string& part : parts_of(entry)) {
      const auto devices = finder.find(part);
      if (!devices) throw InputError("", "absent", "nothing is called '" + part + "'", finder.hint(part));
      for (const DeviceId device : *devices) gone[device.index()] = true;
    }
  }
  WithoutAbsent left = without_devices(parts.levels, whole.tree(), parts.device_names, gone);
  parts.absences = {std::move(entries), shapes_of(parts.levels), std::move(parts.device_names), {}};
  parts.device_names = std::move(left.names);
  for (std::size_t l = 0; l < parts.levels.size(); ++l) {
    parts.levels[l].fan_out = std::move(left.shapes[l].fan_out);
    parts.levels[l].own_links = left.shapes[l].own_links;
  }
  parts.absences.left = shapes_of(parts.levels);
  return Cluster(std::move(parts));
}

}  // namespace nest::cluster
