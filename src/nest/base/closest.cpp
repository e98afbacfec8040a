#include "nest/base/closest.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "nest/base/plain_text.hpp"

namespace nest::base {
namespace {

bool starts_with_ignoring_case(std::string_view text, std::string_view head) {
  return text.size() >= head.size() && std::equal(head.begin(), head.end(), text.begin(), [](char a, char b) {
           return lower_case(a) == lower_case(b);
         });
}

int length_difference(std::string_view a, std::string_view b) {
  return std::abs(static_cast<int>(a.size()) - static_cast<int>(b.size()));
}

}  // namespace

int edit_distance(std::string_view a, std::string_view b) {
  const std::size_t n = b.size();
  std::vector<int> before(n + 1);
  std::vector<int> last(n + 1);
  std::vector<int> row(n + 1);
  for (std::size_t j = 0; j <= n; ++j) last[j] = static_cast<int>(j);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = static_cast<int>(i);
    for (std::size_t j = 1; j <= n; ++j) {
      const bool same = lower_case(a[i - 1]) == lower_case(b[j - 1]);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (same ? 0 : 1)});
      const bool swapped = i > 1 && j > 1 && lower_case(a[i - 1]) == lower_case(b[j - 2]) &&
                           lower_case(a[i - 2]) == lower_case(b[j - 1]);
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before.swap(last);
    last.swap(row);
  }
  return last[n];
}

std::optional<std::string> closest(std::string_view word, std::span<const std::string> known) {
  constexpr std::size_t kLongestWord = 200;  // longer than any name of ours: not a misspelling
  if (word.empty() || word.size() > kLongestWord) return std::nullopt;
  const int allowed = std::max(1, static_cast<int>(word.size()) / 3);
  const std::string* best = nullptr;
  int best_distance = allowed + 1;
  for (const std::string& candidate : known) {
    if (length_difference(word, candidate) >= best_distance) continue;  // as many edits, and quicker to see
    const int d = edit_distance(word, candidate);
    const bool something_kept = d < static_cast<int>(std::max(word.size(), candidate.size()));
    if (d < best_distance && something_kept) {
      best_distance = d;
      best = &candidate;
    }
  }
  if (best == nullptr && word.size() >= 3) {
    for (const std::string& candidate : known) {
      const bool shorter = best == nullptr || candidate.size() < best->size();
      if (shorter && starts_with_ignoring_case(candidate, word)) best = &candidate;
    }
  }
  if (best == nullptr) return std::nullopt;
  return *best;
}

std::vector<std::string> nearest(std::string_view word, std::span<const std::string> known, int edits,
                                 std::size_t most) {
  std::vector<std::pair<int, std::string>> found;
  for (const std::string& candidate : known) {
    if (length_difference(word, candidate) > edits) continue;
    if (const int d = edit_distance(word, candidate); d <= edits) found.emplace_back(d, candidate);
  }
  // By distance, and in the given order where it is equal.
  std::vector<std::string> out;
  for (int d = 0; d <= edits; ++d) {
    for (const auto& [distance, name] : found) {
      if (distance == d && out.size() < most) out.push_back(name);
    }
  }
  return out;
}

std::string did_you_mean(std::string_view word, std::span<const std::string> known) {
  const std::optional<std::string> guess = closest(word, known);
  return guess ? "did you mean '" + *guess + "'?" : std::string{};
}

}  // namespace nest::base
