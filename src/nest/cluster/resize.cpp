#include "nest/cluster/resize.hpp"

#include <algorithm>
#include <optional>
#include <set>

#include "nest/base/error.hpp"

namespace nest::cluster {
namespace {

// Which sizes a level may take, each child of it being `child` devices.
struct Step {
  LevelId level;
  std::int64_t child = 1;
  std::int64_t most = 1;  // children
};

// Domains of `level` inside each child of the outermost domain, where all these children are alike; else
// none.
std::optional<std::int32_t> domains_in_outer_child(const Cluster& cluster, LevelId level) {
  const DeviceTree& tree = cluster.tree();
  const std::int32_t children = tree.children(LevelId{tree.levels() - 1}, 0);
  const std::int32_t domains = tree.domains(level);
  if (domains % children != 0) return std::nullopt;
  const std::int32_t period = domains / children;
  for (std::int32_t d = period; d < domains; ++d) {
    if (tree.children(level, d) != tree.children(level, d - period)) return std::nullopt;
  }
  return period;
}

bool outer_children_are_alike(const Cluster& cluster) {
  for (std::int32_t l = 0; l + 1 < cluster.tree().levels(); ++l) {
    if (!domains_in_outer_child(cluster, LevelId{l})) return false;
  }
  return true;
}

// Inner levels can be cut where everything inside them is even; the outermost may also grow.
std::vector<Step> steps(const Cluster& cluster) {
  const DeviceTree& tree = cluster.tree();
  std::vector<Step> out;
  for (std::int32_t l = 0; l < tree.levels(); ++l) {
    const LevelId id{l};
    const Level& level = cluster.level(id);
    const bool outermost = l + 1 == tree.levels();
    const bool children_alike =
        l == 0 || tree.regular(LevelId{l - 1}) || (outermost && outer_children_are_alike(cluster));
    const bool cuttable = level.kind == LevelKind::switched || level.kind == LevelKind::fully_connected ||
                          (outermost && level.kind == LevelKind::ring);
    if (!children_alike || !cuttable) continue;
    const std::int64_t child = tree.devices_in_child(id, 0);
    out.push_back({id, child, outermost ? kMostDevices / child : most_children(level.fan_out)});
  }
  return out;
}

void set_size(Level& level, std::int32_t size, std::int32_t size_before) {
  if (level.kind == LevelKind::fully_connected && level.own_links == 0 && size < size_before && size > 1) {
    level.bandwidth = level.bandwidth * (static_cast<double>(size - 1) / (size_before - 1));
  }
  level.fan_out = {size, {}};
  if (size > size_before) level.own_links = 0;
  if (level.is_grid()) level.dims.assign(level.dims.size(), 1);
}

Cluster resized(const Cluster& cluster, const Step& step, std::int32_t size) {
  ClusterParts parts = cluster.parts();
  const std::size_t at = step.level.index();
  const bool outermost = at + 1 == parts.levels.size();
  for (std::size_t l = 0; l < at; ++l) {
    FanOut& fan_out = parts.levels[l].fan_out;
    if (fan_out.uniform()) continue;
    // Uneven inside an outermost level with like children: repeat the pattern of the first.
    const auto period = domains_in_outer_child(cluster, LevelId{static_cast<std::int32_t>(l)}).value();
    const std::vector<std::int32_t> pattern(fan_out.sizes.begin(), fan_out.sizes.begin() + period);
    fan_out.sizes.clear();
    for (std::int32_t k = 0; k < size; ++k)
      fan_out.sizes.insert(fan_out.sizes.end(), pattern.begin(), pattern.end());
  }
  const auto before = most_children(parts.levels[at].fan_out);
  set_size(parts.levels[at], size, before);
  for (std::size_t l = at + 1; l < parts.levels.size() && !outermost; ++l) {
    set_size(parts.levels[l], 1, most_children(parts.levels[l].fan_out));
  }
  // The first devices stay; those that are added have no names.
  const auto devices = static_cast<std::size_t>(step.child * size);
  parts.device_names.resize(devices < parts.device_names.size() ? devices : 0);
  return Cluster(std::move(parts));
}

// The greatest fitting number below and the least above, of those that a step offers.
void add_neighbours(const Step& step, std::int64_t devices, std::set<std::int64_t>& below,
                    std::set<std::int64_t>& above) {
  const std::int64_t k = std::min(devices / step.child, step.most);
  if (k >= 1) below.insert(k * step.child);
  if (k + 1 <= step.most) above.insert((k + 1) * step.child);
}

// The fan-out of every domain of a level.
std::vector<std::int32_t> all_sizes(const Cluster& cluster, LevelId id) {
  const FanOut& fan_out = cluster.level(id).fan_out;
  if (!fan_out.uniform()) return fan_out.sizes;
  return std::vector<std::int32_t>(static_cast<std::size_t>(cluster.tree().domains(id)), fan_out.size);
}

}  // namespace

std::optional<Cluster> with_one_more_domain(const Cluster& cluster) {
  ClusterParts parts = cluster.parts();
  parts.device_names.clear();
  const auto grows = [](const Level& level) { return !level.hops_through_children(); };
  if (parts.levels.size() == 1) {
    if (!grows(parts.levels.front())) return std::nullopt;
    ++parts.levels.front().fan_out.size;
    parts.levels.front().own_links = 0;
    return Cluster(std::move(parts));
  }
  std::vector<std::int32_t> inner = all_sizes(cluster, LevelId{0});
  inner.push_back(inner.front());
  parts.levels.front().fan_out.sizes = std::move(inner);
  for (std::size_t l = 1; l < parts.levels.size(); ++l) {
    if (!grows(parts.levels[l])) return std::nullopt;
    std::vector<std::int32_t> sizes = all_sizes(cluster, LevelId{static_cast<std::int32_t>(l)});
    const bool room = sizes.size() == 1 || sizes.back() < *std::max_element(sizes.begin(), sizes.end());
    if (sizes.size() == 1) parts.levels[l].own_links = 0;
    if (room)
      ++sizes.back();
    else
      sizes.push_back(1);
    parts.levels[l].fan_out.sizes = std::move(sizes);
    if (room) return Cluster(std::move(parts));
  }
  return std::nullopt;  // not reached: the outermost level has one domain
}

Cluster with_devices(const Cluster& cluster, std::int64_t devices) {
  if (devices == cluster.devices()) return cluster;
  const std::string count = format_digits(devices) + (devices == 1 ? " device" : " devices");
  if (devices < 1) throw InputError(cluster.name(), "", count + ": at least 1 is expected");
  if (devices > kMostDevices) {
    throw InputError(
        cluster.name(), "",
        count + " are more than the " + format_digits(kMostDevices) + " that a cluster may have");
  }
  const std::vector<Step> possible = steps(cluster);
  // Outermost first: 32 = 8 x 4 x 1 rather than a rack level of 4 with the spine cut to nothing, which is the
  // same.
  for (auto step = possible.rbegin(); step != possible.rend(); ++step) {
    const std::int64_t size = devices / step->child;
    if (devices % step->child == 0 && size <= step->most)
      return resized(cluster, *step, static_cast<std::int32_t>(size));
  }
  std::set<std::int64_t> below;
  std::set<std::int64_t> above;
  for (const Step& step : possible) add_neighbours(step, devices, below, above);
  (cluster.devices() < devices ? below : above).insert(cluster.devices());
  const Level& outer = cluster.levels().back();
  std::string hint;
  if (outer.is_grid()) {
    hint = "its outermost level is a " + std::string(to_string(outer.kind)) + " of fixed dimensions; ";
  } else if (!outer_children_are_alike(cluster)) {
    hint =
        "the children of its outermost level differ, so it is not clear what another one would look like; ";
  }
  const bool both = !below.empty() && !above.empty();
  hint += both ? "the nearest numbers that do are " + format_digits(*below.rbegin()) + " and " +
                     format_digits(*above.begin())
               : "the nearest number that does is " +
                     format_digits(below.empty() ? *above.begin() : *below.rbegin());
  throw InputError(cluster.name(), "", count + " do" + (devices == 1 ? "es" : "") + " not fit its levels",
                   hint);
}

}  // namespace nest::cluster
