#include "nest/cluster/name_list.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <utility>

namespace nest::cluster {
namespace {

constexpr std::size_t kMostDigits = 18;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool all_digits(std::string_view text) {
  return !text.empty() && text.size() <= kMostDigits && std::all_of(text.begin(), text.end(), is_digit);
}

std::int64_t number_of(std::string_view digits) {
  std::int64_t value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

// With zeros in front where the first number had them.
std::string padded(std::int64_t number, std::size_t width) {
  std::string text = std::to_string(number);
  return text.size() < width ? std::string(width - text.size(), '0') + text : text;
}

struct Range {
  std::int64_t first = 0;
  std::int64_t last = 0;
  std::size_t width = 0;
};

// "001-003,7"; none where it is something else.
std::optional<std::vector<Range>> read_ranges(std::string_view inside) {
  std::vector<Range> ranges;
  while (true) {
    const std::size_t comma = inside.find(',');
    const std::string_view one = inside.substr(0, comma);
    const std::size_t dash = one.find('-');
    const std::string_view low = one.substr(0, dash);
    const std::string_view high = dash == std::string_view::npos ? low : one.substr(dash + 1);
    if (!all_digits(low) || !all_digits(high)) return std::nullopt;
    const Range range{number_of(low), number_of(high), low.size()};
    if (range.last < range.first) return std::nullopt;
    ranges.push_back(range);
    if (comma == std::string_view::npos) return ranges;
    inside.remove_prefix(comma + 1);
  }
}

// Every text before the bracket with every number in it.
bool multiply(std::vector<std::string>& texts, const std::vector<Range>& ranges, std::size_t most) {
  std::size_t numbers = 0;
  for (const Range& r : ranges) {
    const auto count = static_cast<std::uint64_t>(r.last - r.first) + 1;
    if (count > most) return false;
    numbers += static_cast<std::size_t>(count);
    if (numbers > most) return false;
  }
  if (numbers * texts.size() > most) return false;
  std::vector<std::string> out;
  out.reserve(numbers * texts.size());
  for (const std::string& text : texts) {
    for (const Range& r : ranges) {
      for (std::int64_t n = r.first; n <= r.last; ++n) out.push_back(text + padded(n, r.width));
    }
  }
  texts = std::move(out);
  return true;
}

std::string too_many(std::string_view text) {
  return "'" + std::string(text.substr(0, 60)) + "' is too many names";
}

// A name in parts around one of its numbers.
struct Split {
  std::string_view before;
  std::string_view digits;
  std::string_view after;
};

// Around every number outside brackets, the last one first.
std::vector<Split> splits(std::string_view text) {
  std::vector<Split> out;
  int inside = 0;
  for (std::size_t end = text.size(); end > 0; --end) {
    const char c = text[end - 1];
    if (c == ']') ++inside;
    if (c == '[') --inside;
    if (inside != 0 || !is_digit(c)) continue;
    std::size_t begin = end;
    while (begin > 0 && is_digit(text[begin - 1])) --begin;
    const std::string_view digits = text.substr(begin, end - begin);
    if (digits.size() <= kMostDigits) out.push_back({text.substr(0, begin), digits, text.substr(end)});
    end = begin + 1;
  }
  return out;
}

// The text with a number so many higher at that place.
std::string counted_up(const Split& split, std::size_t by) {
  return std::string(split.before) +
         padded(number_of(split.digits) + static_cast<std::int64_t>(by), split.digits.size()) +
         std::string(split.after);
}

// Runs of texts that differ in one number alone, which counts up by one.
std::vector<std::string> join_runs(const std::vector<std::string>& texts) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < texts.size();) {
    std::size_t run = 1;
    if (i + 1 < texts.size()) {
      for (const Split& split : splits(texts[i])) {
        while (i + run < texts.size() && texts[i + run] == counted_up(split, run)) ++run;
        if (run == 1) continue;
        const std::string last =
            padded(number_of(split.digits) + static_cast<std::int64_t>(run) - 1, split.digits.size());
        out.push_back(std::string(split.before) + "[" + std::string(split.digits) + "-" + last + "]" +
                      std::string(split.after));
        break;
      }
    }
    if (run == 1) out.push_back(texts[i]);
    i += run;
  }
  return out;
}

}  // namespace

NameList expand_ranges(std::string_view text, std::size_t most) {
  NameList out{{""}, ""};
  if (most == 0) return {{}, too_many(text)};
  const auto append = [&](std::string_view plain) {
    for (std::string& name : out.names) name += plain;
  };
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::size_t open = rest.find('[');
    append(rest.substr(0, open));
    if (open == std::string_view::npos) break;
    rest.remove_prefix(open);
    const std::size_t close = rest.find(']');
    if (close == std::string_view::npos) return {{}, "'" + std::string(text) + "' has no closing bracket"};
    const std::string_view inside = rest.substr(1, close - 1);
    const auto ranges = read_ranges(inside);
    if (!ranges)
      return {{}, "'[" + std::string(inside) + "]' is no list of numbers and ranges such as [001-128,200]"};
    if (!multiply(out.names, *ranges, most)) return {{}, too_many(text)};
    rest.remove_prefix(close + 1);
  }
  return out;
}

NameList expand_names(std::string_view text, std::size_t most) {
  NameList out;
  while (true) {
    int inside = 0;
    std::size_t end = 0;
    for (; end < text.size() && (text[end] != ',' || inside > 0); ++end) {
      if (text[end] == '[') ++inside;
      if (text[end] == ']') --inside;
    }
    if (const std::string_view one = text.substr(0, end); !one.empty()) {
      NameList some = expand_ranges(one, most - out.names.size());
      if (!some.problem.empty()) {
        out.problem = std::move(some.problem);
        return out;
      }
      std::move(some.names.begin(), some.names.end(), std::back_inserter(out.names));
    }
    if (end >= text.size()) return out;
    text.remove_prefix(end + 1);
  }
}

bool has_ranges(std::string_view name) {
  while (true) {
    const std::size_t open = name.find('[');
    if (open == std::string_view::npos) return false;
    name.remove_prefix(open + 1);
    const std::string_view inside = name.substr(0, name.find(']'));
    if (inside.size() < name.size() && inside.find_first_of("-,") != std::string_view::npos &&
        read_ranges(inside))
      return true;
  }
}

std::vector<std::string> shorten_names(std::span<const std::string> names) {
  std::vector<std::string> out(names.begin(), names.end());
  const bool brackets = std::any_of(out.begin(), out.end(), [](const std::string& name) {
    return name.find_first_of("[]") != std::string::npos;
  });
  if (brackets) return out;
  // Devices of a host, hosts of a rack, racks: more brackets than four stand in no name.
  for (int pass = 0; pass < 4; ++pass) {
    std::vector<std::string> shorter = join_runs(out);
    if (shorter.size() == out.size()) break;
    out = std::move(shorter);
  }
  return out;
}

}  // namespace nest::cluster
