// ONNX files as bytes, written by hand: protocol buffers with the fields of onnx.proto3, and small models made of them.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "nest/model/onnx/wire.hpp"

namespace nest::model::test {

inline std::string varint(std::uint64_t value) {
  std::string out;
  for (; value >= 0x80; value >>= 7U) out += static_cast<char>((value & 0x7FU) | 0x80U);
  return out + static_cast<char>(value);
}
inline std::string whole_field(std::uint32_t number, std::int64_t value) {
  return varint(std::uint64_t{number} << 3U) + varint(static_cast<std::uint64_t>(value));
}
inline std::string bytes_field(std::uint32_t number, const std::string& bytes) {
  return varint((std::uint64_t{number} << 3U) | 2U) + varint(bytes.size()) + bytes;
}
inline std::string little_endian(std::uint64_t bits, int width) {
  std::string out;
  for (int i = 0; i < width; ++i) out += static_cast<char>(bits >> static_cast<unsigned>(8 * i) & 0xFFU);
  return out;
}
inline std::string real_field(std::uint32_t number, float value) {
  return varint((std::uint64_t{number} << 3U) | 5U) + little_endian(std::bit_cast<std::uint32_t>(value), 4);
}

// An axis: a size, or a name.
using TestDim = std::variant<std::int64_t, std::string>;
using TestDims = std::vector<TestDim>;

inline std::string tensor_bytes(const std::string& name, int type, const std::vector<std::int64_t>& dims,
                                const std::string& raw = {}) {
  std::string out;
  for (const std::int64_t d : dims) out += whole_field(1, d);
  out += whole_field(2, type) + bytes_field(8, name);
  return raw.empty() ? out : out + bytes_field(9, raw);
}
inline std::string raw_wholes(const std::vector<std::int64_t>& values) {
  std::string out;
  for (const std::int64_t v : values) out += little_endian(static_cast<std::uint64_t>(v), 8);
  return out;
}
inline std::string raw_reals(const std::vector<float>& values) {
  std::string out;
  for (const float v : values) out += little_endian(std::bit_cast<std::uint32_t>(v), 4);
  return out;
}

inline std::string attribute(const std::string& name, std::int64_t value) {
  return bytes_field(1, name) + whole_field(3, value) + whole_field(20, 2);
}
inline std::string list_attribute(const std::string& name, const std::vector<std::int64_t>& values) {
  std::string out = bytes_field(1, name);
  for (const std::int64_t v : values) out += whole_field(8, v);
  return out + whole_field(20, 7);
}
inline std::string text_attribute(const std::string& name, const std::string& text) {
  return bytes_field(1, name) + bytes_field(4, text) + whole_field(20, 3);
}
inline std::string tensor_attribute(const std::string& name, const std::string& tensor) {
  return bytes_field(1, name) + bytes_field(5, tensor) + whole_field(20, 4);
}

inline std::string node_bytes(const std::string& op, const std::vector<std::string>& inputs,
                              const std::vector<std::string>& outputs,
                              const std::vector<std::string>& attributes = {},
                              const std::string& domain = {}) {
  std::string out;
  for (const std::string& name : inputs) out += bytes_field(1, name);
  for (const std::string& name : outputs) out += bytes_field(2, name);
  out += bytes_field(4, op);
  for (const std::string& a : attributes) out += bytes_field(5, a);
  return domain.empty() ? out : out + bytes_field(7, domain);
}

inline std::string declared_bytes(const std::string& name, int type, const TestDims& dims) {
  std::string shape;
  for (const TestDim& d : dims) {
    const auto* size = std::get_if<std::int64_t>(&d);
    shape +=
        bytes_field(1, size != nullptr ? whole_field(1, *size) : bytes_field(2, std::get<std::string>(d)));
  }
  const std::string tensor = whole_field(1, type) + bytes_field(2, shape);
  return bytes_field(1, name) + bytes_field(2, bytes_field(1, tensor));
}

// A graph that grows.
class OnnxWriter {
 public:
  static constexpr int kFloat = 1;
  static constexpr int kInt64 = 7;

  void input(const std::string& name, int type, const TestDims& dims) {
    graph_ += bytes_field(11, declared_bytes(name, type, dims));
  }
  void output(const std::string& name, const TestDims& dims = {}) {
    graph_ += bytes_field(12, declared_bytes(name, kFloat, dims));
  }
  void declare(const std::string& name, int type, const TestDims& dims) {
    graph_ += bytes_field(13, declared_bytes(name, type, dims));
  }
  // A weight: its contents are missing, and nobody may miss them.
  std::string weight(const std::string& name, const std::vector<std::int64_t>& dims, int type = kFloat) {
    graph_ += bytes_field(5, tensor_bytes(name, type, dims));
    return name;
  }
  std::string wholes(const std::string& name, const std::vector<std::int64_t>& values, bool scalar = false) {
    const std::vector<std::int64_t> dims =
        scalar ? std::vector<std::int64_t>{} : std::vector{static_cast<std::int64_t>(values.size())};
    graph_ += bytes_field(5, tensor_bytes(name, kInt64, dims, raw_wholes(values)));
    return name;
  }
  std::string real(const std::string& name, float value) {
    graph_ += bytes_field(5, tensor_bytes(name, kFloat, {}, raw_reals({value})));
    return name;
  }
  void tensor(const std::string& bytes) { graph_ += bytes_field(5, bytes); }
  // Returns the first result's name.
  std::string node(const std::string& op, const std::vector<std::string>& inputs,
                   const std::vector<std::string>& outputs, const std::vector<std::string>& attributes = {},
                   const std::string& domain = {}) {
    graph_ += bytes_field(1, node_bytes(op, inputs, outputs, attributes, domain));
    return outputs.front();
  }
  // A result of a made-up name.
  std::string op(const std::string& op, const std::vector<std::string>& inputs,
                 const std::vector<std::string>& attributes = {}, const std::string& domain = {}) {
    return node(op, inputs, {"v" + std::to_string(next_++)}, attributes, domain);
  }
  void function(const std::string& bytes) { functions_ += bytes_field(25, bytes); }

  [[nodiscard]] std::string bytes(std::int64_t opset = 18) const {
    return whole_field(1, 8) + bytes_field(7, graph_) +
           bytes_field(8, bytes_field(1, "") + whole_field(2, opset)) + functions_;
  }
  [[nodiscard]] ByteSource source() const { return ByteSource::text("test.onnx", bytes()); }

 private:
  std::string graph_;
  std::string functions_;
  int next_ = 0;
};

// A decoder as exporters write one: norms, rotary positions and activations in steps, attention as two products.
struct TestDecoder {
  std::int64_t blocks = 3;
  std::int64_t hidden = 64;
  std::int64_t heads = 8;
  std::int64_t kv_heads = 2;
  std::int64_t ffn = 160;
  std::int64_t vocab = 999;
  bool tied = false;
  bool causal = true;
};

class DecoderWriter {
 public:
  explicit DecoderWriter(TestDecoder shape) : s_(shape), w_() {}

  std::string bytes() {
    w_.input("input_ids", OnnxWriter::kInt64, {"batch", "sequence"});
    std::string x = w_.op("Gather", {w_.weight("embed.weight", {s_.vocab, s_.hidden}), "input_ids"});
    constants();
    for (std::int64_t i = 0; i < s_.blocks; ++i) x = block(x, "layers." + std::to_string(i) + ".");
    const std::string n = norm(x, "norm.weight");
    const std::string head = s_.tied ? w_.op("Transpose", {"embed.weight"}, {list_attribute("perm", {1, 0})})
                                     : w_.weight("lm_head.weight", {s_.hidden, s_.vocab});
    w_.node("MatMul", {n, head}, {"logits"});
    w_.output("logits", {"batch", "sequence", s_.vocab});
    return w_.bytes();
  }
  [[nodiscard]] std::int64_t parameters() const {
    const std::int64_t dim = s_.hidden / s_.heads;
    const std::int64_t block = 2 * s_.hidden * s_.hidden + 2 * s_.hidden * s_.kv_heads * dim +
                               3 * s_.hidden * s_.ffn + 2 * s_.hidden;
    return s_.blocks * block + s_.hidden + (s_.tied ? 1 : 2) * s_.vocab * s_.hidden;
  }

 private:
  void constants() {
    w_.real("two", 2);
    w_.real("epsilon", 1e-6F);
    w_.real("zero", 0);
    w_.real("hidden_score", -3e38F);
    w_.wholes("last", {-1});
    w_.wholes("one_axis", {1});
    const std::string ids = w_.op("Shape", {"input_ids"});
    w_.node("Slice", {ids, w_.wholes("from0", {0}), "one_axis"}, {"batch_size"});
    w_.node("Slice", {ids, "one_axis", w_.wholes("to2", {2})}, {"length"});
    // Positions, their sines, and who sees whom.
    const std::string scalar = w_.op("Squeeze", {"length"});
    const std::string range =
        w_.op("Range", {w_.wholes("first", {0}, true), scalar, w_.wholes("by", {1}, true)});
    const std::string column = w_.op("Unsqueeze", {range, "one_axis"});
    const std::string angle = w_.op("Mul", {w_.op("Cast", {column}, {attribute("to", std::int64_t{1})}),
                                            w_.weight("inv_freq", {s_.hidden / s_.heads / 2})});
    const std::string angles = w_.op("Concat", {angle, angle}, {attribute("axis", std::int64_t{-1})});
    w_.node("Cos", {angles}, {"cos"});
    w_.node("Sin", {angles}, {"sin"});
    const std::string sees = s_.causal ? "LessOrEqual" : "GreaterOrEqual";
    const std::string row = w_.op("Unsqueeze", {range, "from0"});
    const std::string seen = s_.causal ? w_.op(sees, {row, column}) : w_.op(sees, {row, "first"});
    w_.node("Where", {seen, "zero", "hidden_score"}, {"mask"});
  }

  std::string norm(const std::string& x, const std::string& weight) {
    const std::string mean = w_.op("ReduceMean", {w_.op("Pow", {x, "two"}), "last"});
    const std::string root = w_.op("Reciprocal", {w_.op("Sqrt", {w_.op("Add", {mean, "epsilon"})})});
    return w_.op("Mul", {w_.weight(weight, {s_.hidden}), w_.op("Mul", {x, root})});
  }

  std::string heads(const std::string& x, std::int64_t n, const std::string& name) {
    const std::int64_t dim = s_.hidden / s_.heads;
    const std::string made = w_.op("MatMul", {x, w_.weight(name + ".weight", {s_.hidden, n * dim})});
    const std::string shape =
        w_.op("Concat", {"batch_size", "length", "last", w_.wholes(name + ".dim", {dim})},
              {attribute("axis", std::int64_t{0})});
    return w_.op("Transpose", {w_.op("Reshape", {made, shape})}, {list_attribute("perm", {0, 2, 1, 3})});
  }

  std::string turned(const std::string& x, const std::string& name) {
    const std::int64_t half = s_.hidden / s_.heads / 2;
    const std::string axis = w_.wholes(name + ".axis", {3});
    const std::string middle = w_.wholes(name + ".half", {half});
    const std::string first = w_.op("Slice", {x, "from0", middle, axis});
    const std::string second = w_.op("Slice", {x, middle, w_.wholes(name + ".end", {INT64_MAX}), axis});
    const std::string swapped =
        w_.op("Concat", {w_.op("Neg", {second}), first}, {attribute("axis", std::int64_t{-1})});
    return w_.op("Add", {w_.op("Mul", {x, "cos"}), w_.op("Mul", {swapped, "sin"})});
  }

  std::string repeated(const std::string& x, const std::string& name) {
    if (s_.heads == s_.kv_heads) return x;
    const std::int64_t dim = s_.hidden / s_.heads;
    const std::string wide = w_.op("Unsqueeze", {x, w_.wholes(name + ".two", {2})});
    const std::string shape =
        w_.op("Concat",
              {"batch_size", w_.wholes(name + ".groups", {s_.kv_heads, s_.heads / s_.kv_heads}), "length",
               w_.wholes(name + ".width", {dim})},
              {attribute("axis", std::int64_t{0})});
    const std::string out =
        w_.op("Concat", {"batch_size", w_.wholes(name + ".heads", {s_.heads}), "length", name + ".width"},
              {attribute("axis", std::int64_t{0})});
    return w_.op("Reshape", {w_.op("Expand", {wide, shape}), out});
  }

  std::string block(const std::string& x, const std::string& name) {
    const std::string n = norm(x, name + "input_norm.weight");
    const std::string q = turned(heads(n, s_.heads, name + "q"), name + "q");
    const std::string k = repeated(turned(heads(n, s_.kv_heads, name + "k"), name + "k"), name + "k");
    const std::string v = repeated(heads(n, s_.kv_heads, name + "v"), name + "v");
    const std::string turned_k = w_.op("Transpose", {k}, {list_attribute("perm", {0, 1, 3, 2})});
    const std::string scores = w_.op("MatMul", {w_.op("Mul", {q, w_.real(name + "scale", 0.35F)}), turned_k});
    const std::string shares =
        w_.op("Softmax", {w_.op("Add", {scores, "mask"})}, {attribute("axis", std::int64_t{-1})});
    const std::string back =
        w_.op("Transpose", {w_.op("MatMul", {shares, v})}, {list_attribute("perm", {0, 2, 1, 3})});
    const std::string flat = w_.op("Reshape", {back, w_.op("Concat", {"batch_size", "length", "last"},
                                                           {attribute("axis", std::int64_t{0})})});
    const std::string o = w_.op("MatMul", {flat, w_.weight(name + "o.weight", {s_.hidden, s_.hidden})});
    const std::string y = w_.op("Add", {x, o});
    const std::string m = norm(y, name + "post_norm.weight");
    const std::string gate = w_.op("MatMul", {m, w_.weight(name + "gate.weight", {s_.hidden, s_.ffn})});
    const std::string up = w_.op("MatMul", {m, w_.weight(name + "up.weight", {s_.hidden, s_.ffn})});
    const std::string silu = w_.op("Mul", {gate, w_.op("Sigmoid", {gate})});
    const std::string inner = w_.op("Mul", {silu, up});
    const std::string down = w_.op("MatMul", {inner, w_.weight(name + "down.weight", {s_.ffn, s_.hidden})});
    return w_.op("Add", {y, down});
  }

  TestDecoder s_;
  OnnxWriter w_;
};

}  // namespace nest::model::test
