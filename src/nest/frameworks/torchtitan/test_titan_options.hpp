// For tests: the settings of torchtitan's files, and our table of its options
// (data/frameworks/torchtitan_options.csv), which says what a release would refuse of them.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "nest/base/files.hpp"
#include "nest/frameworks/test_validators.hpp"
#include "nest/plan/frameworks/framework_releases.hpp"

namespace nest::test {

// "parallelism.tensor_parallel_degree" -> "8", texts in quotes, as the file has them.
using TitanSettings = std::map<std::string, std::string>;

[[nodiscard]] inline TitanSettings read_titan_toml(const std::string& text) {
  TitanSettings out;
  std::string section;
  for (const std::string& line : split(text, '\n')) {
    if (line.empty() || line[0] == '#') continue;
    if (line[0] == '[') {
      section = line.substr(1, line.size() - 2);
      continue;
    }
    const std::size_t equals = line.find(" = ");
    out[section + "." + line.substr(0, equals)] = line.substr(equals + 3);
  }
  return out;
}

// The settings alone, not the model and the recomputation, which are objects.
[[nodiscard]] inline TitanSettings read_titan_python(const std::string& text) {
  TitanSettings out;
  const std::string begin = "    config.";
  for (const std::string& line : split(text, '\n')) {
    const std::size_t equals = line.find(" = ");
    if (!line.starts_with(begin) || equals == std::string::npos) continue;
    const std::string name = line.substr(begin.size(), equals - begin.size());
    if (name.starts_with("training.") || name.starts_with("parallelism.") || name.starts_with("compile."))
      out[name] = line.substr(equals + 3);
  }
  return out;
}

[[nodiscard]] inline std::string unquoted(const std::string& value) {
  return value.starts_with('"') ? value.substr(1, value.size() - 2) : value;
}

struct TitanOption {
  std::string type;  // int, float, str, bool, list, lists
  std::vector<std::string> choices;
};

class TitanOptions {
 public:
  TitanOptions() {
    const ReleaseTable& table = *find_releases("torchtitan");
    for (const std::string& line :
         split(read_file(std::string(NEST_SOURCE_DIR) + "/data/frameworks/torchtitan_options.csv"), '\n')) {
      if (line.starts_with("# ") && !line.ends_with('.')) days_[split(line, ' ')[1]] = split(line, ' ')[2];
      if (line.empty() || line.starts_with('#') || line.starts_with("option,")) continue;
      const std::vector<std::string> cells = split(line, ',');
      for (const Release& release : table.releases) {
        if (table.within(release, cells[3], cells[4]))
          options_[std::string(release.name)][cells[0]] = {cells[1], split(cells[2], ' ')};
      }
    }
  }

  [[nodiscard]] const std::map<std::string, std::string>& days() const { return days_; }

  // "" where the release takes them all.
  [[nodiscard]] std::string problem(std::string_view release, const TitanSettings& settings) const {
    for (const auto& [name, value] : settings) {
      const auto& known = options_.at(std::string(release));
      const auto at = known.find(name);
      if (at == known.end()) return name + " is not known";
      if (!allows(at->second, value)) return name + " does not take " + value;
    }
    return "";
  }

 private:
  static bool allows(const TitanOption& option, const std::string& value) {
    const bool digits =
        !value.empty() && value.find_first_not_of("0123456789", value[0] == '-' ? 1 : 0) == std::string::npos;
    if (option.type == "int") return digits;
    if (option.type == "bool")
      return value == "true" || value == "false" || value == "True" || value == "False";
    if (option.type == "list") return value.starts_with("[\"") && value.ends_with("\"]");
    if (option.type == "lists") return value.starts_with("[[\"") && value.ends_with("\"]]");
    if (option.type != "str" || !value.starts_with('"') || !value.ends_with('"')) return false;
    return option.choices.empty() ||
           std::find(option.choices.begin(), option.choices.end(), unquoted(value)) != option.choices.end();
  }

  std::map<std::string, std::string> days_;
  std::map<std::string, std::map<std::string, TitanOption>> options_;
};

}  // namespace nest::test
