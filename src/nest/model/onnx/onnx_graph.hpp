// What an ONNX file says, without its weights: nodes, which read and make values, and what is known of the values.
// Values are numbers that index OnnxGraph::values; kNoValue is an input or output that a node leaves out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "nest/base/rooms.hpp"

namespace nest::model {

using OnnxValueId = std::uint32_t;
inline constexpr OnnxValueId kNoValue = 0xFFFFFFFFU;

using OnnxShape = std::vector<std::int64_t>;
// Longer axes are refused wherever they come from, and so are shapes of more than 10^15 elements: products of their
// sizes never overflow.
inline constexpr std::int64_t kLongestOnnxAxis = 1'000'000'000'000;

[[nodiscard]] std::int64_t elements_of(const OnnxShape& dims);
// How many axes have more than one element.
[[nodiscard]] std::ptrdiff_t long_axes(const OnnxShape& dims);
// Whether a name has one of these parts, which are in lower case, in any case.
[[nodiscard]] bool has_part(std::string_view name, std::initializer_list<std::string_view> parts);

// Numbers of a small tensor, in the order of its elements. Truth values are 0 and 1.
struct OnnxNumbers {
  bool are_real = false;
  std::vector<std::int64_t> wholes;
  std::vector<double> reals;

  [[nodiscard]] std::size_t size() const { return are_real ? reals.size() : wholes.size(); }
  [[nodiscard]] double real(std::size_t i) const {
    return are_real ? reals[i] : static_cast<double>(wholes[i]);
  }
  bool operator==(const OnnxNumbers&) const = default;
};

// A tensor of the file. Contents of weights are never read: `numbers` has those of whole numbers and truth values up
// to kMostNumbers, of real numbers up to kMostReals. Of a mask (the last two axes square, those before of one element) that has
// more, the first and the last row are read, one after the other.
struct OnnxTensor {
  static constexpr std::int64_t kMostNumbers = 65'536;
  static constexpr std::int64_t kMostReals = 16;

  std::string name;
  int type = 0;
  OnnxShape dims;
  std::optional<OnnxNumbers> numbers;
  bool two_rows = false;

  [[nodiscard]] std::int64_t elements() const { return elements_of(dims); }
};

struct OnnxAttribute {
  std::string name;
  std::int64_t whole = 0;
  double real = 0;
  std::string text;
  std::vector<std::int64_t> wholes;
  std::vector<double> reals;
  std::optional<OnnxTensor> tensor;
  bool graph = false;     // it is a graph of its own, which is not read
  std::string parameter;  // of the function around it, whose value it takes
};

struct OnnxNode {
  std::string op;
  std::string domain;  // empty: ONNX's own
  std::vector<OnnxValueId> inputs;
  std::vector<OnnxValueId> outputs;
  std::vector<OnnxAttribute> attributes;

  [[nodiscard]] const OnnxAttribute* find(std::string_view name) const;
  [[nodiscard]] std::int64_t whole_or(std::string_view name, std::int64_t fallback) const;
  [[nodiscard]] bool reads(std::size_t i) const { return i < inputs.size() && inputs[i] != kNoValue; }
};

// One axis of a declared shape: a size, or the name of one that differs from run to run.
struct OnnxDim {
  std::int64_t size = -1;  // -1: not known
  std::string name;        // or an expression of names: "2*s0"
};

struct OnnxDeclared {
  OnnxValueId value = kNoValue;
  int type = 0;
  bool is_tensor = true;
  bool has_shape = false;
  std::vector<OnnxDim> dims;
};

struct OnnxGraph {
  std::string file;
  std::vector<std::string> values;  // their names
  std::vector<OnnxNode> nodes;
  std::vector<OnnxTensor> tensors;         // initializers
  std::vector<OnnxValueId> tensor_values;  // the value that each of them is
  std::vector<OnnxDeclared> inputs;        // without initializers
  std::vector<OnnxDeclared> outputs;
  std::vector<OnnxDeclared> declared;  // values between nodes
  std::int64_t opset = 0;              // of ONNX's own operators
};

// Element types by their numbers in ONNX.
[[nodiscard]] bool is_real_type(int type);   // floats of any width
[[nodiscard]] bool is_whole_type(int type);  // integers and truth values
inline constexpr int kOnnxFloat = 1;
inline constexpr int kOnnxInt64 = 7;
inline constexpr int kOnnxBool = 9;
[[nodiscard]] int bits_of_type(int type);  // of one element; 0: not known

}  // namespace nest::model
