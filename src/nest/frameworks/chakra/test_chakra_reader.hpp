// For tests: reads Chakra traces back from their bytes, apart from the code that writes them, and the
// communicator groups of an export.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "nest/base/document/document.hpp"
#include "nest/frameworks/chakra/chakra_node.hpp"
#include "nest/frameworks/common/exporter.hpp"

namespace nest::test {
using namespace frameworks;

// Fields of one message, one after the other.
class Wire {
 public:
  explicit Wire(std::string_view bytes) : left_(bytes) {}

  struct Field {
    std::uint64_t number = 0;
    std::uint64_t value = 0;
    std::string_view text;
  };

  [[nodiscard]] bool empty() const { return left_.empty(); }
  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 70; shift += 7) {
      if (left_.empty()) throw std::runtime_error("cut off");
      const auto byte = static_cast<unsigned char>(left_.front());
      left_.remove_prefix(1);
      value |= std::uint64_t{byte & 0x7fU} << shift;
      if (byte < 0x80) return value;
    }
    throw std::runtime_error("a number of more than 10 bytes");
  }
  std::string_view delimited() {
    const std::uint64_t size = varint();
    if (size > left_.size()) throw std::runtime_error("cut off");
    const std::string_view text = left_.substr(0, size);
    left_.remove_prefix(size);
    return text;
  }
  Field field() {
    const std::uint64_t tag = varint();
    Field out{tag >> 3, 0, {}};
    if ((tag & 7) == 0) {
      out.value = varint();
    } else if ((tag & 7) == 2) {
      out.text = delimited();
    } else {
      throw std::runtime_error("a wire type that traces do not use");
    }
    return out;
  }

 private:
  std::string_view left_;
};

struct ReadTrace {
  std::string version;
  std::vector<ChakraNode> nodes;
};

inline void read_attribute(std::string_view bytes, ChakraNode& node, std::map<std::string, int>& seen) {
  Wire wire(bytes);
  std::string name;
  while (!wire.empty()) {
    const Wire::Field f = wire.field();
    if (f.number == 1) name = f.text;
    const auto is = [&](std::string_view wanted, std::uint64_t field) {
      return name == wanted && f.number == field;
    };
    const auto value = static_cast<std::int64_t>(f.value);
    if (is("is_cpu_op", 27)) {
      EXPECT_EQ(value, 0);
    }
    if (is("num_ops", 9)) node.operations = value;
    if (is("tensor_size", 13)) node.tensor_bytes = value;
    if (is("comm_type", 9)) node.collective = static_cast<ChakraCollective>(value);
    if (is("comm_size", 9)) node.bytes = value;
    if (is("pg_name", 29)) node.group = std::stoll(std::string(f.text));
    if (is("comm_src", 7)) node.from = static_cast<std::int32_t>(value);
    if (is("comm_dst", 7)) node.to = static_cast<std::int32_t>(value);
    if (is("comm_tag", 7)) node.tag = static_cast<std::int32_t>(value);
  }
  ++seen[name];
}

inline ReadTrace read_trace(std::string_view bytes) {
  Wire file(bytes);
  ReadTrace out;
  for (Wire header(file.delimited()); !header.empty();) out.version = header.field().text;
  while (!file.empty()) {
    ChakraNode& node = out.nodes.emplace_back();
    std::map<std::string, int> seen;
    for (Wire wire(file.delimited()); !wire.empty();) {
      const Wire::Field f = wire.field();
      if (f.number == 1) node.id = f.value;
      if (f.number == 2) {
        const std::size_t space = f.text.find(' ');
        EXPECT_TRUE(f.text.substr(0, space).ends_with("_NODE")) << f.text;
        if (space < f.text.size()) node.name = f.text.substr(space + 1);
      }
      if (f.number == 3) node.type = static_cast<ChakraType>(f.value);
      if (f.number == 7) node.micros = static_cast<std::int64_t>(f.value);
      if (f.number == 10) read_attribute(f.text, node, seen);
      if (f.number == 5) {
        for (Wire deps(f.text); !deps.empty();) node.deps.push_back(deps.varint());
      }
    }
    EXPECT_EQ(seen["is_cpu_op"], 1) << node.name;
  }
  return out;
}

// An export held in memory.
struct ReadExport {
  std::map<std::string, std::string> files;
  std::vector<ReadTrace> ranks;
  std::map<std::int64_t, std::vector<std::int32_t>> groups;
  std::int64_t trace_bytes = 0;
  ExportResult result;
};

inline void read_groups(ReadExport& out) {
  const Document document = parse_json("comm_groups.json", out.files.at("comm_groups.json"));
  for (const auto& [number, list] : *document.root.as_object()) {
    for (const Value& npu : *list.as_array())
      out.groups[std::stoll(number)].push_back(static_cast<std::int32_t>(*npu.as_int()));
  }
}

template <class Write>
ReadExport read_export(Write write) {
  ReadExport out;
  out.result = write([&](const ExportFile& file) {
    EXPECT_TRUE(out.files.emplace(file.name, file.bytes).second) << file.name;
  });
  if (!out.result.rule.empty()) return out;
  for (std::size_t n = 0; out.files.contains("trace." + std::to_string(n) + ".et"); ++n) {
    const std::string& bytes = out.files.at("trace." + std::to_string(n) + ".et");
    out.trace_bytes += static_cast<std::int64_t>(bytes.size());
    out.ranks.push_back(read_trace(bytes));
  }
  read_groups(out);
  return out;
}

}  // namespace nest::test
