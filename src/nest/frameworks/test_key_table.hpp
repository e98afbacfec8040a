// For tests: settings of a file against a table of data/frameworks with the columns key, type, choices, since and
// until, which says what a release would refuse of them.
//
//   test::KeyTable("accelerate").problem("1.15", settings)  -> "fsdp_config.fsdp_verson is not known"
#pragma once

#include <algorithm>
#include <cctype>
#include <map>
#include <string>
#include <vector>

#include "nest/base/document/value.hpp"
#include "nest/base/files.hpp"
#include "nest/frameworks/test_validators.hpp"
#include "nest/plan/frameworks/framework_releases.hpp"

namespace nest::test {

// A whole number that must be there.
[[nodiscard]] inline std::int64_t whole(const Value& group, const std::string& key) {
  return *group.find(key)->as_int();
}

class KeyTable {
 public:
  explicit KeyTable(const std::string& framework) {
    const ReleaseTable& table = *find_releases(framework);
    const std::string file = "/data/frameworks/" + framework + "_keys.csv";
    for (const std::string& line : split(read_file(NEST_SOURCE_DIR + file), '\n')) {
      if (line.starts_with("# ") && !line.ends_with('.')) days_[split(line, ' ')[1]] = split(line, ' ')[2];
      if (line.empty() || line.starts_with('#') || line.starts_with("key,")) continue;
      const std::vector<std::string> cells = split(line, ',');
      for (const Release& release : table.releases) {
        if (table.within(release, cells[3], cells[4]))
          keys_[std::string(release.name)][cells[0]] = {cells[1], split(cells[2], ' ')};
      }
    }
  }

  [[nodiscard]] const std::map<std::string, std::string>& days() const { return days_; }

  // "" where the release takes them all.
  [[nodiscard]] std::string problem(const std::string& release, const Value& settings,
                                    const std::string& group = {}) const {
    for (const auto& [name, value] : *settings.as_object()) {
      const std::string key = group + name;
      const auto at = keys_.at(release).find(key);
      if (at == keys_.at(release).end()) return key + " is not known";
      if (value.as_object() != nullptr) {
        if (std::string inner = problem(release, value, key + "."); !inner.empty()) return inner;
      } else if (!allows(at->second, value)) {
        return key + " does not take " + to_json_line(value);
      }
    }
    return "";
  }

  [[nodiscard]] bool takes(const std::string& release, const std::string& key, const Value& value) const {
    return allows(keys_.at(release).at(key), value);
  }

 private:
  struct Key {
    std::string type;  // int, float, str, bool, list
    std::vector<std::string> choices;
  };

  static std::string lower(std::string text) {
    for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return text;
  }

  static bool allows(const Key& key, const Value& value) {
    if (key.type == "int") return value.as_int() != nullptr;
    if (key.type == "float") return value.as_real() != nullptr || value.as_int() != nullptr;
    if (key.type == "bool") return value.as_bool() != nullptr;
    if (key.type == "list") return value.as_array() != nullptr;
    if (key.type != "str" || value.as_array() != nullptr) return false;
    const std::string text = lower(value.as_string() != nullptr ? *value.as_string() : to_json_line(value));
    return key.choices.empty() || key.choices.front().empty() ||
           std::any_of(key.choices.begin(), key.choices.end(),
                       [&](const std::string& choice) { return lower(choice) == text; });
  }

  std::map<std::string, std::string> days_;
  std::map<std::string, std::map<std::string, Key>> keys_;
};

}  // namespace nest::test
