#include "nest/frameworks/chakra/protobuf_writer.hpp"

#include <gtest/gtest.h>

#include <array>

namespace nest::frameworks {
namespace {

std::string hex(const std::string& bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  for (const char c : bytes) {
    const auto b = static_cast<unsigned char>(c);
    out += {kDigits[b >> 4], kDigits[b & 15], ' '};
  }
  if (!out.empty()) out.pop_back();
  return out;
}

TEST(ProtobufWriter, SevenBitsAByteLowestFirst) {
  EXPECT_EQ(hex(ProtobufWriter().number(1, 0).bytes()), "08 00");
  EXPECT_EQ(hex(ProtobufWriter().number(1, 127).bytes()), "08 7f");
  EXPECT_EQ(hex(ProtobufWriter().number(1, 150).bytes()), "08 96 01");  // the example of the format's manual
  EXPECT_EQ(hex(ProtobufWriter().number(27, 1).bytes()), "d8 01 01");
  EXPECT_EQ(hex(ProtobufWriter().number(1, ~std::uint64_t{0}).bytes()), "08 ff ff ff ff ff ff ff ff ff 01");
}

TEST(ProtobufWriter, TextAndRealNumbers) {
  EXPECT_EQ(hex(ProtobufWriter().text(2, "testing").bytes()), "12 07 74 65 73 74 69 6e 67");
  EXPECT_EQ(hex(ProtobufWriter().text(2, "").bytes()), "12 00");
  EXPECT_EQ(hex(ProtobufWriter().real(3, 1.0).bytes()), "19 00 00 00 00 00 00 f0 3f");
}

TEST(ProtobufWriter, ListsOfNumbersArePacked) {
  EXPECT_EQ(hex(ProtobufWriter().numbers(6, std::array<std::uint64_t, 3>{3, 270, 86942}).bytes()),
            "32 06 03 8e 02 9e a7 05");  // the manual's example
  EXPECT_EQ(ProtobufWriter().numbers(6, {}).bytes(), "");
}

TEST(ProtobufWriter, MessagesFollowTheirLength) {
  std::string file;
  ProtobufWriter message;
  message.number(1, 7).text(2, "F0");
  append_delimited(file, message.bytes());
  message.clear();
  append_delimited(file, message.bytes());
  EXPECT_EQ(hex(file), "06 08 07 12 02 46 30 00");
}

}  // namespace
}  // namespace nest::frameworks
