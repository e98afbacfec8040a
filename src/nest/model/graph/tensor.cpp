#include "nest/model/graph/tensor.hpp"

#include <array>

namespace nest::model {

std::string_view name_of(Axis axis) {
  static constexpr std::array<std::string_view, 18> kNames{
      "batch", "sequence", "source_sequence", "tower_sequence", "heads",  "kv_heads",  "head_dim", "hidden",
      "ffn",   "vocab",    "experts",         "routed",         "latent", "positions", "patch",    "classes",
      "other", "rank"};
  return kNames[static_cast<std::size_t>(axis)];
}

std::string_view name_of(DType dtype) {
  static constexpr std::array<std::string_view, 5> kNames{"bf16", "fp32", "int64", "int32", "uint8"};
  return kNames[static_cast<std::size_t>(dtype)];
}

std::int64_t size_of(DType dtype) {
  static constexpr std::array<std::int64_t, 5> kSizes{2, 4, 8, 4, 1};
  return kSizes[static_cast<std::size_t>(dtype)];
}

std::int64_t elements(const Shape& shape) {
  std::int64_t n = 1;
  for (const Dim& d : shape) n = times(n, d.size);
  return n;
}

std::string spell(const Shape& shape) {
  std::string s = "[";
  for (const Dim& d : shape) {
    if (s.size() > 1) s += ", ";
    s += std::to_string(d.size) + " " + std::string(name_of(d.axis));
  }
  return s + "]";
}

Shape join(Shape first, const Shape& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

}  // namespace nest::model
