#include "nest/estimate/layers/fixed_memory.hpp"

namespace nest::estimate {
namespace {

// Measured on an H200 (driver 580.159.04, torch 2.11, NCCL as it comes with it): memory used as nvidia-smi
// reports it, less what torch's allocator had reserved, after a matrix product and an attention core; then
// after one communicator and after a second. docs/cost-model.md, Memory.
constexpr std::int64_t kMiB = 1 << 20;
constexpr std::int64_t kContext = 701 * kMiB;
constexpr std::int64_t kFirstCommunicator = 558 * kMiB;
constexpr std::int64_t kNextCommunicator = 390 * kMiB;

}  // namespace

Bytes FixedMemory::on_device(Bytes allocated) const {
  const Bytes inside = allocated + buckets;
  return outside() + inside + fragmentation_of(inside, fragmentation);
}

Bytes fragmentation_of(Bytes allocated, double share) {
  return round_up_bytes(static_cast<double>(allocated.value) * (1 + share)) - allocated;
}

Bytes allocatable_in(Bytes room, double share) {
  if (room.value <= 0) return room;
  const auto fits = [&](Bytes b) { return b + fragmentation_of(b, share) <= room; };
  // Division rounds, by a few bytes at most.
  Bytes most{static_cast<std::int64_t>(static_cast<double>(room.value) / (1 + share))};
  while (!fits(most)) --most.value;
  while (fits(most + Bytes{1})) ++most.value;
  return most;
}

FixedMemory fixed_memory(const Recipe& recipe, std::int64_t communicators) {
  FixedMemory memory;
  memory.buckets = recipe.buckets;
  memory.fragmentation = recipe.fragmentation;
  if (!recipe.library_memory) return memory;
  memory.context = Bytes{kContext};
  if (communicators > 0) {
    memory.communicators = Bytes{kFirstCommunicator + (communicators - 1) * kNextCommunicator};
  }
  return memory;
}

}  // namespace nest::estimate
