// The folder of an export: files gather in a folder beside it, which takes its place when all are written, so that
// there are all of them or none.
//
//   ExportFolder folder("megatron-launch", false);
//   exporter.write(question, [&](const ExportFile& file) { folder.write(file); });
//   folder.finish();
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "nest/frameworks/common/exporter.hpp"

namespace nest::frameworks {

class ExportFolder {
 public:
  // Throws an InputError where there is a file of that name, or a folder that is not empty; with `force` an earlier
  // export is replaced, and nothing else.
  ExportFolder(std::string target, bool force);
  ExportFolder(const ExportFolder&) = delete;
  ExportFolder& operator=(const ExportFolder&) = delete;
  ExportFolder(ExportFolder&&) = delete;
  ExportFolder& operator=(ExportFolder&&) = delete;
  ~ExportFolder();  // without finish() nothing is left

  void write(const ExportFile& file);
  void finish();

  struct Written {
    std::string name;
    std::size_t bytes;
  };
  [[nodiscard]] const std::vector<Written>& files() const { return files_; }
  [[nodiscard]] const std::string& target() const { return target_; }

 private:
  std::string target_;
  std::string pending_;
  std::vector<Written> files_;
};

}  // namespace nest::frameworks
