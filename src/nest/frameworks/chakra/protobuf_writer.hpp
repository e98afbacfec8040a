// Protocol Buffers' wire format, as far as writing goes: enough for execution traces, without libprotobuf.
// Fields are written in the order of the calls.
//
//   ProtobufWriter node;
//   node.number(1, 7).text(2, "F0");      // 08 07 12 02 46 30
//   append_delimited(file, node.bytes()); // 06 08 07 12 02 46 30
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "nest/base/rooms.hpp"

namespace nest::frameworks {

class ProtobufWriter {
 public:
  // int32, int64, uint32, uint64, bool and enum fields; negative numbers as their 64 bits.
  ProtobufWriter& number(std::uint32_t field, std::uint64_t value);
  ProtobufWriter& real(std::uint32_t field, double value);
  // string, bytes and message fields.
  ProtobufWriter& text(std::uint32_t field, std::string_view value);
  // A packed list of numbers; nothing where it is empty.
  ProtobufWriter& numbers(std::uint32_t field, std::span<const std::uint64_t> values);

  void clear() { bytes_.clear(); }
  [[nodiscard]] const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

void append_varint(std::string& out, std::uint64_t value);
// A message after its length: how files hold several.
void append_delimited(std::string& out, std::string_view message);

}  // namespace nest::frameworks
