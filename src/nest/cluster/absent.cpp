#include "nest/cluster/absent.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>

#include "nest/base/closest.hpp"
#include "nest/base/numbers.hpp"

namespace nest::cluster {
namespace {

std::size_t index(std::int32_t i) {
  return static_cast<std::size_t>(i);
}

std::vector<DeviceId> ids(std::int32_t first, std::int32_t count) {
  std::vector<DeviceId> out;
  out.reserve(index(count));
  for (std::int32_t i = 0; i < count; ++i) out.emplace_back(first + i);
  return out;
}

// A level's name and a number behind it, with or without a blank.
std::optional<std::int64_t> number_after(std::string_view part, std::string_view name) {
  if (!part.starts_with(name)) return std::nullopt;
  part.remove_prefix(name.size());
  if (part.starts_with(' ')) part.remove_prefix(1);
  const bool digits = !part.empty() && part.size() <= 9 &&
                      std::all_of(part.begin(), part.end(), [](char c) { return c >= '0' && c <= '9'; });
  return digits ? parse_whole(part) : std::nullopt;
}

}  // namespace

std::vector<LevelShape> shapes_of(const std::vector<Level>& levels) {
  std::vector<LevelShape> out;
  out.reserve(levels.size());
  for (const Level& level : levels) out.push_back({level.fan_out, level.own_links});
  return out;
}

PartFinder::PartFinder(const std::vector<Level>& levels, const DeviceTree& tree,
                       const std::vector<std::string>& names)
    : levels_(&levels), tree_(&tree), names_(&names), by_name_(names.size()) {
  std::iota(by_name_.begin(), by_name_.end(), 0);
  std::sort(by_name_.begin(), by_name_.end(),
            [&](std::int32_t a, std::int32_t b) { return names[index(a)] < names[index(b)]; });
}

std::optional<std::vector<DeviceId>> PartFinder::find(std::string_view part) const {
  const std::vector<std::string>& names = *names_;
  const auto from = [&](const std::string& text) {
    return std::lower_bound(by_name_.begin(), by_name_.end(), text,
                            [&](std::int32_t id, const std::string& t) { return names[index(id)] < t; });
  };
  const auto own = from(std::string(part));
  if (own != by_name_.end() && names[index(*own)] == part) return std::vector<DeviceId>{DeviceId{*own}};
  const std::string host = std::string(part) + "/";
  std::vector<DeviceId> devices;
  for (auto at = from(host); at != by_name_.end() && names[index(*at)].starts_with(host); ++at)
    devices.emplace_back(*at);
  if (!devices.empty()) {
    std::sort(devices.begin(), devices.end());
    return devices;
  }
  for (const std::string_view noun : {"", "device", "d"}) {
    const auto id = number_after(part, noun);
    if (id && *id < tree_->devices()) return ids(static_cast<std::int32_t>(*id), 1);
  }
  for (std::int32_t l = 0; l < tree_->levels(); ++l) {
    // A domain of a level is one of its children's groups: "node 3" is the fourth domain of level "node".
    const LevelId level{l};
    const auto number = number_after(part, (*levels_)[index(l)].name);
    if (!number || *number >= tree_->domains(level)) continue;
    const auto domain = static_cast<std::int32_t>(*number);
    return ids(tree_->first_device(level, domain).value, tree_->devices_in(level, domain));
  }
  return std::nullopt;
}

std::string PartFinder::hint(std::string_view part) const {
  // Looking at every name of a large cluster would take long for a guess.
  constexpr std::size_t kMostCompared = 20'000;
  std::vector<std::string> known;
  for (std::size_t i = 0; i < std::min(names_->size(), kMostCompared); ++i) {
    const std::string& name = (*names_)[i];
    known.push_back(name);
    const std::string host = name.substr(0, name.rfind('/'));
    if (host.size() < name.size() && (known.size() < 2 || known[known.size() - 2] != host))
      known.push_back(host);
  }
  const std::string guess = did_you_mean(part, known);
  if (!guess.empty()) return guess;
  return "name a device, a host, or a domain such as '" + levels_->front().name + " 0'";
}

WithoutAbsent without_devices(const std::vector<Level>& levels, const DeviceTree& tree,
                              const std::vector<std::string>& names, const std::vector<bool>& gone) {
  WithoutAbsent out;
  std::vector<std::int32_t> below;  // of each child, whether anything of it is left
  for (std::int32_t d = 0; d < tree.devices(); ++d) {
    below.push_back(gone[index(d)] ? 0 : 1);
    if (gone[index(d)]) continue;
    out.names.push_back(names.empty() ? "d" + std::to_string(d) : names[index(d)]);
  }
  if (out.names.empty()) throw InputError("", "absent", "no device is left");
  for (std::int32_t l = 0; l < tree.levels(); ++l) {
    const LevelId id{l};
    const Level& level = levels[index(l)];
    std::vector<std::int32_t> sizes;
    std::vector<std::int32_t> left;
    bool smaller = false;
    for (std::int32_t d = 0; d < tree.domains(id); ++d) {
      const std::int32_t first = tree.first_child(id, d);
      const std::int32_t children = tree.children(id, d);
      const std::int32_t here =
          std::accumulate(below.begin() + first, below.begin() + first + children, std::int32_t{0});
      left.push_back(here > 0 ? 1 : 0);
      if (here == 0) continue;
      sizes.push_back(here);
      smaller = smaller || here < children;
      if (here < children && level.hops_through_children()) {
        throw InputError(
            "", "absent",
            "the " + std::string(to_string(level.kind)) + " '" + level.name + "' would have a hole",
            "messages pass through its children: leave out all of one of its domains, or describe what is "
            "left of it");
      }
    }
    const bool loose = level.kind == LevelKind::fully_connected && smaller && level.own_links == 0;
    out.shapes.push_back(
        {fan_out_of(std::move(sizes)), loose ? most_children(level.fan_out) - 1 : level.own_links});
    below = std::move(left);
  }
  return out;
}

}  // namespace nest::cluster
