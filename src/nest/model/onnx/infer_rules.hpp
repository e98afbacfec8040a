// What shapes operators make: a table of operators with a rule for each. A rule looks at what is known and leaves the rest
// open.
#pragma once

#include "nest/model/onnx/infer.hpp"

namespace nest::model {

using ShapeRule = void (*)(InferStep& step);

// None for an operator that is not in the table.
[[nodiscard]] ShapeRule find_shape_rule(const OnnxNode& node);

inline void infer_by_rule(InferStep& step) {
  if (const ShapeRule rule = find_shape_rule(step.node())) rule(step);
}

// The rules of operators that lay elements out anew, cut or join them: infer_views.cpp.
void infer_reshape(InferStep& step);
void infer_flatten(InferStep& step);
void infer_transpose(InferStep& step);
void infer_squeeze(InferStep& step);
void infer_unsqueeze(InferStep& step);
void infer_expand(InferStep& step);
void infer_tile(InferStep& step);
void infer_concat(InferStep& step);
void infer_split(InferStep& step);
void infer_slice(InferStep& step);
void infer_gather(InferStep& step);
void infer_gather_elements(InferStep& step);
void infer_gather_nd(InferStep& step);
void infer_pad(InferStep& step);
void infer_resize(InferStep& step);
void infer_depth_to_space(InferStep& step);
void infer_space_to_depth(InferStep& step);

// Those of products, convolutions and attention: infer_products.cpp.
void infer_matmul(InferStep& step);
void infer_gemm(InferStep& step);
void infer_einsum(InferStep& step);
void infer_conv(InferStep& step);
void infer_pool(InferStep& step);
void infer_global_pool(InferStep& step);
void infer_matmul_bits(InferStep& step);
void infer_attention(InferStep& step);         // ONNX's own
void infer_packed_attention(InferStep& step);  // com.microsoft's Attention
void infer_multi_head_attention(InferStep& step);
void infer_grouped_attention(InferStep& step);

}  // namespace nest::model
