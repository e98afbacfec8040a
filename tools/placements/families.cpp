#include "families.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <set>

#include "nest/network/cells/placement.hpp"

namespace nest::tools::study {
namespace {

using Starts = std::vector<std::int32_t>;

// The first place at or after `at` where `n` devices lie across no domain that they could fit in.
std::int64_t next_start(const DeviceTree& tree, std::int64_t at, std::int64_t n) {
  for (std::int32_t l = 0; l < tree.levels() && at + n <= tree.devices();) {
    const LevelId level(l);
    const std::int32_t domain = tree.domain_of(DeviceId(static_cast<std::int32_t>(at)), level);
    const std::int64_t size = tree.devices_in(level, domain);
    const std::int64_t end = tree.first_device(level, domain).value + size;
    const bool across = n <= size && at + n > end;
    at = across ? end : at;
    l = across ? 0 : l + 1;
  }
  return at;
}

// One way to lay out.
struct Layout {
  std::int64_t inner = 1;
  std::int64_t inside = 1;  // stages of a copy that lie side by side
  std::int64_t block = 0;
  std::int64_t offset = 0;
  bool whole_rows = false;
  bool straddle = false;
  std::int64_t apart = 0;  // of the last slots
};

// [slot * copies + copy]; none where it does not fit.
std::optional<Starts> lay(const DeviceTree& tree, const Degrees& d, const Layout& layout) {
  Starts starts(static_cast<std::size_t>(d.stages * d.copies));
  std::int64_t used = 0;  // devices up to the last cell
  for (std::int64_t o = 0; o < d.copies / layout.inner; ++o) {
    std::int64_t at = layout.offset + o * layout.block;
    const std::int64_t end = std::min<std::int64_t>(at + layout.block, tree.devices());
    for (std::int64_t row = 0; row < d.stages - layout.apart; row += layout.inside) {
      if (layout.whole_rows) at = next_start(tree, at, layout.inside * layout.inner * d.cell);
      for (std::int64_t k = 0; k < layout.inner; ++k) {
        for (std::int64_t s = 0; s < layout.inside; ++s) {
          if (!layout.straddle) at = next_start(tree, at, d.cell);
          if (at + d.cell > end) return std::nullopt;
          starts[static_cast<std::size_t>((row + s) * d.copies + o * layout.inner + k)] =
              static_cast<std::int32_t>(at);
          at += d.cell;
        }
      }
    }
    used = at;
  }
  for (std::int64_t slot = d.stages - layout.apart, at = used; slot < d.stages; ++slot) {
    at = next_start(tree, at, d.copies * d.cell);
    for (std::int64_t k = 0; k < d.copies; ++k, at += d.cell) {
      at = next_start(tree, at, d.cell);
      if (at + d.cell > tree.devices()) return std::nullopt;
      starts[static_cast<std::size_t>(slot * d.copies + k)] = static_cast<std::int32_t>(at);
    }
  }
  return starts;
}

std::vector<std::int64_t> domain_sizes(const DeviceTree& tree) {
  std::vector<std::int64_t> sizes;
  for (std::int32_t l = 0; l < tree.levels(); ++l) {
    std::int64_t largest = 1;
    for (std::int32_t i = 0; i < tree.domains(LevelId(l)); ++i)
      largest = std::max<std::int64_t>(largest, tree.devices_in(LevelId(l), i));
    sizes.push_back(largest);
  }
  return sizes;
}

std::vector<std::int64_t> blocks_of(const DeviceTree& tree, const Degrees& d, std::int64_t inner,
                                    const Family& family) {
  const std::int64_t outer = d.copies / inner;
  if (outer == 1) return {tree.devices()};
  std::vector<std::int64_t> sizes = block_sizes(tree, {d.cell, d.stages, inner, outer, 0, false});
  const std::vector<std::int64_t> domains = domain_sizes(tree);
  for (std::int64_t n = d.stages * inner * d.cell; n <= tree.devices(); ++n) {
    const bool whole = std::any_of(domains.begin(), domains.end(),
                                   [&](std::int64_t size) { return size > 1 && n % size == 0; });
    if (family.blocks == Blocks::any || (family.blocks == Blocks::domains && whole)) sizes.push_back(n);
  }
  return sizes;
}

std::vector<std::int64_t> offsets_of(const DeviceTree& tree, const Family& family) {
  std::set<std::int64_t> offsets{0};
  for (std::int32_t n = 0; family.offsets == Offsets::any && n < tree.devices(); ++n) offsets.insert(n);
  if (family.offsets == Offsets::zero || family.offsets == Offsets::any)
    return {offsets.begin(), offsets.end()};
  const std::vector<std::int64_t> largest = domain_sizes(tree);
  for (std::int32_t l = 0; l < tree.levels(); ++l) {
    for (std::int32_t i = 0; i < tree.domains(LevelId(l)); ++i) {
      const bool large = tree.devices_in(LevelId(l), i) == largest[static_cast<std::size_t>(l)];
      if (large || family.offsets == Offsets::domains) offsets.insert(tree.first_device(LevelId(l), i).value);
      if (large && family.offsets == Offsets::largest) break;
    }
  }
  return {offsets.begin(), offsets.end()};
}

// The slot of every stage.
std::vector<std::vector<std::int64_t>> orders_of(std::int64_t stages, Orders orders) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(stages));
  std::iota(order.begin(), order.end(), 0);
  std::vector<std::vector<std::int64_t>> all;
  if (orders == Orders::any) {
    do all.push_back(order);
    while (std::next_permutation(order.begin(), order.end()));
    return all;
  }
  all.push_back(order);
  if (orders == Orders::folded) {  // there and back: 0 2 4 5 3 1
    for (std::int64_t i = 0; i < stages; ++i)
      order[static_cast<std::size_t>(i)] = 2 * i < stages ? 2 * i : 2 * (stages - i) - 1;
    all.push_back(order);
  }
  const std::size_t forward = all.size();
  for (std::size_t i = 0; i < forward; ++i) {
    std::vector<std::int64_t> back = all[i];
    for (std::int64_t& slot : back) slot = stages - 1 - slot;
    all.push_back(back);
  }
  return all;
}

}  // namespace

std::vector<Starts> cell_starts(const DeviceTree& tree, const Degrees& d, const Family& family) {
  std::set<Starts> all;
  const auto orders = orders_of(d.stages, family.orders);
  const auto copies = static_cast<std::size_t>(d.copies);
  // `last`: of the orders only the last, in which the last slot is the first stage.
  const auto add = [&](const Layout& layout, bool last) {
    const std::optional<Starts> slots = lay(tree, d, layout);
    for (std::size_t i = last ? orders.size() - 1 : 0; slots && i < orders.size(); ++i) {
      Starts starts;
      for (const std::int64_t slot : orders[i]) {
        const auto from = slots->begin() + static_cast<std::ptrdiff_t>(slot * d.copies);
        starts.insert(starts.end(), from, from + static_cast<std::ptrdiff_t>(copies));
      }
      all.insert(std::move(starts));
    }
  };
  for (std::int64_t inner = 1; inner <= d.copies; ++inner) {
    if (d.copies % inner != 0) continue;
    for (const std::int64_t block : blocks_of(tree, d, inner, family)) {
      for (const std::int64_t offset : offsets_of(tree, family)) {
        for (std::int64_t inside = 1; inside <= d.stages; ++inside) {
          if (d.stages % inside != 0 || (inside > 1 && !family.stages_inside)) continue;
          add({inner, inside, block, offset, false, false}, false);
          if (family.whole_rows) add({inner, inside, block, offset, true, false}, false);
          if (family.straddle) add({inner, inside, block, offset, false, true}, false);
        }
      }
    }
    if (inner == d.copies) continue;
    const std::int64_t most_apart = family.apart == Apart::none  ? 0
                                    : family.apart == Apart::any ? d.stages - 1
                                                                 : 1;
    for (std::int64_t apart = 1; apart <= std::min(most_apart, d.stages - 1); ++apart) {
      for (const std::int64_t block : blocks_of(tree, {d.cell, d.stages - apart, d.copies}, inner, family))
        add({inner, 1, block, 0, false, false, apart}, family.apart == Apart::first);
    }
  }
  return {all.begin(), all.end()};
}

}  // namespace nest::tools::study
