#include "nest/frameworks/common/export_folder.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "nest/base/files.hpp"
#include "support/message_of.hpp"

namespace nest::frameworks {
namespace {

namespace fs = std::filesystem;

class Folder : public testing::Test {
 protected:
  void SetUp() override {
    fs::remove_all(root_);
    fs::create_directories(root_);
  }
  void TearDown() override { fs::remove_all(root_); }
  [[nodiscard]] std::string target() const { return (root_ / "launch").string(); }

  fs::path root_ = fs::path(testing::TempDir()) / "nest-export-folder";
};

TEST_F(Folder, HasAllFilesOrNone) {
  {
    ExportFolder folder(target() + "/", false);
    folder.write({"a/run.sh", "echo", true});
    EXPECT_FALSE(fs::exists(target()));
  }
  EXPECT_TRUE(fs::is_empty(root_));  // nobody finished it
  ExportFolder folder(target(), false);
  folder.write({"a/run.sh", "echo", true});
  folder.write({"notes", "none", false});
  folder.finish();
  EXPECT_EQ(read_file(target() + "/a/run.sh"), "echo");
  EXPECT_NE(fs::status(target() + "/a/run.sh").permissions() & fs::perms::owner_exec, fs::perms::none);
  ASSERT_EQ(folder.files().size(), 2U);
  EXPECT_EQ(folder.files()[1].bytes, 4U);
}

TEST_F(Folder, ReplacesAnEarlierExportAndNothingElse) {
  const auto refusal = [&](bool force) {
    return message_of([&] { const ExportFolder folder(target(), force); });
  };
  write_file(target(), "a file");
  EXPECT_EQ(refusal(true), target() + ": is a file, not a folder");
  fs::remove(target());
  fs::create_directories(target());
  write_file(target() + "/mine", "keep");
  EXPECT_EQ(refusal(false), target() + ": the folder is not empty; --force replaces an earlier export");
  EXPECT_EQ(refusal(true),
            target() + ": the folder is not empty and holds no export: --force leaves it alone");
  fs::remove_all(target());
  for (const char* text : {"first", "second"}) {
    ExportFolder folder(target(), true);
    folder.write({"file", text, false});
    folder.finish();
    EXPECT_EQ(read_file(target() + "/file"), text);
  }
}

}  // namespace
}  // namespace nest::frameworks
