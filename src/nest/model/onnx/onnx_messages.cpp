#include "nest/model/onnx/onnx_messages.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <utility>

#include "nest/base/error.hpp"
#include "nest/base/plain_text.hpp"
#include "nest/base/units.hpp"

namespace nest::model {
namespace {

constexpr std::size_t kMostAxes = 64;
constexpr double kMostElements = 1e15;
constexpr std::size_t kMostList = 65'536;

// Where the contents of a tensor lie in the file.
struct Contents {
  std::uint64_t raw_at = 0;
  std::uint64_t raw_length = 0;
  bool raw = false;
  bool outside = false;  // in a file of its own, which is never opened
  std::vector<std::int64_t> wholes;
  std::vector<double> reals;
};

double real_of_half(std::uint64_t bits) {
  const auto exponent = static_cast<int>(bits >> 10U & 0x1FU);
  const auto fraction = static_cast<double>(bits & 0x3FFU) / 1024;
  const double size = exponent == 0 ? std::ldexp(fraction, -14) : std::ldexp(1 + fraction, exponent - 15);
  return (bits & 0x8000U) != 0 ? -size : size;
}

double real_of(std::uint64_t bits, int type) {
  constexpr int kHalf = 10;
  constexpr int kDouble = 11;
  constexpr int kBrain = 16;
  if (type == kDouble) return std::bit_cast<double>(bits);
  if (type == kHalf) return real_of_half(bits);
  const auto wide = static_cast<std::uint32_t>(type == kBrain ? bits << 16U : bits);
  return static_cast<double>(std::bit_cast<float>(wide));
}

std::int64_t whole_of(std::uint64_t bits, int type, int width) {
  const bool is_signed = type == 3 || type == 5 || type == 6 || type == kOnnxInt64;
  const unsigned unused = 64 - (8 * static_cast<unsigned>(width));
  if (is_signed) return static_cast<std::int64_t>(bits << unused) >> unused;
  return static_cast<std::int64_t>(bits);
}

void check_sizes(const WireReader& message, const OnnxTensor& tensor) {
  const auto fail = [&](const std::string& what) {
    throw InputError(message.bytes().name(), "tensor " + quoted_name(tensor.name), what);
  };
  if (tensor.dims.size() > kMostAxes) fail("more than " + std::to_string(kMostAxes) + " axes");
  double all = 1;
  for (const std::int64_t d : tensor.dims) {
    if (d < 0 || d > kLongestOnnxAxis)
      fail("an axis of " + format_digits(d) + " elements; sizes are 0 to " + format_digits(kLongestOnnxAxis));
    all *= static_cast<double>(std::max<std::int64_t>(d, 1));
  }
  if (all > kMostElements) fail("more than 10^15 elements, which no model has");
}

class TensorReader {
 public:
  explicit TensorReader(WireReader message) : message_(message) {}

  OnnxTensor read() {
    WireField field;
    while (message_.next(field)) take(field);
    check_sizes(message_, tensor_);
    read_numbers();
    return std::move(tensor_);
  }

 private:
  void take(const WireField& field) {
    constexpr auto kMost = static_cast<std::size_t>(OnnxTensor::kMostNumbers);
    constexpr auto kMostReals = static_cast<std::size_t>(OnnxTensor::kMostReals);
    switch (field.number) {
      case 1:
        message_.append_wholes(field, tensor_.dims, kMostAxes + 1);
        break;
      case 2:
        tensor_.type = static_cast<int>(message_.whole(field));
        break;
      case 4:
        message_.append_reals(field, contents_.reals, kMostReals, 4);
        break;
      case 10:
        message_.append_reals(field, contents_.reals, kMostReals, 8);
        break;
      case 5:
      case 7:
      case 11:
        message_.append_wholes(field, contents_.wholes, kMost);
        break;
      case 8:
        tensor_.name = message_.text(field);
        break;
      case 9:
        contents_.raw = true;
        contents_.raw_at = field.offset;
        contents_.raw_length = field.length;
        break;
      case 14:
        contents_.outside = message_.whole(field) == 1;
        break;
      default:
        break;
    }
  }

  // All axes before the last two have one element, and those are equally long.
  [[nodiscard]] bool is_mask() const {
    const std::vector<std::int64_t>& d = tensor_.dims;
    const std::size_t least = tensor_.type == kOnnxBool ? 2 : 3;
    return d.size() >= least && d[d.size() - 1] == d[d.size() - 2] &&
           std::all_of(d.begin(), d.end() - 2, [](std::int64_t n) { return n == 1; });
  }

  void read_numbers() {
    const bool real = is_real_type(tensor_.type);
    if ((!real && !is_whole_type(tensor_.type)) || contents_.outside) return;
    const std::int64_t elements = tensor_.elements();
    if (elements <= (real ? OnnxTensor::kMostReals : OnnxTensor::kMostNumbers)) {
      tensor_.numbers = numbers(real, 0, elements);
      return;
    }
    if (!is_mask() || !contents_.raw || tensor_.dims.back() > OnnxTensor::kMostNumbers) return;
    const std::int64_t row = tensor_.dims.back();
    std::optional<OnnxNumbers> rows = numbers(real, 0, row);
    const std::optional<OnnxNumbers> last = numbers(real, elements - row, row);
    if (!rows || !last) return;
    rows->wholes.insert(rows->wholes.end(), last->wholes.begin(), last->wholes.end());
    rows->reals.insert(rows->reals.end(), last->reals.begin(), last->reals.end());
    tensor_.numbers = std::move(rows);
    tensor_.two_rows = true;
  }

  // None where the file has not as many.
  std::optional<OnnxNumbers> numbers(bool real, std::int64_t first, std::int64_t count) {
    OnnxNumbers out;
    out.are_real = real;
    const auto n = static_cast<std::size_t>(count);
    if (!contents_.raw) {
      // 16-bit floats are stored as whole numbers.
      const bool bits = real && contents_.reals.empty() && bits_of_type(tensor_.type) == 16;
      if ((real && !bits ? contents_.reals.size() : contents_.wholes.size()) < n) return std::nullopt;
      if (!real) out.wholes.assign(contents_.wholes.begin(), contents_.wholes.begin() + count);
      for (std::size_t i = 0; real && i < n; ++i) {
        out.reals.push_back(bits ? real_of(static_cast<std::uint64_t>(contents_.wholes[i]), tensor_.type)
                                 : contents_.reals[i]);
      }
      return out;
    }
    const int width = bits_of_type(tensor_.type) / 8;
    if (width < 1 || (real && width == 1)) return std::nullopt;
    const auto step = static_cast<std::uint64_t>(width);
    if ((static_cast<std::uint64_t>(first) + n) * step > contents_.raw_length) return std::nullopt;
    for (std::size_t i = 0; i < n; ++i) {
      const std::uint64_t at = contents_.raw_at + (static_cast<std::uint64_t>(first) + i) * step;
      std::uint64_t value = 0;
      for (std::uint64_t b = 0; b < step; ++b)
        value |= static_cast<std::uint64_t>(message_.bytes().at(at + b)) << (8 * b);
      if (real)
        out.reals.push_back(real_of(value, tensor_.type));
      else
        out.wholes.push_back(whole_of(value, tensor_.type, width));
    }
    return out;
  }

  WireReader message_;
  OnnxTensor tensor_;
  Contents contents_;
};

void read_shape(WireReader message, OnnxDeclared& out) {
  out.has_shape = true;
  WireField field;
  while (message.next(field)) {
    if (field.number != 1) continue;
    if (out.dims.size() > kMostAxes) message.fail("a shape has more than 64 axes");
    OnnxDim dim;
    WireReader one = message.inside(field);
    WireField part;
    while (one.next(part)) {
      if (part.number == 1) dim.size = one.whole(part);
      if (part.number == 2) dim.name = one.text(part);
    }
    // Files of some exporters say -1 or 0 for an axis that differs from run to run.
    if (dim.size < 0 || dim.size > kLongestOnnxAxis) dim.size = -1;
    out.dims.push_back(std::move(dim));
  }
}

}  // namespace

std::string quoted_name(const std::string& name) {
  constexpr std::size_t kShown = 60;
  std::string shown = name.substr(0, kShown);
  while (!shown.empty() && name.size() > kShown && (static_cast<unsigned char>(shown.back()) & 0x80U) != 0)
    shown.pop_back();
  std::string plain;
  for (std::size_t at = 0; at < shown.size();) {
    const std::size_t length = utf8_length(std::string_view(shown).substr(at));
    plain += length == 0 ? "?" : shown.substr(at, length);
    at += std::max<std::size_t>(1, length);
  }
  return "'" + printable(plain) + (name.size() > kShown ? "..." : "") + "'";
}

OnnxTensor read_onnx_tensor(WireReader message) {
  return TensorReader(message).read();
}

OnnxTensor read_sparse_tensor(WireReader message) {
  OnnxTensor out;
  std::vector<std::int64_t> dims;
  WireField field;
  while (message.next(field)) {
    if (field.number == 1) out = read_onnx_tensor(message.inside(field));
    if (field.number == 3) message.append_wholes(field, dims, kMostAxes + 1);
  }
  out.dims = std::move(dims);
  out.numbers.reset();
  check_sizes(message, out);
  return out;
}

OnnxAttribute read_onnx_attribute(WireReader message) {
  OnnxAttribute out;
  WireField field;
  while (message.next(field)) {
    switch (field.number) {
      case 1:
        out.name = message.text(field);
        break;
      case 2:
        out.real = static_cast<double>(message.real(field));
        break;
      case 3:
        out.whole = message.whole(field);
        break;
      case 4:
        if (field.length <= WireReader::kLongestText) out.text = message.text(field);
        break;
      case 5:
        out.tensor = read_onnx_tensor(message.inside(field));
        break;
      case 6:
      case 11:
        out.graph = true;
        break;
      case 7:
        message.append_reals(field, out.reals, kMostList, 4);
        break;
      case 8:
        message.append_wholes(field, out.wholes, kMostList);
        break;
      case 21:
        out.parameter = message.text(field);
        break;
      default:
        break;
    }
  }
  return out;
}

OnnxNodeText read_onnx_node(WireReader message) {
  OnnxNodeText out;
  WireField field;
  while (message.next(field)) {
    if (field.number == 1) out.inputs.push_back(message.text(field));
    if (field.number == 2) out.outputs.push_back(message.text(field));
    if (field.number == 4) out.op = message.text(field);
    if (field.number == 5) out.attributes.push_back(read_onnx_attribute(message.inside(field)));
    if (field.number == 7) out.domain = message.text(field);
    if (out.inputs.size() > kMostList || out.outputs.size() > kMostList || out.attributes.size() > kMostList)
      message.fail("a node has more than 65,536 inputs, outputs or attributes");
  }
  if (out.domain == "ai.onnx") out.domain.clear();
  return out;
}

OnnxDeclaredText read_onnx_declared(WireReader message) {
  OnnxDeclaredText out;
  out.declared.is_tensor = false;
  WireField field;
  while (message.next(field)) {
    if (field.number == 1) out.name = message.text(field);
    if (field.number != 2) continue;
    WireReader type = message.inside(field);
    WireField kind;
    while (type.next(kind)) {
      if (kind.number != 1) continue;
      out.declared.is_tensor = true;
      WireReader tensor = type.inside(kind);
      WireField part;
      while (tensor.next(part)) {
        if (part.number == 1) out.declared.type = static_cast<int>(tensor.whole(part));
        if (part.number == 2) read_shape(tensor.inside(part), out.declared);
      }
    }
  }
  return out;
}

}  // namespace nest::model
