#include "nest/frameworks/chakra/chakra_chain.hpp"

#include <algorithm>
#include <utility>

namespace nest::frameworks {
namespace {

using enum ChakraCollective;

ChainLink link_at(const ChakraSum& sum, const GridSide& side, ChakraCollective kind, double bytes) {
  ChainLink link{kind, sum.role, side.members, bytes};
  link.role.level = side.level;
  return link;
}

// Bytes of the part of an all-to-all whose ends meet at the level: one of `above` domains holds them.
double exchanged(double bytes, const std::vector<GridSide>& grid, std::size_t at) {
  for (std::size_t l = at + 1; l < grid.size(); ++l) bytes /= static_cast<double>(grid[l].members);
  return bytes;
}

// The levels' collectives with their bytes, innermost first.
std::vector<ChainLink> sides(const ChakraSum& sum, const std::vector<GridSide>& grid) {
  std::vector<ChainLink> out;
  double inside = 1;
  for (std::size_t l = 0; l < grid.size(); ++l) {
    const double bytes = sum.kind == all_to_all ? exchanged(sum.bytes, grid, l) : sum.bytes / inside;
    out.push_back(link_at(sum, grid[l], sum.kind, bytes));
    inside *= static_cast<double>(grid[l].members);
  }
  return out;
}

double ring_share(std::int64_t members) {
  return 1 - 1 / static_cast<double>(members);
}

std::vector<ChainLink> slowest(const std::vector<ChainLink>& all, const ChakraSum& sum, std::int64_t members,
                               const ChainRules& rules) {
  const auto seconds = [&](const ChainLink& link) {
    const double rate = rules.levels[static_cast<std::size_t>(*link.role.level)].bandwidth.value;
    return link.bytes * (sum.kind == all_to_all ? ring_share(link.members) : 1) / rate;
  };
  ChainLink link = *std::max_element(all.begin(), all.end(), [&](const ChainLink& a, const ChainLink& b) {
    return seconds(a) < seconds(b);
  });
  if (sum.kind != all_to_all) link.bytes *= ring_share(members) / ring_share(link.members);
  return {link};
}

// Reduce-scatters outwards, an all-reduce at the outermost level, all-gathers back.
std::vector<ChainLink> one_by_one(std::vector<ChainLink> all, ChakraCollective kind) {
  if (kind == all_gather) std::reverse(all.begin(), all.end());
  if (kind != all_reduce) return all;
  std::vector<ChainLink> back;
  for (std::size_t l = 0; l + 1 < all.size(); ++l) {
    back.insert(back.begin(), all[l]);
    back.front().kind = all_gather;
    all[l].kind = reduce_scatter;
  }
  all.insert(all.end(), back.begin(), back.end());
  return all;
}

}  // namespace

std::vector<ChainLink> chain_of(const ChakraSum& sum, std::size_t stage, ChakraGroups& groups,
                                const ChainRules& rules) {
  const std::int64_t members = groups.members(stage, sum.role);
  if (sum.bytes <= 0 || members < 2) return {};
  const std::vector<GridSide>& grid = groups.grid(stage, sum.role);
  std::vector<ChainLink> out{{sum.kind, sum.role, members, sum.bytes}};
  if (grid.size() > 1) {
    out = sides(sum, grid);
    out = rules.at_once ? slowest(out, sum, members, rules) : one_by_one(std::move(out), sum.kind);
  }
  for (ChainLink& link : out) {
    if (link.kind == all_to_all && rules.ring_all_to_all && groups.of(stage, link.role).front() != 0)
      link.bytes *= 2 / static_cast<double>(link.members);
  }
  return out;
}

bool one_all_to_all_each(const std::vector<ChakraStage>& stages, ChakraGroups& groups,
                         const ChainRules& rules) {
  for (std::size_t i = 0; i < stages.size(); ++i) {
    std::vector<ChakraRole> roles;
    const auto note = [&](const std::vector<ChakraSum>& sums) {
      for (const ChakraSum& sum : sums) {
        if (sum.kind != all_to_all) continue;
        for (const ChainLink& link : chain_of(sum, i, groups, rules)) roles.push_back(link.role);
      }
    };
    for (const ChakraChunk& chunk : stages[i].chunks) {
      for (const ChakraPass* pass : {&chunk.forward, &chunk.backward, &chunk.weight}) note(pass->collectives);
    }
    for (const ChakraRole& role : roles) {
      const std::vector<std::int64_t>& first = groups.of(i, roles.front());
      if (groups.of(i, role) != first || first.front() == 0) return false;
    }
  }
  return true;
}

}  // namespace nest::frameworks
