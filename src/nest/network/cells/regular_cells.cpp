#include "nest/network/cells/regular_cells.hpp"

namespace nest::network {

std::optional<RegularCells> RegularCells::find(const DeviceTree& tree, std::int64_t cell) {
  for (std::int32_t l = 0; l < tree.levels() && tree.regular(LevelId(l)); ++l) {
    const std::int64_t devices = tree.devices_in(LevelId(l), 0);
    if (devices >= cell) return RegularCells(cell, devices);
  }
  return std::nullopt;
}

}  // namespace nest::network
