// Memory that no tensor of the model takes, and that estimates tend to forget: the device's context,
// communicators, gradient buckets, and what the allocator loses to fragmentation. A recipe's `reserve` stands
// for context and communicators in plans; this says what they take. Fragmentation is counted here alone:
// plans, the search and validation all ask fragmentation_of().
//
//   fixed_memory(named_recipe("megatron"), 3).outside()   -> 2.0 GiB, what Megatron's recipe keeps back
#pragma once

#include <cstdint>

#include "nest/base/units.hpp"
#include "nest/recipe/recipe.hpp"

namespace nest::estimate {

struct FixedMemory {
  Bytes context;             // driver, kernels and libraries' workspaces, outside the framework's allocator
  Bytes communicators;       // buffers of the collectives' library, also outside
  Bytes buckets;             // of the framework, inside the allocator
  double fragmentation = 0;  // of what is allocated: reserved by the allocator and not used

  [[nodiscard]] Bytes outside() const { return context + communicators; }
  // What the driver reports when a process has so much allocated.
  [[nodiscard]] Bytes on_device(Bytes allocated) const;
};

// What the allocator holds beside so much that is allocated. It never falls as `allocated` grows.
[[nodiscard]] Bytes fragmentation_of(Bytes allocated, double share);
// The most that can be allocated where it may take `room` together with its fragmentation: a stage fits
// exactly where what it allocates is no more. Negative where there is no room at all.
[[nodiscard]] Bytes allocatable_in(Bytes room, double share);

// `communicators`: process groups that this device takes part in.
[[nodiscard]] FixedMemory fixed_memory(const Recipe& recipe, std::int64_t communicators);

}  // namespace nest::estimate
