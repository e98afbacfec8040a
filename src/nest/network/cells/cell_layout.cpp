#include "nest/network/cells/cell_layout.hpp"

#include <algorithm>
#include <numeric>

namespace nest::network {

CellLayout::CellLayout(const DeviceTree& tree, const PlacementShape& shape)
    : shape_(shape), regular_(RegularCells::find(tree, shape.cell)) {
  shape_.first_stage_first = true;
  if (regular_) return;
  const std::optional<SlotTable> table = place_cells(tree, shape_);
  starts_ = table->starts;
  std::sort(starts_.begin(), starts_.end());
}

std::int64_t CellLayout::start(std::int64_t block, std::int64_t number) const {
  if (regular_) return regular_->start(block * shape_.block_devices, number);
  return starts_[static_cast<std::size_t>(block * cells_in_block() + number)];
}

std::optional<CellSpot> CellLayout::first_after(std::int64_t device) const {
  if (!regular_) {
    const auto at = std::upper_bound(starts_.begin(), starts_.end(), device - shape_.cell);
    if (at == starts_.end()) return std::nullopt;
    const std::int64_t i = at - starts_.begin();
    return CellSpot{i / cells_in_block(), i % cells_in_block(), *at};
  }
  const std::int64_t block = device / shape_.block_devices;
  if (block >= shape_.outer) return std::nullopt;
  const std::int64_t from = block * shape_.block_devices;
  const std::int64_t number = regular_->first_after(from, device);
  if (number < cells_in_block()) return CellSpot{block, number, regular_->start(from, number)};
  if (block + 1 == shape_.outer) return std::nullopt;
  return CellSpot{block + 1, 0, start(block + 1, 0)};
}

std::optional<CellSpot> CellLayout::next(const CellSpot& spot) const {
  if (spot.number + 1 < cells_in_block())
    return CellSpot{spot.block, spot.number + 1, start(spot.block, spot.number + 1)};
  if (spot.block + 1 == shape_.outer) return std::nullopt;
  return CellSpot{spot.block + 1, 0, start(spot.block + 1, 0)};
}

std::int64_t CellLayout::common_divisor() const {
  if (regular_) {
    const std::int64_t inside = std::gcd(shape_.cell, regular_->unit());
    return shape_.outer == 1 ? inside : std::gcd(inside, shape_.block_devices);
  }
  std::int64_t out = 0;
  for (const std::int32_t start : starts_) out = std::gcd(out, std::int64_t{start});
  return out;
}

}  // namespace nest::network
