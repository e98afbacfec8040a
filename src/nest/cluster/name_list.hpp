// Many names in a few words, as Slurm writes hosts: ranges of numbers in brackets, the last bracket fastest.
//
//   expand_names("node[001-003,7],login").names     -> node001, node002, node003, node7, login
//   shorten_names({"a1/g0", "a1/g1", "a2/g0", "a2/g1"})   -> "a[1-2]/g[0-1]"
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nest/base/rooms.hpp"

namespace nest::cluster {

struct NameList {
  std::vector<std::string> names;
  std::string problem;  // why the text is no such list; the names are those before it
};

// Names and expressions that commas separate. No more than `most` names.
[[nodiscard]] NameList expand_names(std::string_view text, std::size_t most);

// One expression, in which commas count inside brackets only.
[[nodiscard]] NameList expand_ranges(std::string_view text, std::size_t most);
// Whether a bracket has a range or several numbers: "gpu[3]" may well be somebody's name.
[[nodiscard]] bool has_ranges(std::string_view name);

// Expressions for expand_ranges that give the names in the same order. Names with brackets stay as they are.
[[nodiscard]] std::vector<std::string> shorten_names(std::span<const std::string> names);

}  // namespace nest::cluster
