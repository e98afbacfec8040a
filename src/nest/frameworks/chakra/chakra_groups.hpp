// Who takes part in a trace's collectives: groups of NPUs, each listed once under its number, whoever uses
// it.
//
//   groups.of(0, {.inner = 1, .members = 8})        the tensor groups of the first stage, rank by rank
//   groups.text()                                   {"1":[0,1,2,3,4,5,6,7],"2":[8,..]}
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "nest/plan/plan.hpp"
#include "nest/price/stage_cost.hpp"

namespace nest::frameworks {

// Groups of one kind within a stage: of every `inner`-th id of a cell, or those of the end of a step.
struct ChakraRole {
  std::int64_t inner = 0;
  std::int64_t members = 0;  // 0: those of the end of a step
  StepCollective::Group step = StepCollective::Group::dense;
  std::optional<std::int32_t> level = {};  // those parts of the groups that differ at this level alone

  auto operator<=>(const ChakraRole&) const = default;
};

// Members of a group along one level of the network.
struct GridSide {
  std::int32_t level = 0;
  std::int64_t members = 1;

  bool operator==(const GridSide&) const = default;
};

class ChakraGroups {
 public:
  // `tied`: stages that hold a copy of a tied weight. `sizes`: NPUs along each level, innermost first; none:
  // no group is a grid. The plan outlives this.
  ChakraGroups(const Plan& plan, std::vector<std::int32_t> npu_of, std::int32_t npus,
               std::vector<std::size_t> tied, std::vector<std::int32_t> sizes = {});

  // The number of the group that each rank of the stage is in, copy by copy, by id within the cell; 0 is all
  // NPUs.
  [[nodiscard]] const std::vector<std::int64_t>& of(std::size_t stage, const ChakraRole& role);
  // Ranks of such a group.
  [[nodiscard]] std::int64_t members(std::size_t stage, const ChakraRole& role);

  // The sides of more than one member, innermost first, where every such group is a grid of the same sides over
  // the levels; else nothing.
  [[nodiscard]] const std::vector<GridSide>& grid(std::size_t stage, const ChakraRole& role);

  [[nodiscard]] std::size_t size() const { return groups_.size(); }
  [[nodiscard]] std::string text() const;

 private:
  struct Members {
    std::vector<std::int64_t> numbers;
    std::int64_t each = 1;
  };

  const Members& find(std::size_t stage, const ChakraRole& role);
  [[nodiscard]] std::vector<std::vector<DeviceId>> lists(std::size_t stage, const ChakraRole& role) const;
  [[nodiscard]] std::vector<std::int32_t> place(DeviceId device) const;  // by level
  [[nodiscard]] std::vector<GridSide> sides(const std::vector<DeviceId>& group) const;
  std::int64_t number(const std::vector<DeviceId>& devices);

  const Plan* plan_;
  std::vector<std::int32_t> npu_of_;
  std::int32_t npus_;
  std::vector<std::size_t> tied_;
  std::vector<std::int32_t> sizes_;
  std::map<std::pair<std::size_t, ChakraRole>, Members> known_;
  std::map<std::pair<std::size_t, ChakraRole>, std::vector<GridSide>> grids_;
  std::map<std::vector<std::int32_t>, std::int64_t> numbers_;
  std::vector<std::vector<std::int32_t>> groups_;  // number 1 first
};

}  // namespace nest::frameworks
