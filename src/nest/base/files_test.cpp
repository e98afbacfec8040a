#include "nest/base/files.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "support/message_of.hpp"
#include "support/temporary_folder.hpp"

namespace nest::base {
namespace {

using ::testing::ElementsAre;

std::string reading(const std::string& path) {
  return message_of([&] { static_cast<void>(read_file(path)); });
}
std::string writing(const std::string& path) {
  return message_of([&] { write_file(path, "x"); });
}

TEST(ReadFile, GivesEveryByte) {
  const TemporaryFolder folder;
  std::string text("a\0b\r\n\xff", 6);
  text += std::string(200'000, 'x');  // more than one chunk
  write_file(folder.file("a"), text);
  EXPECT_EQ(read_file(folder.file("a")), text);
  write_file(folder.file("empty"), "");
  EXPECT_EQ(read_file(folder.file("empty")), "");
}

TEST(ReadFile, SaysWhyItCannot) {
  const TemporaryFolder folder;
  EXPECT_EQ(reading("no/such/file.yaml"), "no/such/file.yaml: no such file");
  EXPECT_EQ(reading(folder.file("")), folder.file("") + ": is a folder, not a file");
  EXPECT_EQ(reading(""), "a file name is missing; it is an empty text");
  const std::string longest(300, 'n');
  EXPECT_EQ(reading(longest), longest + ": cannot be read: File name too long");
}

TEST(ReadFile, RefusesFilesThatAreTooLarge) {
  const TemporaryFolder folder;
  const std::string path = folder.file("large");
  std::ofstream(path) << "x";
  std::filesystem::resize_file(path, (256U << 20U) + 1);  // holds no blocks
  EXPECT_EQ(reading(path), path + ": is larger than 256 MiB, and no input of this program needs more");
  EXPECT_EQ(message_of([] { static_cast<void>(read_file("/dev/zero", 1)); }),
            "/dev/zero: is larger than 1 MiB, and no input of this program needs more");
}

TEST(WriteFile, ReplacesTheFileAndLeavesNothingElse) {
  const TemporaryFolder folder;
  write_file(folder.file("a"), "one, and long");
  write_file(folder.file("a"), "two");
  EXPECT_EQ(read_file(folder.file("a")), "two");
  EXPECT_THAT(folder.names(), ElementsAre("a"));
}

TEST(WriteFile, ReadersNeverSeeHalfAFile) {
  const TemporaryFolder folder;
  write_file(folder.file("a"), "old");
  std::ifstream reader(folder.file("a"));  // opened before: it must go on seeing the old text
  write_file(folder.file("a"), "new text");
  std::string seen;
  std::getline(reader, seen);
  EXPECT_EQ(seen, "old");
}

TEST(WriteFile, KeepsPermissionsAndLinks) {
  const TemporaryFolder folder;
  write_file(folder.file("a"), "old");
  ASSERT_EQ(::chmod(folder.file("a").c_str(), 0600), 0);
  std::filesystem::create_symlink("a", folder.file("link"));
  write_file(folder.file("link"), "new");
  EXPECT_EQ(read_file(folder.file("a")), "new");
  EXPECT_TRUE(std::filesystem::is_symlink(folder.file("link")));
  EXPECT_EQ(std::filesystem::status(folder.file("a")).permissions(),
            static_cast<std::filesystem::perms>(0600));
  EXPECT_THAT(folder.names(), ElementsAre("a", "link"));
}

TEST(WriteFile, SaysWhyItCannot) {
  const TemporaryFolder folder;
  EXPECT_EQ(writing(""), "a file name is missing; it is an empty text");
  EXPECT_EQ(writing(folder.file("")), folder.file("") + ": is a folder; give the name of a file to write");
  EXPECT_EQ(writing("no/such/a.json"), "no/such/a.json: the folder 'no/such' does not exist");
  const std::string longest(254, 'n');
  EXPECT_EQ(writing(folder.file(longest)), folder.file(longest) + ": cannot be written: File name too long");
  EXPECT_THAT(folder.names(), ElementsAre());
}

TEST(WriteFile, CanBeAskedBefore) {
  const TemporaryFolder folder;
  const std::string inside = folder.file("nowhere/a");
  EXPECT_EQ(message_of([&] { check_target(inside); }), writing(inside));
  check_target(folder.file("a"));
  EXPECT_THAT(folder.names(), ElementsAre());
}

TEST(WriteFile, WritesDevicesInPlace) {
  EXPECT_EQ(writing("/dev/full"), "/dev/full: cannot be written whole: No space left on device");
  EXPECT_EQ(writing("/dev/null"), "(no error)");
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

// A child with its standard output in a file: /dev/stdout then is a regular file, and must stay the link it
// is.
TEST(WriteFile, DoesNotReplaceDevStdout) {
  const TemporaryFolder folder;
  const std::string path = folder.file("out");
  EXPECT_EXIT(
      {
        if (std::freopen(path.c_str(), "w", stdout) == nullptr) std::_Exit(1);
        write_file("/dev/stdout", "answer\n");
        std::_Exit(std::filesystem::is_symlink("/dev/stdout") ? 0 : 1);
      },
      ::testing::ExitedWithCode(0), "");
  EXPECT_EQ(read_file(path), "answer\n");
}

TEST(LooksLikeFile, ByEndingByBeginningOrBecauseItIsThere) {
  const TemporaryFolder folder;
  const std::string path = folder.file("no_ending");
  EXPECT_TRUE(looks_like_file("x.json"));
  EXPECT_TRUE(looks_like_file("./x"));
  EXPECT_TRUE(looks_like_file(path));  // begins with /
  EXPECT_FALSE(looks_like_file("llama3.1-8b"));
  EXPECT_FALSE(looks_like_file("meta-llama/Llama-3.1-8B"));
  write_file(path, "x");
  const std::string relative = std::filesystem::relative(path).string();
  EXPECT_TRUE(looks_like_file(relative));
}

}  // namespace
}  // namespace nest::base
