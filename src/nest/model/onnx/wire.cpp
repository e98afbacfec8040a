#include "nest/model/onnx/wire.hpp"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "nest/base/error.hpp"
#include "nest/base/units.hpp"

namespace nest::model {
namespace {

constexpr std::uint64_t kWindow = 1U << 16U;

}  // namespace

ByteSource ByteSource::file(const std::string& path) {
  namespace fs = std::filesystem;
  ByteSource out;
  out.name_ = path;
  std::error_code error;
  if (!fs::exists(path, error)) throw InputError(path, "", "no such file");
  if (fs::is_directory(path, error)) throw InputError(path, "", "is a folder, not a file");
  out.size_ = fs::file_size(path, error);
  if (error) throw InputError(path, "", "cannot be read: " + error.message());
  out.in_.open(path, std::ios::binary);
  if (!out.in_) throw InputError(path, "", std::string("cannot be read: ") + std::strerror(errno));
  return out;
}

ByteSource ByteSource::text(std::string name, std::string bytes) {
  ByteSource out;
  out.name_ = std::move(name);
  out.size_ = bytes.size();
  out.window_ = std::move(bytes);
  return out;
}

void ByteSource::fill(std::uint64_t offset) {
  const std::uint64_t length = std::min(kWindow, size_ - offset);
  window_.resize(length);
  window_at_ = offset;
  in_.clear();
  in_.seekg(static_cast<std::streamoff>(offset));
  in_.read(window_.data(), static_cast<std::streamsize>(length));
  if (static_cast<std::uint64_t>(in_.gcount()) != length)
    throw InputError(name_, "", "broke off while it was read");
  read_so_far_ += length;
}

unsigned char ByteSource::at(std::uint64_t offset) {
  if (offset < window_at_ || offset - window_at_ >= window_.size()) fill(offset);
  return static_cast<unsigned char>(window_[offset - window_at_]);
}

std::string ByteSource::read(std::uint64_t offset, std::uint64_t length) {
  std::string out;
  out.reserve(length);
  for (std::uint64_t i = 0; i < length; ++i) out += static_cast<char>(at(offset + i));
  return out;
}

WireReader::WireReader(ByteSource& bytes) : bytes_(&bytes), end_(bytes.size()) {}

void WireReader::fail(const std::string& what) const {
  throw InputError(bytes_->name(), "byte " + format_digits(static_cast<std::int64_t>(began_)), what);
}

void WireReader::break_off(const std::string& what) const {
  throw InputError(bytes_->name(), "byte " + format_digits(static_cast<std::int64_t>(began_)), what,
                   whole_ || bytes_->size() == end_ ? "the file may not be whole" : "");
}

std::uint64_t WireReader::varint() {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    if (at_ >= end_) break_off("a number breaks off where the message ends");
    const std::uint64_t byte = bytes_->at(at_++);
    value |= (byte & 0x7FU) << shift;
    if (byte < 0x80) return value;
  }
  fail("a number has more than ten bytes, so that this is no ONNX file");
}

std::uint64_t WireReader::fixed(int width) {
  if (end_ - at_ < static_cast<std::uint64_t>(width)) break_off("a number breaks off where the message ends");
  std::uint64_t value = 0;
  for (int i = 0; i < width; ++i)
    value |= static_cast<std::uint64_t>(bytes_->at(at_++)) << static_cast<unsigned>(8 * i);
  return value;
}

bool WireReader::next(WireField& field) {
  if (at_ >= end_) return false;
  began_ = at_;
  const std::uint64_t tag = varint();
  const std::uint64_t number = tag >> 3U;
  const auto type = static_cast<unsigned>(tag & 7U);
  if (number == 0 || number > 0x1FFFFFFFU || type == 3 || type == 4 || type > 5)
    fail("a field of a kind that ONNX does not have, so that this is no ONNX file");
  field = {static_cast<std::uint32_t>(number), static_cast<WireType>(type)};
  switch (field.type) {
    case WireType::varint:
      field.value = varint();
      break;
    case WireType::fixed64:
      field.value = fixed(8);
      break;
    case WireType::fixed32:
      field.value = fixed(4);
      break;
    case WireType::bytes:
      field.length = varint();
      field.offset = at_;
      if (field.length > end_ - at_) {
        break_off("a field has " + std::to_string(field.length) + " bytes, and only " +
                  std::to_string(end_ - at_) + " are left");
      }
      at_ += field.length;
      break;
  }
  return true;
}

void WireReader::expect(const WireField& field, WireType type, const char* what) const {
  if (field.type != type) {
    fail("field " + std::to_string(field.number) + " is not " + what + ", so that this is no ONNX file");
  }
}

WireReader WireReader::inside(const WireField& field) const {
  expect(field, WireType::bytes, "a message");
  return {*bytes_, field.offset, field.offset + field.length, false};
}

std::string WireReader::text(const WireField& field) const {
  expect(field, WireType::bytes, "a text");
  if (field.length > kLongestText) {
    fail("a text has " + std::to_string(field.length) + " bytes, more than " + std::to_string(kLongestText));
  }
  return bytes_->read(field.offset, field.length);
}

std::int64_t WireReader::whole(const WireField& field) const {
  expect(field, WireType::varint, "a number");
  return static_cast<std::int64_t>(field.value);
}

float WireReader::real(const WireField& field) const {
  expect(field, WireType::fixed32, "a 32-bit number");
  return std::bit_cast<float>(static_cast<std::uint32_t>(field.value));
}

void WireReader::append_wholes(const WireField& field, std::vector<std::int64_t>& out,
                               std::size_t most) const {
  if (field.type == WireType::varint) {
    if (out.size() < most) out.push_back(static_cast<std::int64_t>(field.value));
    return;
  }
  WireReader list = inside(field);
  while (list.at_ < list.end_ && out.size() < most) {
    list.began_ = list.at_;
    out.push_back(static_cast<std::int64_t>(list.varint()));
  }
}

void WireReader::append_reals(const WireField& field, std::vector<double>& out, std::size_t most,
                              int width) const {
  const auto add = [&](std::uint64_t bits) {
    out.push_back(width == 8 ? std::bit_cast<double>(bits)
                             : static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits))));
  };
  if (field.type != WireType::bytes) {
    expect(field, width == 8 ? WireType::fixed64 : WireType::fixed32, "a number");
    if (out.size() < most) add(field.value);
    return;
  }
  WireReader list = inside(field);
  while (list.at_ < list.end_ && out.size() < most) add(list.fixed(width));
}

}  // namespace nest::model
