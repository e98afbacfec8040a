#include "nest/network/domains/int_lists.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace nest::network {
namespace {

// Two numbers at a time, in two sums that do not wait for each other.
std::uint32_t hash_of(std::span<const std::int32_t> list) {
  constexpr std::uint64_t kFactor = 0x9e3779b97f4a7c15U;
  std::array<std::uint64_t, 2> sums{list.size() * kFactor, kFactor};
  std::size_t i = 0;
  for (; i + 2 <= list.size(); i += 2) {
    std::uint64_t both = 0;
    std::memcpy(&both, list.data() + i, sizeof(both));
    std::uint64_t& sum = sums[i / 2 % 2];
    sum = (std::rotl(sum, 23) ^ both) * kFactor;
  }
  if (i < list.size()) sums[0] = (std::rotl(sums[0], 23) ^ static_cast<std::uint32_t>(list[i])) * kFactor;
  const std::uint64_t all = (sums[0] ^ std::rotl(sums[1], 31)) * kFactor;
  return static_cast<std::uint32_t>(all >> 32U);
}

}  // namespace

std::int32_t IntLists::name(std::span<const std::int32_t> list) {
  const std::uint32_t hash = hash_of(list);
  const std::size_t mask = table_.size() - 1;
  std::size_t at = hash & mask;
  for (; table_[at] >= 0; at = (at + 1) & mask) {
    const std::int32_t known = table_[at];
    if (hashes_[static_cast<std::size_t>(known)] != hash) continue;
    const std::span<const std::int32_t> own = this->list(known);
    if (std::equal(own.begin(), own.end(), list.begin(), list.end())) return known;
  }
  const auto fresh = static_cast<std::int32_t>(hashes_.size());
  table_[at] = fresh;
  hashes_.push_back(hash);
  numbers_.insert(numbers_.end(), list.begin(), list.end());
  begins_.push_back(numbers_.size());
  if (2 * hashes_.size() > table_.size()) grow();
  return fresh;
}

void IntLists::clear() {
  numbers_.clear();
  begins_.assign(1, 0);
  hashes_.clear();
  std::fill(table_.begin(), table_.end(), -1);
}

void IntLists::grow() {
  table_.assign(2 * table_.size(), -1);
  const std::size_t mask = table_.size() - 1;
  for (std::size_t i = 0; i < hashes_.size(); ++i) {
    std::size_t at = hashes_[i] & mask;
    while (table_[at] >= 0) at = (at + 1) & mask;
    table_[at] = static_cast<std::int32_t>(i);
  }
}

}  // namespace nest::network
