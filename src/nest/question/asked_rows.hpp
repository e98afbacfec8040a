// Kinds of rows of asked_fields(): how a field of a usual kind is read and spelled. A row is its name, help and group;
// each function here adds the reading and the spelling of one kind of value.
//
//   whole({"devices", "N", "use N devices"}, &Asked::devices, 1, kMostDevices)
//   share({"gap", "SHARE", "stop when .."}, &Asked::gap, {})
#pragma once

#include <fmt/format.h>

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "nest/base/closest.hpp"
#include "nest/base/numbers.hpp"
#include "nest/base/plain_text.hpp"
#include "nest/question/asked.hpp"

namespace nest::question {

// "bf16, fp16 or fp8 is expected, not 'int4'"
[[nodiscard]] inline SpaceProblem none_of(const std::vector<std::string>& names, std::string_view word) {
  const std::string guess = did_you_mean(word, names);
  return {fmt::format("{} is expected, not '{}'{}", list_words(names, "or"), word,
                      guess.empty() ? "" : "; " + guess)};
}

// A row whose value is a whole number from least to most, written as `parse` reads it.
template <class T>
[[nodiscard]] AskedField whole(AskedField row, T Asked::* member, std::int64_t least, std::int64_t most,
                               std::optional<std::int64_t> (*parse)(std::string_view) = parse_whole) {
  row.read = [=](std::string_view text, Asked& asked) -> std::optional<SpaceProblem> {
    const auto value = parse(text);
    if (!value) return SpaceProblem{fmt::format("a whole number is expected, not '{}'", text)};
    if (*value < least)
      return SpaceProblem{.what = fmt::format("{} is less than {}, the smallest value allowed",
                                              format_digits(*value), format_digits(least)),
                          .impossible = true};
    if (*value > most)
      return SpaceProblem{.what = fmt::format("{} is more than {}, the largest value allowed",
                                              format_digits(*value), format_digits(most)),
                          .impossible = true};
    asked.*member = *value;  // NOLINT(bugprone-optional-value-conversion): the member may be plain
    return std::nullopt;
  };
  row.spell = [=](const Asked& asked) -> std::string {
    if constexpr (std::is_same_v<T, std::int64_t>) {
      return asked.*member == Asked().*member ? "" : std::to_string(asked.*member);
    } else {
      return asked.*member ? std::to_string(*(asked.*member)) : "";
    }
  };
  return row;
}

// A row whose value is one of a few words.
template <class T, class Member>
[[nodiscard]] AskedField word(AskedField row, Member Asked::* member, const std::vector<T>& values) {
  row.read = [=](std::string_view text, Asked& asked) -> std::optional<SpaceProblem> {
    std::vector<std::string> names;
    for (const T value : values) {
      names.emplace_back(name_of(value));
      if (text != names.back()) continue;
      asked.*member = value;
      return std::nullopt;
    }
    return none_of(names, text);
  };
  row.spell = [=](const Asked& asked) -> std::string {
    if (asked.*member == Asked().*member) return "";
    if constexpr (std::is_same_v<Member, T>) {
      return std::string(name_of(asked.*member));
    } else {
      return std::string(name_of(*(asked.*member)));
    }
  };
  return row;
}

// A row whose value is one of a table's words; several words may mean one value.
template <class T>
[[nodiscard]] AskedField named(AskedField row, std::optional<T> Asked::* member,
                               std::optional<T> (*find)(std::string_view),
                               const std::vector<std::string>& names) {
  row.read = [=](std::string_view text, Asked& asked) -> std::optional<SpaceProblem> {
    const std::optional<T> value = find(text);
    if (!value) return none_of(names, text);
    asked.*member = value;
    return std::nullopt;
  };
  row.spell = [=](const Asked& asked) -> std::string {
    return asked.*member ? std::string(name_of(*(asked.*member))) : "";
  };
  return row;
}

[[nodiscard]] inline AskedField on_or_off(AskedField row, const std::function<bool&(Asked&)>& member) {
  row.read = [member](std::string_view text, Asked& asked) -> std::optional<SpaceProblem> {
    if (text != "on" && text != "off") return none_of({"on", "off"}, text);
    member(asked) = text == "on";
    return std::nullopt;
  };
  row.spell = [member](const Asked& asked) -> std::string {
    Asked copy = asked;
    return member(copy) ? "on" : "";
  };
  return row;
}

// What a share may be, and an example of one.
struct ShareRange {
  double least = 0;
  double most = 1e6;
  const char* example = "5% or 0.05";
  const char* range = "";  // how the range is said
  bool certain = false;    // 1 is certainty, and no forgotten percent sign
};

// A row whose value is a share: 5% or 0.05.
template <class T>
[[nodiscard]] AskedField share(AskedField row, T Asked::* member, ShareRange range) {
  row.read = [=](std::string_view text, Asked& asked) -> std::optional<SpaceProblem> {
    const auto value = parse_share(text);
    if (!value || !(*value >= 0) || *value > 1e6)
      return SpaceProblem{fmt::format("'{}' is not a share; try {}", text, range.example)};
    const bool bare = text.find('%') == std::string_view::npos;
    if (bare && *value >= 1 && !(range.certain && *value == 1))
      return SpaceProblem{
          *value < 100 ? fmt::format("'{}' would be {}; write {}% or {:g}", text, format_percent(*value, 0),
                                     text, *value / 100)
                       : fmt::format("'{}' would be {}; write {}%", text, format_percent(*value, 0), text)};
    if (*value < range.least || *value > range.most)
      return SpaceProblem{.what = fmt::format("{} is not {}", format_percent(*value), range.range),
                          .impossible = true};
    asked.*member = *value;  // NOLINT(bugprone-optional-value-conversion): the member may be plain
    return std::nullopt;
  };
  row.spell = [=](const Asked& asked) -> std::string {
    if constexpr (std::is_same_v<T, double>) {
      return asked.*member > 0 ? fmt::format("{}", asked.*member) : "";
    } else {
      return asked.*member ? fmt::format("{}", *(asked.*member)) : "";
    }
  };
  return row;
}

}  // namespace nest::question
