#include "nest/model/onnx/wire.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "nest/model/onnx/test_onnx.hpp"
#include "support/message_of.hpp"
#include "support/temporary_folder.hpp"

namespace nest::model {
namespace {

using namespace test;

std::vector<WireField> fields_of(const std::string& bytes) {
  ByteSource source = ByteSource::text("x.onnx", bytes);
  WireReader message(source);
  std::vector<WireField> out;
  for (WireField field; message.next(field);) out.push_back(field);
  return out;
}

TEST(Wire, ReadsFieldsOfAllKinds) {
  const std::string bytes = whole_field(1, 300) + bytes_field(2, "name") + real_field(3, 0.5F) +
                            varint((4U << 3U) | 1U) + little_endian(7, 8) + whole_field(100, -1);
  ByteSource source = ByteSource::text("x.onnx", bytes);
  WireReader message(source);
  WireField field;
  ASSERT_TRUE(message.next(field));
  EXPECT_EQ(message.whole(field), 300);
  ASSERT_TRUE(message.next(field));
  EXPECT_EQ(message.text(field), "name");
  ASSERT_TRUE(message.next(field));
  EXPECT_EQ(message.real(field), 0.5F);
  ASSERT_TRUE(message.next(field));
  EXPECT_EQ(field.value, 7U);
  ASSERT_TRUE(message.next(field));
  EXPECT_EQ(field.number, 100U);
  EXPECT_EQ(message.whole(field), -1);
  EXPECT_FALSE(message.next(field));
}

TEST(Wire, ReadsListsPackedAndNot) {
  ByteSource source = ByteSource::text("x.onnx", whole_field(8, 5) + bytes_field(8, varint(6) + varint(700)) +
                                                     bytes_field(7, raw_reals({1.5F, 2})));
  WireReader message(source);
  std::vector<std::int64_t> wholes;
  std::vector<double> reals;
  for (WireField field; message.next(field);) {
    if (field.number == 8) message.append_wholes(field, wholes, 10);
    if (field.number == 7) message.append_reals(field, reals, 10, 4);
  }
  EXPECT_EQ(wholes, (std::vector<std::int64_t>{5, 6, 700}));
  EXPECT_EQ(reals, (std::vector<double>{1.5, 2}));
}

TEST(Wire, RefusesWhatIsNoMessage) {
  EXPECT_EQ(message_of([] { fields_of("\x0f"); }),
            "x.onnx: byte 0: a field of a kind that ONNX does not have, so that this is no ONNX file");
  EXPECT_EQ(message_of([] { fields_of(bytes_field(7, "abcdef").substr(0, 5)); }),
            "x.onnx: byte 0: a field has 6 bytes, and only 3 are left; the file may not be whole");
  EXPECT_EQ(message_of([] { fields_of(whole_field(1, 300).substr(0, 2)); }),
            "x.onnx: byte 0: a number breaks off where the message ends; the file may not be whole");
  EXPECT_EQ(message_of([] { fields_of("\x08" + std::string(11, '\xff')); }),
            "x.onnx: byte 0: a number has more than ten bytes, so that this is no ONNX file");
}

TEST(Wire, RefusesTextsThatAreTooLong) {
  ByteSource source = ByteSource::text("x.onnx", bytes_field(1, std::string(20'000, 'a')));
  WireReader message(source);
  WireField field;
  ASSERT_TRUE(message.next(field));
  EXPECT_EQ(message_of([&] { static_cast<void>(message.text(field)); }),
            "x.onnx: byte 0: a text has 20000 bytes, more than 16384");
}

// A file of any size: what is passed over is not read from the disk.
TEST(Wire, PassesOverWhatNobodyAsksFor) {
  const TemporaryFolder folder;
  const std::string path = folder.file("large.onnx");
  const std::string after = whole_field(1, 42);
  constexpr std::uint64_t kHole = std::uint64_t{8} << 30U;  // a sparse file: the disk holds next to nothing
  {
    std::ofstream out(path, std::ios::binary);
    out << varint((9U << 3U) | 2U) << varint(kHole);
    out.seekp(static_cast<std::streamoff>(kHole), std::ios::cur);
    out << after;
  }
  ByteSource source = ByteSource::file(path);
  WireReader message(source);
  WireField field;
  ASSERT_TRUE(message.next(field));
  EXPECT_EQ(field.length, kHole);
  ASSERT_TRUE(message.next(field));
  EXPECT_EQ(message.whole(field), 42);
  EXPECT_FALSE(message.next(field));
  EXPECT_LE(source.read_so_far(), 2U << 16U);
}

TEST(Wire, NamesFilesThatCannotBeRead) {
  EXPECT_EQ(message_of([] { static_cast<void>(ByteSource::file("/nowhere/x.onnx")); }),
            "/nowhere/x.onnx: no such file");
  const TemporaryFolder folder;
  EXPECT_THAT(message_of([&] { static_cast<void>(ByteSource::file(folder.file(""))); }),
              ::testing::HasSubstr("is a folder, not a file"));
}

}  // namespace
}  // namespace nest::model
