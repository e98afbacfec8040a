#include "nest/cluster/imports/host_levels.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "nest/base/error.hpp"
#include "nest/base/numbers.hpp"
#include "nest/cluster/imports/node_models.hpp"

namespace nest::cluster {
namespace {

constexpr std::int64_t kMostSide = 65536;

std::optional<std::vector<std::int32_t>> read_sides(std::string_view text) {
  std::vector<std::int32_t> sides;
  while (true) {
    const std::size_t end = text.find('x');
    const auto side = parse_whole(text.substr(0, end));
    if (!side || *side < 1 || *side > kMostSide || sides.size() == 3) return std::nullopt;
    sides.push_back(static_cast<std::int32_t>(*side));
    if (end == std::string_view::npos) return sides;
    text.remove_prefix(end + 1);
  }
}

// The same sizes again for every host.
FanOut repeated(const FanOut& fan_out, std::size_t hosts) {
  if (fan_out.uniform()) return fan_out;
  FanOut out;
  for (std::size_t h = 0; h < hosts; ++h)
    out.sizes.insert(out.sizes.end(), fan_out.sizes.begin(), fan_out.sizes.end());
  return out;
}

}  // namespace

std::vector<Level> levels_of_hosts(const HostKind& kind, std::span<const std::int32_t> devices,
                                   ImportNotes& notes) {
  std::vector<Level> levels = kind.levels;
  if (std::all_of(devices.begin(), devices.end(), [&](auto n) { return n == kind.devices; })) {
    for (Level& level : levels) level.fan_out = repeated(level.fan_out, devices.size());
    return levels;
  }
  Level level = std::move(levels.back());
  if (levels.size() > 1)
    notes.assumed.push_back(
        "the slowest links of a host between all of its accelerators: some are missing in some hosts, "
        "and no file says which");
  if (level.hops_through_children())
    throw InputError("", "",
                     "hosts have different numbers of accelerators, which the " +
                         std::string(to_string(level.kind)) + " '" + level.name + "' inside them cannot have",
                     "--only picks some of them");
  const std::int32_t most = *std::max_element(devices.begin(), devices.end());
  if (level.kind == LevelKind::fully_connected)
    level.own_links = std::max(most, most_children(level.fan_out)) - 1;
  level.fan_out = fan_out_of({devices.begin(), devices.end()});
  return {std::move(level)};
}

Level level_of_slice(const Accelerator& accelerator, const HostFacts& host) {
  const auto sides = read_sides(host.slice);
  const auto dimensions = static_cast<std::size_t>(accelerator.scale_up.torus);
  std::int64_t chips = 1;
  for (const std::int32_t side : sides.value_or(std::vector<std::int32_t>{})) chips *= side;
  if (!sides || dimensions == 0 || sides->size() > dimensions || chips > kMostDevices) {
    throw InputError(host.file, host.place(), "'" + host.slice + "' is no slice of " + accelerator.name,
                     dimensions == 0 ? ""
                                     : "it has " + std::to_string(dimensions) + " sides, such as 4x4" +
                                           (dimensions > 2 ? "x8" : ""));
  }
  Level level = level_of_links(accelerator, 1);
  level.name = "slice";
  level.kind = LevelKind::torus;
  level.dims = *sides;
  level.fan_out.size = static_cast<std::int32_t>(chips);
  const bool cubes = std::all_of(sides->begin(), sides->end(), [](auto side) { return side % 4 == 0; });
  for (const std::int32_t side : *sides)
    level.wrap.push_back(dimensions > 2 ? cubes && sides->size() == dimensions
                                        : accelerator.scale_up.wraps_from > 0 &&
                                              side >= accelerator.scale_up.wraps_from);
  return level;
}

}  // namespace nest::cluster
