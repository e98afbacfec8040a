#include "nest/estimate/operators/operator_compiled.hpp"

#include <array>
#include <cmath>
#include <cstdint>

namespace nest::estimate {
namespace {

using enum KernelKind;

struct FusedRow {
  KernelKind kind;
  std::int64_t bytes;  // per main element that the fused pass adds, 16-bit values
};

// Counted from the data that must pass: a norm or an addition finds its input in the pass that made it, and
// pays for what it writes and what others read.
constexpr std::array<FusedRow, 21> kFused{{
    {rms_norm_forward, 4},   // reads the sum, writes the result
    {rms_norm_backward, 8},  // reads dy and x, twice for the weight's gradient; writes dx
    {layer_norm_forward, 4},
    {layer_norm_backward, 8},
    {swiglu_forward, 6},    // gate, up, result
    {swiglu_backward, 12},  // gate, up, dy; both gradients; the result again for the weight's gradient
    {geglu_forward, 6},
    {geglu_backward, 12},
    {gelu_forward, 4},
    {gelu_backward, 8},
    {relu_forward, 4},
    {relu_backward, 6},
    {tanh_forward, 4},
    {tanh_backward, 6},
    {scale_forward, 4},
    {scale_backward, 8},
    {add, 4},  // joins the norm that follows
    {rotary_forward, 4},
    {rotary_backward, 4},
    {loss_forward, 4},  // logits twice: largest value and sum
    {loss_backward, 4},
}};

}  // namespace

void fuse_streams(std::vector<KernelUse>& uses) {
  for (KernelUse& use : uses) {
    for (const FusedRow& row : kFused) {
      if (row.kind != use.call.kind) continue;
      const std::int64_t values = std::llround(stream_elements(use.call).main);
      // A sum of gradients in the backward pass is read by the pass that needs it.
      const std::int64_t bytes = row.kind == add && use.pass != Pass::forward ? 2 : row.bytes;
      use.call = {fused, {values * bytes}};
      break;
    }
  }
}

}  // namespace nest::estimate
