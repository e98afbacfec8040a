#include "nest/network/cells/placement.hpp"

#include <algorithm>
#include <numeric>
#include <span>

#include "nest/network/cells/regular_cells.hpp"

namespace nest::network {
namespace {

DeviceId device(std::int64_t n) {
  return DeviceId(static_cast<std::int32_t>(n));
}

// The first place at or after `at` where a cell lies across no domain that it could fit in.
std::int64_t next_start(const DeviceTree& tree, std::int64_t at, std::int64_t cell) {
  for (std::int32_t l = 0; l < tree.levels() && at + cell <= tree.devices();) {
    const std::int32_t domain = tree.domain_of(device(at), LevelId(l));
    const std::int64_t size = tree.devices_in(LevelId(l), domain);
    const std::int64_t end = tree.first_device(LevelId(l), domain).value + size;
    if (cell <= size && at + cell > end) {
      at = end;  // may straddle an inner domain there: look at all levels again
      l = 0;
    } else {
      ++l;
    }
  }
  return at;
}

// The end of a block's last cell; `starts` gets the cells in device order.
std::int64_t lay_block(const DeviceTree& tree, const PlacementShape& shape, std::int64_t from,
                       std::vector<std::int32_t>* starts) {
  const std::int64_t cells = shape.stages * shape.inner;
  if (const auto regular = RegularCells::find(tree, shape.cell)) {
    for (std::int64_t k = 0; starts != nullptr && k < cells; ++k)
      starts->push_back(static_cast<std::int32_t>(regular->start(from, k)));
    return std::min<std::int64_t>(regular->end(from, cells), tree.devices() + 1);
  }
  std::int64_t at = from;
  for (std::int64_t k = 0; k < cells; ++k) {
    at = next_start(tree, at, shape.cell);
    if (at + shape.cell > tree.devices()) return tree.devices() + 1;
    if (starts != nullptr) starts->push_back(static_cast<std::int32_t>(at));
    at += shape.cell;
  }
  return at;
}

// The same where domains are alike: ranges that begin at the same place of a domain are filled alike, and
// only the last one can reach beyond the cluster.
bool fits(const DeviceTree& tree, const RegularCells& cells, const PlacementShape& shape,
          std::int64_t block) {
  const std::int64_t in_block = shape.stages * shape.inner;
  const std::int64_t different = cells.unit() / std::gcd(block, cells.unit());
  for (std::int64_t o = 0; o < std::min(shape.outer, different); ++o) {
    if (cells.end(o * block, in_block) > (o + 1) * block) return false;
  }
  return cells.end((shape.outer - 1) * block, in_block) <= tree.devices();
}

bool fits(const DeviceTree& tree, const PlacementShape& shape, std::int64_t block) {
  if (const auto cells = RegularCells::find(tree, shape.cell)) return fits(tree, *cells, shape, block);
  for (std::int64_t o = 0; o < shape.outer; ++o) {
    const std::int64_t from = o * block;
    if (lay_block(tree, shape, from, nullptr) > std::min<std::int64_t>(from + block, tree.devices()))
      return false;
  }
  return true;
}

std::int64_t round_up(std::int64_t n, std::int64_t unit) {
  return (n + unit - 1) / unit * unit;
}

// The largest range that every block could have: the last one may end beyond the last device.
std::int64_t most_devices(const DeviceTree& tree, const PlacementShape& shape, std::int64_t need) {
  return shape.outer == 1 ? tree.devices() : (tree.devices() - need) / (shape.outer - 1);
}

// The tightest range, size by size: nearly always the first. Laying out takes time in proportion to the
// cells.
std::optional<std::int64_t> tightest(const DeviceTree& tree, const PlacementShape& shape, std::int64_t need) {
  constexpr std::int64_t kMostCells = 1 << 24;
  const std::int64_t cells = shape.stages * shape.inner * shape.outer;
  const std::int64_t tries = std::max<std::int64_t>(64, kMostCells / cells);
  // The first block lies at device 0, whatever the size.
  const std::int64_t first = lay_block(tree, shape, 0, nullptr);
  const std::int64_t last = std::min(most_devices(tree, shape, need), need + tries);
  for (std::int64_t size = std::max(need, first); size <= last; ++size) {
    if (fits(tree, shape, size)) return size;
  }
  return std::nullopt;
}

}  // namespace

std::vector<Cell> SlotTable::cells_of(std::size_t stage) const {
  std::vector<Cell> cells(static_cast<std::size_t>(copies));
  for (std::size_t k = 0; k < cells.size(); ++k) {
    const std::int32_t start = starts[stage * cells.size() + k];
    for (std::int32_t j = 0; j < cell; ++j) cells[k].emplace_back(start + j);
  }
  return cells;
}

std::vector<Cell> own_cells(const Cluster& cluster, const SlotTable& slots, std::size_t stage) {
  std::vector<Cell> cells = slots.cells_of(stage);
  if (&cluster.sorted() == &cluster) return cells;
  for (Cell& cell : cells) {
    for (DeviceId& device : cell) device = cluster.id_from_sorted(device);
  }
  return cells;
}

std::vector<std::int64_t> block_sizes(const DeviceTree& tree, const PlacementShape& shape) {
  const std::int64_t need = shape.stages * shape.inner * shape.cell;
  if (shape.outer > tree.devices() || need > tree.devices()) return {};
  const std::int64_t most = most_devices(tree, shape, need);
  if (need > most) return {};
  std::vector<std::int64_t> sizes;
  if (const auto least = tightest(tree, shape, need)) sizes.push_back(*least);
  std::vector<std::int64_t> candidates{tree.devices() / shape.outer};
  for (std::int32_t l = 0; l < tree.levels(); ++l) {
    std::int64_t largest = 0;
    for (std::int32_t d = 0; d < tree.domains(LevelId(l)); ++d) {
      largest = std::max<std::int64_t>(largest, tree.devices_in(LevelId(l), d));
      if (tree.regular(LevelId(l))) break;
    }
    candidates.push_back(round_up(need, largest));
  }
  std::sort(candidates.begin(), candidates.end());
  for (const std::int64_t size : candidates) {
    if (size >= need && size <= most && (sizes.empty() || size > sizes.back()) && fits(tree, shape, size))
      sizes.push_back(size);
  }
  return sizes;
}

std::optional<std::int64_t> fitting_block(const DeviceTree& tree, const PlacementShape& shape) {
  const std::int64_t cells = shape.stages * shape.inner * shape.outer;
  if (cells <= 0 || shape.cell <= 0 || cells > tree.devices() / shape.cell) return std::nullopt;
  if (shape.block_devices == 0) {
    const std::int64_t need = shape.stages * shape.inner * shape.cell;
    if (const auto least = tightest(tree, shape, need)) return least;
    // Rare: no size close to what the cells need, but one of the rounded ones.
    const std::vector<std::int64_t> sizes = block_sizes(tree, shape);
    return sizes.empty() ? std::nullopt : std::optional(sizes.front());
  }
  if (shape.block_devices > tree.devices() || !fits(tree, shape, shape.block_devices)) return std::nullopt;
  return shape.block_devices;
}

std::optional<SlotTable> place_cells(const DeviceTree& tree, const PlacementShape& shape) {
  const std::optional<std::int64_t> fitting = fitting_block(tree, shape);
  if (!fitting) return std::nullopt;
  const std::int64_t block = *fitting;
  const std::int64_t cells = shape.stages * shape.inner * shape.outer;
  SlotTable table{shape.cell, shape.inner * shape.outer, block, {}};
  table.starts.resize(static_cast<std::size_t>(cells));
  std::vector<std::int32_t> starts;
  for (std::int64_t o = 0; o < shape.outer; ++o) {
    starts.clear();
    lay_block(tree, shape, o * block, &starts);
    for (std::int64_t slot = 0; slot < shape.stages; ++slot) {
      const std::int64_t stage = shape.first_stage_first ? slot : shape.stages - 1 - slot;
      for (std::int64_t k = 0; k < shape.inner; ++k) {
        const std::int64_t copy = o * shape.inner + k;
        table.starts[static_cast<std::size_t>(stage * table.copies + copy)] =
            starts[static_cast<std::size_t>(slot * shape.inner + k)];
      }
    }
  }
  return table;
}

void add_shard_size(std::int64_t ranks, std::int64_t group, std::vector<std::int64_t>& sizes) {
  if (ranks > 1 && ranks < group && group % ranks == 0 && (sizes.empty() || ranks > sizes.back()))
    sizes.push_back(ranks);
}

std::vector<std::int64_t> zero_shard_sizes(const DeviceTree& tree, const SlotTable& slots,
                                           const Strategy& strategy) {
  const auto copies = static_cast<std::size_t>(slots.copies);
  const std::int64_t in_cell = slots.cell / strategy.tensor;
  const std::int64_t group = slots.copies * in_cell;
  const std::size_t last = slots.starts.size() - copies;
  const std::size_t lowest = slots.starts[last] < slots.starts.front() ? last : 0;
  const std::span<const std::int32_t> starts(slots.starts.data() + lowest, copies);
  std::vector<std::int64_t> sizes;
  for (std::int32_t l = 0; l < tree.levels(); ++l) {
    const std::int32_t domain = tree.domain_of(DeviceId(starts.front()), LevelId(l));
    const std::int64_t end =
        tree.first_device(LevelId(l), domain).value + tree.devices_in(LevelId(l), domain);
    // Copies lie in device order: those that begin before the domain's end, and of the last its ranks there.
    const auto inside = std::lower_bound(starts.begin(), starts.end(), end) - starts.begin();
    const std::int64_t left = end - starts[static_cast<std::size_t>(inside) - 1];
    const std::int64_t of_last = std::min(in_cell, (left + strategy.tensor - 1) / strategy.tensor);
    const std::int64_t ranks = (inside - 1) * in_cell + of_last;
    add_shard_size(ranks, group, sizes);
  }
  return sizes;
}

}  // namespace nest::network
