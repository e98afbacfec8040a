// Command-line flags as lists: an argument file has one flag a line under headings.
//
//   # Parallelism
//   --tensor-model-parallel-size 8
//   --sequence-parallel
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "nest/base/rooms.hpp"

namespace nest::frameworks {

struct Flag {
  std::string name;  // "--num-layers"
  std::vector<std::string> values;

  bool operator==(const Flag&) const = default;
};

struct FlagSection {
  std::string title;
  std::vector<Flag> flags;

  FlagSection& add(std::string name) {
    flags.push_back({std::move(name), {}});
    return *this;
  }
  FlagSection& add(std::string name, std::string value) {
    flags.push_back({std::move(name), {std::move(value)}});
    return *this;
  }
  FlagSection& add(std::string name, std::vector<std::string> values) {
    flags.push_back({std::move(name), std::move(values)});
    return *this;
  }
  FlagSection& add(std::string name, std::int64_t value) {
    return add(std::move(name), std::to_string(value));
  }
};

[[nodiscard]] std::string flag_text(const std::vector<FlagSection>& groups);

// All flags of an argument file or a launch script, in order: words that begin with --, each with the words
// that follow. Comments, quotes, continued lines, arrays and variables that the script itself sets are
// understood; "--flag=value" is "--flag value", and so is "--flag: value" below MODEL_ARGS of a YAML file.
[[nodiscard]] std::vector<Flag> read_flags(std::string_view text);

// The last one with this name.
[[nodiscard]] const Flag* find_flag(const std::vector<Flag>& flags, std::string_view name);

}  // namespace nest::frameworks
