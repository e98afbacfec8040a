#include "nest/price/step_groups.hpp"

#include <numeric>

namespace nest::price {
namespace {

using Group = StepCollective::Group;
using Groups = std::vector<std::vector<DeviceId>>;

// Ranks whose id within the cell has the same remainder hold the same parameters: `width` is the tensor
// degree for dense ones, expert tensor times expert degree for experts.
Groups same_rank(const std::vector<Cell>& copies, std::size_t width) {
  Groups groups(width);
  for (const Cell& cell : copies) {
    for (std::size_t j = 0; j < cell.size(); ++j) groups[j % width].push_back(cell[j]);
  }
  return groups;
}

// ZeRO's part of a group, as price has it: what is left open or too large is the whole group.
std::size_t shards_of(std::size_t members, const Parallelism& p) {
  const auto shards = static_cast<std::size_t>(p.zero.shards_anything() ? p.zero_shards : 0);
  return shards == 0 || shards >= members ? members : std::gcd(members, shards);
}

// Of them, the ranks that gather again.
std::size_t near_of(std::size_t members, const Parallelism& p) {
  const std::size_t shards = shards_of(members, p);
  const auto near = static_cast<std::size_t>(p.zero.resharding().group());
  return near == 0 || near >= shards ? shards : std::gcd(shards, near);
}

Groups inner_parts(const Groups& groups, const Parallelism& p, bool near = false) {
  Groups parts;
  for (const std::vector<DeviceId>& ids : groups) {
    const std::size_t n = near ? near_of(ids.size(), p) : shards_of(ids.size(), p);
    for (std::size_t at = 0; at < ids.size(); at += n) {
      parts.emplace_back(ids.begin() + static_cast<std::ptrdiff_t>(at),
                         ids.begin() + static_cast<std::ptrdiff_t>(at + n));
    }
  }
  return parts;
}

Groups outer_parts(const Groups& groups, const Parallelism& p) {
  Groups parts;
  for (const std::vector<DeviceId>& ids : groups) {
    const std::size_t n = shards_of(ids.size(), p);
    for (std::size_t r = 0; r < n; ++r) {
      parts.emplace_back();
      for (std::size_t at = r; at < ids.size(); at += n) parts.back().push_back(ids[at]);
    }
  }
  return parts;
}

Groups tensor_groups(const std::vector<Cell>& copies, std::size_t tensor) {
  Groups groups;
  for (const Cell& cell : copies) {
    for (std::size_t j = 0; j < cell.size(); j += tensor) {
      groups.emplace_back(cell.begin() + static_cast<std::ptrdiff_t>(j),
                          cell.begin() + static_cast<std::ptrdiff_t>(std::min(j + tensor, cell.size())));
    }
  }
  return groups;
}

Groups ends(const Plan& plan) {
  Groups groups;
  const std::vector<Cell>& first = plan.stages.front().devices;
  const std::vector<Cell>& last = plan.stages.back().devices;
  for (std::size_t c = 0; c < first.size(); ++c) {
    for (std::size_t j = 0; j < first[c].size() && j < last[c].size(); ++j) {
      groups.push_back({first[c][j], last[c][j]});
    }
  }
  return groups;
}

Groups all_groups(const Plan& plan, std::size_t at, Group group) {
  const Stage& stage = plan.stages[at];
  const Parallelism& p = plan.parallelism;
  const auto tensor = static_cast<std::size_t>(stage.strategy.tensor);
  const auto expert = static_cast<std::size_t>(stage.strategy.expert_tensor_degree() * stage.strategy.expert);
  switch (group) {
    case Group::dense:
      return same_rank(stage.devices, tensor);
    case Group::dense_inner:
      return inner_parts(same_rank(stage.devices, tensor), p);
    case Group::dense_outer:
      return outer_parts(same_rank(stage.devices, tensor), p);
    case Group::expert:
      return same_rank(stage.devices, expert);
    case Group::expert_inner:
      return inner_parts(same_rank(stage.devices, expert), p);
    case Group::expert_outer:
      return outer_parts(same_rank(stage.devices, expert), p);
    case Group::dense_near:
      return inner_parts(same_rank(stage.devices, tensor), p, true);
    case Group::expert_near:
      return inner_parts(same_rank(stage.devices, expert), p, true);
    case Group::replicated:
      return tensor_groups(stage.devices, tensor);
    case Group::tied:
      break;
  }
  return ends(plan);
}

}  // namespace

std::vector<std::vector<DeviceId>> step_groups(const Plan& plan, std::size_t stage,
                                               StepCollective::Group group) {
  Groups groups = all_groups(plan, stage, group);
  std::erase_if(groups, [](const std::vector<DeviceId>& ids) { return ids.size() < 2; });
  return groups;
}

}  // namespace nest::price
