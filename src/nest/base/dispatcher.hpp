// How tokens travel to the devices of their experts and back; the names are Megatron-LM's. A word of recipes,
// plans and collectives alike.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "nest/base/rooms.hpp"

namespace nest {

enum class Dispatcher {
  alltoall,  // every copy of a token by itself, in one all-to-all
  deepep,  // once to each node and once to each device that holds one of its experts (DeepEP's normal kernels)
  hybridep,  // the same, by copy engines that take few multiprocessors (HybridEP)
};

inline constexpr std::array<Dispatcher, 3> kDispatchers{Dispatcher::alltoall, Dispatcher::deepep,
                                                        Dispatcher::hybridep};
inline constexpr std::array<std::string_view, 3> kDispatcherNames{"alltoall", "deepep", "hybridep"};

[[nodiscard]] constexpr std::string_view name_of(Dispatcher dispatcher) {
  return kDispatcherNames[static_cast<std::size_t>(dispatcher)];
}

[[nodiscard]] constexpr std::optional<Dispatcher> find_dispatcher(std::string_view name) {
  for (const Dispatcher dispatcher : kDispatchers) {
    if (name_of(dispatcher) == name) return dispatcher;
  }
  return std::nullopt;
}

}  // namespace nest
