// Ids that cannot be mixed up: a LayerId is not a DeviceId, and arithmetic on either is spelt out.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>

#include "nest/base/rooms.hpp"

namespace nest::base {

template <class Tag>
struct Id {
  std::int32_t value = 0;

  constexpr Id() = default;
  constexpr explicit Id(std::int32_t v) : value(v) {}
  constexpr auto operator<=>(const Id&) const = default;
  [[nodiscard]] constexpr std::size_t index() const { return static_cast<std::size_t>(value); }
};

using LayerId = Id<struct LayerTag>;
using StageId = Id<struct StageTag>;
using DeviceId = Id<struct DeviceTag>;
using LevelId = Id<struct LevelTag>;

}  // namespace nest::base

template <class Tag>
struct std::hash<nest::base::Id<Tag>> {
  std::size_t operator()(const nest::base::Id<Tag>& id) const noexcept {
    return std::hash<std::int32_t>{}(id.value);
  }
};
