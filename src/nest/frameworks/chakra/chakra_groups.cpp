#include "nest/frameworks/chakra/chakra_groups.hpp"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <utility>

#include "nest/price/step_groups.hpp"

namespace nest::frameworks {
namespace {

std::vector<std::vector<DeviceId>> cell_groups(const std::vector<Cell>& cells, std::size_t inner,
                                               std::size_t members) {
  std::vector<std::vector<DeviceId>> groups;
  for (const Cell& cell : cells) {
    for (std::size_t block = 0; block + inner * members <= cell.size(); block += inner * members) {
      for (std::size_t i = 0; i < inner; ++i) {
        std::vector<DeviceId>& group = groups.emplace_back();
        for (std::size_t k = 0; k < members; ++k) group.push_back(cell[block + i + k * inner]);
      }
    }
  }
  return groups;
}

}  // namespace

ChakraGroups::ChakraGroups(const Plan& plan, std::vector<std::int32_t> npu_of, std::int32_t npus,
                           std::vector<std::size_t> tied, std::vector<std::int32_t> sizes)
    : plan_(&plan),
      npu_of_(std::move(npu_of)),
      npus_(npus),
      tied_(std::move(tied)),
      sizes_(std::move(sizes)) {}

std::vector<std::vector<DeviceId>> ChakraGroups::lists(std::size_t stage, const ChakraRole& role) const {
  if (role.level) {
    ChakraRole whole = role;
    whole.level.reset();
    std::vector<std::vector<DeviceId>> parts;
    for (const std::vector<DeviceId>& group : lists(stage, whole)) {
      std::map<std::vector<std::int32_t>, std::vector<DeviceId>> by_rest;
      for (const DeviceId d : group) {
        std::vector<std::int32_t> rest = place(d);
        rest[static_cast<std::size_t>(*role.level)] = 0;
        by_rest[rest].push_back(d);
      }
      for (auto& [rest, part] : by_rest) parts.push_back(std::move(part));
    }
    return parts;
  }
  const std::vector<Cell>& cells = plan_->stages[stage].devices;
  if (role.members > 0)
    return cell_groups(cells, static_cast<std::size_t>(role.inner), static_cast<std::size_t>(role.members));
  if (role.step != StepCollective::Group::tied) return step_groups(*plan_, stage, role.step);
  std::vector<std::vector<DeviceId>> groups;
  for (std::size_t c = 0; c < cells.size() && tied_.size() > 1; ++c) {
    for (std::size_t j = 0; j < cells[c].size(); ++j) {
      std::vector<DeviceId>& group = groups.emplace_back();
      for (const std::size_t s : tied_) group.push_back(plan_->stages[s].devices[c][j]);
    }
  }
  return groups;
}

std::vector<std::int32_t> ChakraGroups::place(DeviceId device) const {
  std::vector<std::int32_t> out;
  std::int32_t left = npu_of_[device.index()];
  for (const std::int32_t size : sizes_) {
    out.push_back(left % size);
    left /= size;
  }
  return out;
}

std::vector<GridSide> ChakraGroups::sides(const std::vector<DeviceId>& group) const {
  std::vector<std::set<std::int32_t>> at(sizes_.size());
  for (const DeviceId d : group) {
    const std::vector<std::int32_t> where = place(d);
    for (std::size_t l = 0; l < where.size(); ++l) at[l].insert(where[l]);
  }
  std::vector<GridSide> out;
  std::size_t places = 1;
  for (std::size_t l = 0; l < at.size(); ++l) {
    places *= at[l].size();
    if (at[l].size() > 1)
      out.push_back({static_cast<std::int32_t>(l), static_cast<std::int64_t>(at[l].size())});
  }
  return places == group.size() ? out : std::vector<GridSide>{};
}

const std::vector<GridSide>& ChakraGroups::grid(std::size_t stage, const ChakraRole& role) {
  const auto [at, made] = grids_.try_emplace({stage, role});
  if (!made || sizes_.empty()) return at->second;
  std::optional<std::vector<GridSide>> common;
  for (const std::vector<DeviceId>& group : lists(stage, role)) {
    if (group.size() < 2) continue;
    std::vector<GridSide> own = sides(group);
    if (!common)
      common = std::move(own);
    else if (*common != own)
      return at->second;
  }
  if (common) at->second = std::move(*common);
  return at->second;
}

std::int64_t ChakraGroups::number(const std::vector<DeviceId>& devices) {
  std::vector<std::int32_t> npus;
  npus.reserve(devices.size());
  for (const DeviceId d : devices) npus.push_back(npu_of_[d.index()]);
  std::sort(npus.begin(), npus.end());
  if (static_cast<std::int32_t>(npus.size()) == npus_) return 0;
  const auto [at, made] = numbers_.try_emplace(npus, static_cast<std::int64_t>(groups_.size()) + 1);
  if (made) groups_.push_back(std::move(npus));
  return at->second;
}

const ChakraGroups::Members& ChakraGroups::find(std::size_t stage, const ChakraRole& role) {
  const auto [at, made] = known_.try_emplace({stage, role});
  Members& members = at->second;
  if (!made) return members;
  std::unordered_map<DeviceId, std::int64_t> by_device;
  for (const std::vector<DeviceId>& devices : lists(stage, role)) {
    if (devices.size() < 2) continue;
    members.each = static_cast<std::int64_t>(devices.size());
    const std::int64_t n = number(devices);
    for (const DeviceId d : devices) by_device.emplace(d, n);
  }
  if (members.each == 1) return members;
  for (const Cell& cell : plan_->stages[stage].devices) {
    for (const DeviceId d : cell) members.numbers.push_back(by_device.at(d));
  }
  return members;
}

const std::vector<std::int64_t>& ChakraGroups::of(std::size_t stage, const ChakraRole& role) {
  return find(stage, role).numbers;
}

std::int64_t ChakraGroups::members(std::size_t stage, const ChakraRole& role) {
  return find(stage, role).each;
}

std::string ChakraGroups::text() const {
  std::string out = "{";
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    out += (g == 0 ? "\n\"" : ",\n\"") + std::to_string(g + 1) + "\":[";
    for (std::size_t i = 0; i < groups_[g].size(); ++i)
      out += (i == 0 ? "" : ",") + std::to_string(groups_[g][i]);
    out += ']';
  }
  return out + "\n}\n";
}

}  // namespace nest::frameworks
