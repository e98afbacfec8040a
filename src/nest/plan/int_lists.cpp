#include "nest/plan/int_lists.hpp"

#include <algorithm>

namespace nest {
namespace {

std::uint32_t hash_of(std::span<const std::int32_t> list) {
  std::uint64_t hash = list.size();
  for (const std::int32_t n : list) {
    hash = (hash ^ static_cast<std::uint32_t>(n)) * 0x9e3779b97f4a7c15U;
    hash ^= hash >> 29U;
  }
  return static_cast<std::uint32_t>(hash >> 16U);
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

void IntLists::grow() {
  table_.assign(2 * table_.size(), -1);
  const std::size_t mask = table_.size() - 1;
  for (std::size_t i = 0; i < hashes_.size(); ++i) {
    std::size_t at = hashes_[i] & mask;
    while (table_[at] >= 0) at = (at + 1) & mask;
    table_[at] = static_cast<std::int32_t>(i);
  }
}

}  // namespace nest
