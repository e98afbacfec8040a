// Our table of Megatron-LM's flags (data/frameworks/megatron_flags.csv), and what it says of an argument file.
#pragma once

#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "nest/base/files.hpp"
#include "nest/frameworks/common/flags.hpp"
#include "nest/frameworks/test_validators.hpp"
#include "nest/plan/frameworks/framework_releases.hpp"

namespace nest::test {
using namespace frameworks;

struct KnownFlag {
  std::string type;
  std::string values;  // "0", "1", a number, "+" or "*"
  std::vector<std::string> choices;
};

class FlagTable {
 public:
  FlagTable() {
    for (const std::string& line :
         split(read_file(std::string(NEST_SOURCE_DIR) + "/data/frameworks/megatron_flags.csv"), '\n')) {
      if (line.starts_with("# ") && !line.ends_with('.')) days_[split(line, ' ')[1]] = split(line, ' ')[2];
      if (!line.starts_with("--")) continue;
      const std::vector<std::string> cells = split(line, ',');
      const ReleaseTable& table = *find_releases("megatron");
      for (const Release& release : table.releases) {
        if (table.within(release, cells[4], cells[5]))
          flags_[std::string(release.name)][cells[0]] = {cells[1], cells[2], split(cells[3], ' ')};
      }
    }
  }

  [[nodiscard]] const std::map<std::string, std::string>& days() const { return days_; }

  // What a release would say of these flags; "" where it takes them all.
  [[nodiscard]] std::string problem(std::string_view release, const std::vector<Flag>& flags) const {
    for (const Flag& flag : flags) {
      const auto& known = flags_.at(std::string(release));
      const auto at = known.find(flag.name);
      if (at == known.end()) return flag.name + " is not known";
      if (!takes(at->second, flag.values.size()))
        return flag.name + " takes " + at->second.values + " values";
      for (const std::string& value : flag.values) {
        if (!allows(at->second, value)) return flag.name + " does not take " + value;
      }
    }
    return "";
  }

 private:
  static bool takes(const KnownFlag& flag, std::size_t values) {
    if (flag.values == "+") return values > 0;
    return flag.values == "*" || std::to_string(values) == flag.values;
  }

  static bool allows(const KnownFlag& flag, const std::string& value) {
    char* end = nullptr;
    if (flag.type == "int") static_cast<void>(std::strtoll(value.c_str(), &end, 10));
    if (flag.type == "float") static_cast<void>(std::strtod(value.c_str(), &end));
    if (end != nullptr && (end == value.c_str() || *end != 0)) return false;
    return flag.choices.empty() ||
           std::find(flag.choices.begin(), flag.choices.end(), value) != flag.choices.end();
  }

  std::map<std::string, std::string> days_;
  std::map<std::string, std::map<std::string, KnownFlag>> flags_;
};

}  // namespace nest::test
