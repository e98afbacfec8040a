// Tensors with named logical axes. Strategies shard by axis name, so that an operator says only what its
// dimensions mean and never how they are split. A sample: q [batch 1, sequence 8192, heads 64, head_dim 128]
// bf16.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "nest/base/error.hpp"
#include "nest/base/units.hpp"

namespace nest::model {

enum class Axis {
  batch,
  sequence,
  source_sequence,  // what cross-attention reads: the encoder's positions
  tower_sequence,   // of an image or a sound in its tower, which no strategy splits
  heads,
  kv_heads,
  head_dim,
  hidden,
  ffn,
  vocab,
  experts,
  routed,  // token copies sent to experts: tokens * top-k
  latent,  // low-rank projections of multi-head latent attention
  positions,
  patch,  // values of one image patch, or of one convolution window
  classes,
  other,
  rank,  // of adapters
};

enum class DType { bf16, fp32, int64, int32, uint8 };

[[nodiscard]] std::string_view name_of(Axis axis);
[[nodiscard]] std::string_view name_of(DType dtype);
[[nodiscard]] std::int64_t size_of(DType dtype);  // bytes of one value

struct Dim {
  Axis axis;
  std::int64_t size;
  bool operator==(const Dim&) const = default;
};

using Shape = std::vector<Dim>;

// Stops at the end of its range: the one product of sizes that nobody has bounded.
[[nodiscard]] std::int64_t elements(const Shape& shape);
// "[1 batch, 8192 sequence, 8192 hidden]"
[[nodiscard]] std::string spell(const Shape& shape);
// One shape after the other: {batch, sequence} + {heads, head_dim}.
[[nodiscard]] Shape join(Shape first, const Shape& second);

enum class Role {
  input,       // comes over an edge
  activation,  // made by an operator of this layer
  parameter,   // trained here
  shared,      // trained elsewhere, used here too (a tied weight): counted where it is a parameter
};

struct Tensor {
  std::string name;
  Shape shape;
  DType dtype = DType::bf16;
  Role role = Role::activation;
  // A parameter outside the published count, such as BERT's masked-language-model head.
  bool apart = false;
  // No backward pass makes its gradient: a weight that stays as it is, and what only such weights lead to.
  bool frozen = false;
  // Of one value of a frozen weight that is held in fewer bits than its products take; 0: in those of the dtype.
  std::int64_t packed_bits = 0;

  [[nodiscard]] Bytes bytes() const { return elements(shape) * Bytes{size_of(dtype)}; }
};

// What no model comes near: values of one tensor and parameters of one layer, parameters of a model, and bytes of all
// tensors that one micro-batch makes. Sums of what stays below do not overflow.
inline constexpr std::int64_t kMostLayerValues = 1'000'000'000'000'000;
inline constexpr std::int64_t kMostModelParameters = 100 * kMostLayerValues;
inline constexpr std::int64_t kMostMicroBatchBytes = 100 * kMostLayerValues;

// Thrown where something larger is made. Whoever knows what was asked for says which size is to blame.
class TooLarge : public InputError {
 public:
  explicit TooLarge(std::string what) : InputError("", "", std::move(what)) {}
};

}  // namespace nest::model
