#include "nest/model/hub/family_files.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string_view>

#include "nest/base/error.hpp"
#include "nest/base/files.hpp"

namespace nest::model {
namespace {

struct Text {
  std::string file;  // as messages name it
  std::string text;
  bool own = false;  // of the folder that NEST_FAMILIES names
};

void add_folder(const std::filesystem::path& folder, std::map<std::string, Text>& out) {
  std::error_code error;
  std::filesystem::directory_iterator files(folder, error);
  if (error)
    throw InputError(folder.string(), "NEST_FAMILIES", "the folder cannot be read: " + error.message());
  for (const auto& entry : files) {
    if (entry.path().extension() != ".yaml") continue;
    const std::string name = entry.path().string();
    out.insert_or_assign(entry.path().stem().string(), Text{name, read_file(name), true});
  }
}

// Read once: a process knows one set of families.
const std::map<std::string, Text>& texts() {
  static const std::map<std::string, Text> kTexts = [] {
    std::map<std::string, Text> out;
    for (const EmbeddedFile& file : family_files()) {
      const std::string name(file.name);
      out.emplace(name, Text{"data/families/" + name + ".yaml", std::string(file.text)});
    }
    const char* folder = std::getenv("NEST_FAMILIES");
    if (folder != nullptr && *folder != '\0') add_folder(folder, out);
    return out;
  }();
  return kTexts;
}

// A line of the file without parsing the rest: the table is asked for whenever a config is read.
std::string line_after(std::string_view text, std::string_view key) {
  std::size_t at = text.starts_with(key) ? 0 : text.find("\n" + std::string(key));
  if (at == std::string_view::npos) return {};
  at = text.find(key, at) + key.size();
  const std::size_t end = std::min(text.find('\n', at), text.size());
  return std::string(text.substr(at, end - at));
}

}  // namespace

const std::vector<FamilyFile>& family_table() {
  static const std::vector<FamilyFile> kTable = [] {
    std::vector<FamilyFile> out;
    for (const auto& [name, text] : texts())
      out.push_back({name, line_after(text.text, "class: "), line_after(text.text, "source: ")});
    return out;
  }();
  return kTable;
}

bool is_family(const std::string& name) {
  return texts().contains(name);
}

bool is_own_family(const std::string& name) {
  const auto found = texts().find(name);
  return found != texts().end() && found->second.own;
}

std::optional<Document> family_document(const std::string& name) {
  const auto found = texts().find(name);
  if (found == texts().end()) return std::nullopt;
  return parse_yaml(found->second.file, found->second.text);
}

}  // namespace nest::model
