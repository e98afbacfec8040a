#include "nest/frameworks/chakra/protobuf_writer.hpp"

#include <bit>

namespace nest::frameworks {
namespace {

// How a field's value is written.
constexpr std::uint32_t kVarint = 0;
constexpr std::uint32_t kEightBytes = 1;
constexpr std::uint32_t kLengthDelimited = 2;

void append_tag(std::string& out, std::uint32_t field, std::uint32_t type) {
  append_varint(out, (std::uint64_t{field} << 3) | type);
}

std::size_t varint_size(std::uint64_t value) {
  return static_cast<std::size_t>(std::bit_width(value | 1) + 6) / 7;
}

}  // namespace

void append_varint(std::string& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<char>((value & 0x7f) | 0x80));
  out.push_back(static_cast<char>(value));
}

void append_delimited(std::string& out, std::string_view message) {
  append_varint(out, message.size());
  out += message;
}

ProtobufWriter& ProtobufWriter::number(std::uint32_t field, std::uint64_t value) {
  append_tag(bytes_, field, kVarint);
  append_varint(bytes_, value);
  return *this;
}

ProtobufWriter& ProtobufWriter::real(std::uint32_t field, double value) {
  append_tag(bytes_, field, kEightBytes);
  auto bits = std::bit_cast<std::uint64_t>(value);
  for (int i = 0; i < 8; ++i, bits >>= 8) bytes_.push_back(static_cast<char>(bits & 0xff));
  return *this;
}

ProtobufWriter& ProtobufWriter::text(std::uint32_t field, std::string_view value) {
  append_tag(bytes_, field, kLengthDelimited);
  append_delimited(bytes_, value);
  return *this;
}

ProtobufWriter& ProtobufWriter::numbers(std::uint32_t field, std::span<const std::uint64_t> values) {
  if (values.empty()) return *this;
  std::size_t size = 0;
  for (const std::uint64_t v : values) size += varint_size(v);
  append_tag(bytes_, field, kLengthDelimited);
  append_varint(bytes_, size);
  for (const std::uint64_t v : values) append_varint(bytes_, v);
  return *this;
}

}  // namespace nest::frameworks
