// The choices of a search space by name, one row each. The command line (`--tensor 1,2,4`), --why-not
// (`tensor=4`) and the advice on models that do not fit share this table.
//
//   read_space_option(*find_space_option("tensor"), "2..x", space)
//       ->what == "'2..x' is not a number, a list or a range; try 1,2,4 or 2..16"
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "nest/question/search_space.hpp"

namespace nest::question {

struct SpaceOption {
  using Member = std::variant<Choice SearchSpace::*, std::vector<bool> SearchSpace::*,
                              std::vector<ContextMethod> SearchSpace::*, std::vector<Schedule> SearchSpace::*,
                              std::vector<Dispatcher> SearchSpace::*, std::vector<Recompute> SearchSpace::*,
                              std::vector<Resharding> SearchSpace::*, std::vector<StateDType> SearchSpace::*,
                              std::vector<Offload> SearchSpace::*>;
  std::string_view name;      // "micro-batch"; on the command line --micro-batch
  std::string_view argument;  // "LIST"
  std::string_view text;      // the values, and the default ones
  Member member;
  std::int64_t least = 1;  // of a Choice
  std::int64_t most = std::int64_t{1} << 24;
  std::string_view all = {};  // what "auto" stands for; empty: there is no such word
};

[[nodiscard]] std::span<const SpaceOption> space_options();
[[nodiscard]] const SpaceOption* find_space_option(std::string_view name);

// Why a text has no values. Impossible ones are understood, but out of range.
struct SpaceProblem {
  std::string what;
  bool impossible = false;
};

// Puts the values into the space, or says why it cannot.
[[nodiscard]] std::optional<SpaceProblem> read_space_option(const SpaceOption& option, std::string_view text,
                                                            SearchSpace& space);

// Whether nothing is said of it, so that its default values apply.
[[nodiscard]] bool is_open(const SpaceOption& option, const SearchSpace& space);
void open_up(const SpaceOption& option, SearchSpace& space);
[[nodiscard]] std::string spell(const SpaceOption& option, const SearchSpace& space);  // "1,2", "on", "any"

// A framework's rules, and what they say of choices that are still open.
void apply_framework(const FrameworkRules& rules, SearchSpace& space);

}  // namespace nest::question
