#include "nest/base/files.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "nest/base/error.hpp"

namespace nest::base {
namespace {

[[noreturn]] void fail(const std::string& path, const std::string& what, const std::string& hint = {}) {
  throw InputError(path, "", what, hint);
}

}  // namespace

std::string read_file(const std::string& path, std::int64_t most_mib) {
  namespace fs = std::filesystem;
  if (path.empty()) throw InputError("", "", "a file name is missing", "it is an empty text");
  const std::uintmax_t most = static_cast<std::uintmax_t>(most_mib) << 20U;
  const std::string too_large =
      "is larger than " + std::to_string(most_mib) + " MiB, and no input of this program needs more";
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::none) fail(path, "cannot be read: " + error.message());
  if (!fs::exists(status)) fail(path, "no such file");
  if (fs::is_directory(status)) fail(path, "is a folder, not a file");
  if (fs::is_regular_file(status) && fs::file_size(path, error) > most) fail(path, too_large);
  std::ifstream in(path, std::ios::binary);
  if (!in) fail(path, std::string("cannot be read: ") + std::strerror(errno));
  std::string text;
  constexpr std::size_t kChunk = 1U << 16U;
  std::string chunk(kChunk, '\0');
  while (in.read(chunk.data(), static_cast<std::streamsize>(kChunk)) || in.gcount() > 0) {
    text.append(chunk, 0, static_cast<std::size_t>(in.gcount()));
    if (text.size() > most) fail(path, too_large);
  }
  if (in.bad()) fail(path, "broke off while it was read");
  return text;
}

void check_target(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (path.empty()) throw InputError("", "", "a file name is missing", "it is an empty text");
  if (fs::is_directory(path, error)) fail(path, "is a folder; give the name of a file to write");
  const fs::path folder = fs::path(path).parent_path();
  if (!folder.empty() && !fs::is_directory(folder, error)) {
    fail(path, "the folder '" + folder.string() + "' does not exist");
  }
}

void write_file(const std::string& path, std::string_view text) {
  namespace fs = std::filesystem;
  std::error_code error;
  check_target(path);
  // A pipe or /dev/stdout is written in place: renaming over it would take the device away from everybody.
  const bool special = path.starts_with("/dev/") || path.starts_with("/proc/") ||
                       (fs::exists(path, error) && !fs::is_regular_file(path, error));
  // A link keeps pointing where it points; what it points to is written.
  const fs::path resolved = fs::is_symlink(path, error) ? fs::canonical(path, error) : fs::path(path);
  const std::string whole = resolved.empty() ? path : resolved.string();
  const std::string target = special ? path : whole + ".tmp" + std::to_string(::getpid());
  std::ofstream out(target, std::ios::binary | std::ios::trunc);
  if (!out) fail(path, std::string("cannot be written: ") + std::strerror(errno));
  out.write(text.data(), static_cast<std::streamsize>(text.size()));
  out.close();
  if (!out) {
    if (!special) fs::remove(target, error);
    fail(path, std::string("cannot be written whole: ") + std::strerror(errno));
  }
  if (special) return;
  if (const fs::file_status old = fs::status(whole, error); fs::exists(old))
    fs::permissions(target, old.permissions(), error);
  fs::rename(target, whole, error);
  if (error) {
    const std::string cause = error.message();
    fs::remove(target, error);
    fail(path, "cannot be written: " + cause);
  }
}

bool looks_like_file(const std::string& text) {
  for (const char* ending : {".json", ".yaml", ".yml", ".onnx"}) {
    if (text.ends_with(ending)) return true;
  }
  for (const char* beginning : {"/", "./", "../"}) {
    if (text.starts_with(beginning)) return true;
  }
  std::error_code error;
  return text == "." || text == ".." || std::filesystem::is_regular_file(text, error);
}

}  // namespace nest::base
