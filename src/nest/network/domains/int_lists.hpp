// Lists of whole numbers, each different one kept once and named by a number: equal lists have equal names,
// so that what is made of them compares fast.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "nest/base/rooms.hpp"

namespace nest::network {

class IntLists {
 public:
  IntLists() : table_(64, -1) {}

  // The empty list is 0 where it was asked for first.
  [[nodiscard]] std::int32_t name(std::span<const std::int32_t> list);
  [[nodiscard]] std::span<const std::int32_t> list(std::int32_t name) const {
    const auto i = static_cast<std::size_t>(name);
    return {numbers_.data() + begins_[i], begins_[i + 1] - begins_[i]};
  }
  [[nodiscard]] std::size_t size() const { return hashes_.size(); }
  void clear();

 private:
  void grow();

  std::vector<std::int32_t> numbers_;
  std::vector<std::size_t> begins_{0};
  std::vector<std::uint32_t> hashes_;
  std::vector<std::int32_t> table_;  // names by hash; -1 where empty
};

}  // namespace nest::network
