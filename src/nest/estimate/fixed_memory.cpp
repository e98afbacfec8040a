#include "nest/estimate/fixed_memory.hpp"

namespace nest {
namespace {

// Measured on an H200 (driver 580.159.04, torch 2.11, NCCL as it comes with it): memory used as nvidia-smi
// reports it, less what torch's allocator had reserved, after a matrix product and an attention core; then
// after one communicator and after a second. docs/cost-model.md, Memory.
constexpr std::int64_t kMiB = 1 << 20;
constexpr std::int64_t kContext = 701 * kMiB;
constexpr std::int64_t kFirstCommunicator = 558 * kMiB;
constexpr std::int64_t kNextCommunicator = 390 * kMiB;
// DeepSpeed's reduce and all-gather buckets: 5e8 elements each by default, in 16 bit.
constexpr std::int64_t kDeepspeedBuckets = 2 * 500'000'000LL * 2;

}  // namespace

Bytes FixedMemory::on_device(Bytes allocated) const {
  const Bytes inside = allocated + buckets;
  return outside() + round_up_bytes(static_cast<double>(inside.value) * (1 + fragmentation));
}

FixedMemory fixed_memory(const Recipe& recipe, std::int64_t communicators) {
  FixedMemory memory;
  if (recipe.framework == "plain") return memory;
  memory.context = Bytes{kContext};
  if (communicators > 0) {
    memory.communicators = Bytes{kFirstCommunicator + (communicators - 1) * kNextCommunicator};
  }
  // Megatron reduces in its fp32 gradient buffer and torchtitan in each layer's own: neither has buckets
  // besides.
  if (recipe.framework == "deepspeed") memory.buckets = Bytes{kDeepspeedBuckets};
  memory.fragmentation = recipe.fragmentation;
  return memory;
}

}  // namespace nest
