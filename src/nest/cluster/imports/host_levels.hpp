// The levels inside hosts: alike in all of them, or with some devices fewer in some.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "nest/cluster/imports/facts.hpp"
#include "nest/cluster/imports/host_kind.hpp"
#include "nest/cluster/level.hpp"

namespace nest::cluster {

// For hosts with so many devices, in their order.
[[nodiscard]] std::vector<Level> levels_of_hosts(const HostKind& kind, std::span<const std::int32_t> devices,
                                                 ImportNotes& notes);

// The torus of a slice ("4x4x8"): all sides wrap around where each is a multiple of four, in two dimensions those of the
// length at which the accelerator's do. Throws an InputError where the host's slice is none of the accelerator.
[[nodiscard]] Level level_of_slice(const Accelerator& accelerator, const HostFacts& host);

}  // namespace nest::cluster
