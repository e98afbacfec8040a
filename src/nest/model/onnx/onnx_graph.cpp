#include "nest/model/onnx/onnx_graph.hpp"

#include <algorithm>
#include <array>

#include "nest/base/plain_text.hpp"

namespace nest::model {
namespace {

struct TypeRow {
  int type;
  bool real;
  bool whole;
  int bits;
};
// Texts, complex numbers and types of later releases are none of them.
constexpr std::array<TypeRow, 21> kTypes{{{1, true, false, 32},    // FLOAT
                                          {2, false, true, 8},     // UINT8
                                          {3, false, true, 8},     // INT8
                                          {4, false, true, 16},    // UINT16
                                          {5, false, true, 16},    // INT16
                                          {6, false, true, 32},    // INT32
                                          {7, false, true, 64},    // INT64
                                          {9, false, true, 8},     // BOOL
                                          {10, true, false, 16},   // FLOAT16
                                          {11, true, false, 64},   // DOUBLE
                                          {12, false, true, 32},   // UINT32
                                          {13, false, true, 64},   // UINT64
                                          {16, true, false, 16},   // BFLOAT16
                                          {17, true, false, 8},    // FLOAT8E4M3FN
                                          {18, true, false, 8},    // FLOAT8E4M3FNUZ
                                          {19, true, false, 8},    // FLOAT8E5M2
                                          {20, true, false, 8},    // FLOAT8E5M2FNUZ
                                          {21, false, true, 4},    // UINT4
                                          {22, false, true, 4},    // INT4
                                          {23, true, false, 4},    // FLOAT4E2M1
                                          {24, true, false, 8}}};  // FLOAT8E8M0

const TypeRow* type_row(int type) {
  const auto* const at = std::ranges::find_if(kTypes, [&](const TypeRow& row) { return row.type == type; });
  return at == kTypes.end() ? nullptr : at;
}

}  // namespace

std::int64_t elements_of(const OnnxShape& dims) {
  if (std::ranges::find(dims, 0) != dims.end()) return 0;
  std::int64_t n = 1;
  for (const std::int64_t d : dims) n *= d;
  return n;
}

std::ptrdiff_t long_axes(const OnnxShape& dims) {
  return std::ranges::count_if(dims, [](std::int64_t d) { return d > 1; });
}

bool has_part(std::string_view name, std::initializer_list<std::string_view> parts) {
  const std::string lower = lower_case(name);
  return std::ranges::any_of(parts, [&](std::string_view p) { return lower.find(p) != std::string::npos; });
}

const OnnxAttribute* OnnxNode::find(std::string_view name) const {
  const auto at = std::ranges::find_if(attributes, [&](const OnnxAttribute& a) { return a.name == name; });
  return at == attributes.end() ? nullptr : &*at;
}

std::int64_t OnnxNode::whole_or(std::string_view name, std::int64_t fallback) const {
  const OnnxAttribute* attribute = find(name);
  return attribute == nullptr ? fallback : attribute->whole;
}

bool is_real_type(int type) {
  const TypeRow* row = type_row(type);
  return row != nullptr && row->real;
}

bool is_whole_type(int type) {
  const TypeRow* row = type_row(type);
  return row != nullptr && row->whole;
}

int bits_of_type(int type) {
  const TypeRow* row = type_row(type);
  return row == nullptr ? 0 : row->bits;
}

}  // namespace nest::model
