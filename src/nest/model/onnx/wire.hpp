// Protocol buffers as bytes, read field by field, for files of any size: what nobody asks for is passed over without
// being read. Every length is checked against what is left.
//
//   ByteSource bytes = ByteSource::file("model.onnx");
//   WireReader message(bytes);
//   WireField field;
//   while (message.next(field)) {
//     if (field.number == 7) read_graph(message.inside(field));
//     if (field.number == 8) opset = message.text(field);
//   }
#pragma once

#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include "nest/base/rooms.hpp"

namespace nest::model {

// Bytes of a file, of which a small window is in memory, or of a text.
class ByteSource {
 public:
  [[nodiscard]] static ByteSource file(const std::string& path);
  [[nodiscard]] static ByteSource text(std::string name, std::string bytes);

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] unsigned char at(std::uint64_t offset);
  [[nodiscard]] std::string read(std::uint64_t offset, std::uint64_t length);
  // Bytes that were read from the disk so far.
  [[nodiscard]] std::uint64_t read_so_far() const { return read_so_far_; }

 private:
  ByteSource() = default;
  void fill(std::uint64_t offset);

  std::string name_;
  std::uint64_t size_ = 0;
  std::ifstream in_;
  std::string window_;
  std::uint64_t window_at_ = 0;
  std::uint64_t read_so_far_ = 0;
};

enum class WireType { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

struct WireField {
  std::uint32_t number = 0;
  WireType type = WireType::varint;
  std::uint64_t value = 0;   // of a varint or a fixed field: its bits
  std::uint64_t offset = 0;  // of a field of bytes
  std::uint64_t length = 0;
};

class WireReader {
 public:
  explicit WireReader(ByteSource& bytes);

  // False at the end of the message.
  [[nodiscard]] bool next(WireField& field);

  // The message in a field of bytes.
  [[nodiscard]] WireReader inside(const WireField& field) const;
  [[nodiscard]] std::string text(const WireField& field) const;  // at most kLongestText bytes
  [[nodiscard]] std::int64_t whole(const WireField& field) const;
  [[nodiscard]] float real(const WireField& field) const;
  // Repeated numbers: one, or several side by side. No more than `most` are added; `width` is 4 or 8 bytes of
  // fixed numbers, 0 of varints.
  void append_wholes(const WireField& field, std::vector<std::int64_t>& out, std::size_t most) const;
  void append_reals(const WireField& field, std::vector<double>& out, std::size_t most, int width) const;

  [[nodiscard]] ByteSource& bytes() const { return *bytes_; }
  // At the byte where the last field began.
  [[noreturn]] void fail(const std::string& what) const;

  static constexpr std::uint64_t kLongestText = 16'384;

 private:
  WireReader(ByteSource& bytes, std::uint64_t at, std::uint64_t end, bool whole)
      : bytes_(&bytes), at_(at), began_(at), end_(end), whole_(whole) {}
  [[noreturn]] void break_off(const std::string& what) const;
  [[nodiscard]] std::uint64_t varint();
  [[nodiscard]] std::uint64_t fixed(int width);
  void expect(const WireField& field, WireType type, const char* what) const;

  ByteSource* bytes_;
  std::uint64_t at_ = 0;
  std::uint64_t began_ = 0;
  std::uint64_t end_ = 0;
  bool whole_ = true;  // the message is the whole file
};

}  // namespace nest::model
