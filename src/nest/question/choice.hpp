// The values that the search may give to one choice, as in --pipeline 2..16 or --tensor 1,2,4. Without a
// value, the default values of the choice apply (docs/decisions/0004-plan-space.md).
//
//   read_choice("1,2,8..16")->has(9)   -> true
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "nest/base/rooms.hpp"

namespace nest::question {

class Choice {
 public:
  struct Range {
    std::int64_t first = 1;
    std::int64_t last = 1;
    bool operator==(const Range&) const = default;
  };

  Choice() = default;  // open
  explicit Choice(std::int64_t only) : ranges_{{only, only}} {}
  explicit Choice(std::vector<Range> ranges) : ranges_(std::move(ranges)) {}

  // Whether nothing is said, so that the default values apply.
  [[nodiscard]] bool open() const { return ranges_.empty(); }
  // Whether a value may be taken; an open choice has all.
  [[nodiscard]] bool has(std::int64_t value) const;
  // Values from 1 (or `least`) to `most` that may be taken, ascending.
  [[nodiscard]] std::vector<std::int64_t> values(std::int64_t most, std::int64_t least = 1) const;
  [[nodiscard]] const std::vector<Range>& ranges() const { return ranges_; }
  [[nodiscard]] std::string spell() const;  // "1,2,8..16"; "any" where open
  bool operator==(const Choice&) const = default;

 private:
  std::vector<Range> ranges_;
};

// "4", "1,2,4", "2..16", or any of these with commas between; none where the text is something else.
[[nodiscard]] std::optional<Choice> read_choice(std::string_view text);

}  // namespace nest::question
