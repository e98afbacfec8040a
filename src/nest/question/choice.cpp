#include "nest/question/choice.hpp"

#include <algorithm>
#include <charconv>

namespace nest::question {
namespace {

std::optional<std::int64_t> number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

}  // namespace

bool Choice::has(std::int64_t value) const {
  return open() || std::any_of(ranges_.begin(), ranges_.end(),
                               [&](const Range& r) { return r.first <= value && value <= r.last; });
}

std::vector<std::int64_t> Choice::values(std::int64_t most, std::int64_t least) const {
  std::vector<std::int64_t> all;
  if (open()) {
    for (std::int64_t v = least; v <= most; ++v) all.push_back(v);
    return all;
  }
  for (const Range& r : ranges_) {
    for (std::int64_t v = std::max(least, r.first); v <= std::min(most, r.last); ++v) all.push_back(v);
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

std::string Choice::spell() const {
  if (open()) return "any";
  std::string text;
  for (const Range& r : ranges_) {
    if (!text.empty()) text += ',';
    text += std::to_string(r.first);
    if (r.last != r.first) text.append("..").append(std::to_string(r.last));
  }
  return text;
}

std::optional<Choice> read_choice(std::string_view text) {
  std::vector<Choice::Range> ranges;
  while (true) {
    const std::size_t comma = text.find(',');
    const std::string_view item = text.substr(0, comma);
    const std::size_t dots = item.find("..");
    const auto first = number(item.substr(0, dots));
    const auto last = dots == std::string_view::npos ? first : number(item.substr(dots + 2));
    if (!first || !last || *last < *first) return std::nullopt;
    ranges.push_back({*first, *last});
    if (comma == std::string_view::npos) return Choice(std::move(ranges));
    text.remove_prefix(comma + 1);
  }
}

}  // namespace nest::question
