#include "nest/frameworks/common/export_folder.hpp"

#include <filesystem>
#include <system_error>
#include <utility>

#include "nest/base/error.hpp"
#include "nest/base/files.hpp"

namespace nest::frameworks {
namespace {

namespace fs = std::filesystem;

// What tells an export from other folders, which `force` must not replace.
constexpr const char* kMark = ".nest-export";

}  // namespace

ExportFolder::ExportFolder(std::string target, bool force) : target_(std::move(target)) {
  while (target_.size() > 1 && target_.ends_with('/')) target_.pop_back();
  std::error_code problem;
  const fs::file_status status = fs::status(target_, problem);
  if (fs::exists(status) && !fs::is_directory(status))
    throw InputError(target_, "", "is a file, not a folder");
  if (fs::is_directory(status) && !fs::is_empty(target_, problem)) {
    if (!force)
      throw InputError(target_, "", "the folder is not empty", "--force replaces an earlier export");
    if (!fs::exists(fs::path(target_) / kMark, problem))
      throw InputError(target_, "", "the folder is not empty and holds no export: --force leaves it alone");
  }
  pending_ = target_ + ".nest-part";
  fs::remove_all(pending_, problem);
  if (!fs::create_directories(pending_, problem) || problem)
    throw InputError(target_, "", "the folder cannot be made: " + problem.message());
}
ExportFolder::~ExportFolder() {
  std::error_code ignored;
  fs::remove_all(pending_, ignored);
}

void ExportFolder::write(const ExportFile& file) {
  const fs::path path = fs::path(pending_) / file.name;
  std::error_code problem;
  fs::create_directories(path.parent_path(), problem);
  write_file(path.string(), file.bytes);
  if (file.executable) {
    fs::permissions(path, fs::perms::owner_exec | fs::perms::group_exec | fs::perms::others_exec,
                    fs::perm_options::add, problem);
  }
  files_.push_back({file.name, file.bytes.size()});
}

void ExportFolder::finish() {
  write_file((fs::path(pending_) / kMark).string(), "made by nest export\n");
  std::error_code problem;
  const std::string old = target_ + ".nest-old";
  fs::remove_all(old, problem);
  const bool replaces = fs::exists(target_, problem);
  if (replaces) fs::rename(target_, old, problem);
  if (!problem) fs::rename(pending_, target_, problem);
  if (problem) {
    const std::string why = problem.message();
    if (replaces && !fs::exists(target_, problem)) fs::rename(old, target_, problem);
    throw InputError(target_, "", "the folder cannot be moved there: " + why);
  }
  fs::remove_all(old, problem);
}

}  // namespace nest::frameworks
