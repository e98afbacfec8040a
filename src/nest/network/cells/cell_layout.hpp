// Where the cells of a placement lie, in device order: block after block, and in each block slot after slot.
// They are listed only where domains differ so much that their places follow no formula.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "nest/network/cells/placement.hpp"
#include "nest/network/cells/regular_cells.hpp"

namespace nest::network {

// A cell by its block and its number there: slot = number / inner.
struct CellSpot {
  std::int64_t block = 0;
  std::int64_t number = 0;
  std::int64_t start = 0;
};

class CellLayout {
 public:
  // The block size must be filled in and fit.
  CellLayout(const DeviceTree& tree, const PlacementShape& shape);

  [[nodiscard]] const PlacementShape& shape() const { return shape_; }
  [[nodiscard]] std::int64_t cells_in_block() const { return shape_.stages * shape_.inner; }
  // The formula; none where cells are listed.
  [[nodiscard]] const std::optional<RegularCells>& regular() const { return regular_; }

  // The first cell that ends after a device; none after the last.
  [[nodiscard]] std::optional<CellSpot> first_after(std::int64_t device) const;
  [[nodiscard]] std::optional<CellSpot> next(const CellSpot& spot) const;
  [[nodiscard]] std::int64_t start(std::int64_t block, std::int64_t number) const;

  // A number that divides all starts of cells; 0 where the only one is 0.
  [[nodiscard]] std::int64_t common_divisor() const;

 private:
  PlacementShape shape_;
  std::optional<RegularCells> regular_;
  std::vector<std::int32_t> starts_;  // where there is no formula
};

}  // namespace nest::network
