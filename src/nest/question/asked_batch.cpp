#include "nest/question/asked_batch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "nest/question/asked_rows.hpp"
#include "nest/question/choice.hpp"

namespace nest::question {
namespace {

constexpr std::size_t kMostBatches = 4096;

// Batches from a list, a range or a number with a tolerance; empty where the text is one number or nothing of these.
std::vector<std::int64_t> several_batches(std::string_view text) {
  for (const std::string_view sign : {"\u00b1", "+-"}) {
    const std::size_t at = text.find(sign);
    if (at == std::string_view::npos) continue;
    const auto middle = parse_whole(text.substr(0, at));
    const auto share = parse_share(text.substr(at + sign.size()));
    if (!middle || *middle < 1 || !share || !(*share >= 0) || *share >= 1) return {};
    const auto reach = static_cast<std::int64_t>(*share * static_cast<double>(*middle));
    std::vector<std::int64_t> all{*middle};
    for (std::int64_t i = 1; i <= reach && all.size() <= kMostBatches; ++i) {
      all.push_back(*middle - i);
      all.push_back(*middle + i);
    }
    return all;
  }
  const auto listed = read_choice(text);
  if (!listed) return {};
  std::vector<std::int64_t> all;
  for (const Choice::Range& range : listed->ranges()) {
    for (std::int64_t n = range.first; n <= range.last && all.size() <= kMostBatches; ++n) all.push_back(n);
  }
  // "1,024" is a number; batches of a list are alike, and "480,512" is one.
  const bool alike = std::is_sorted(all.begin(), all.end()) && all.back() < 2 * all.front();
  return parse_whole(text) && !alike ? std::vector<std::int64_t>() : all;
}

}  // namespace

AskedField batch_field(AskedField row) {
  const AskedField one = whole(row, &Asked::global_batch, 1, kMostSequences);
  row.read = [one](std::string_view text, Asked& asked) -> std::optional<SpaceProblem> {
    std::vector<std::int64_t> all = several_batches(text);
    if (all.size() < 2) {
      asked.batches.clear();
      const std::optional<SpaceProblem> problem = one.read(text, asked);
      if (!problem || parse_whole(text)) return problem;
      return SpaceProblem{
          fmt::format("'{}' is no number of sequences; try 512, 480,512, 480..512 or 512\u00b15%", text)};
    }
    const auto [least, most] = std::minmax_element(all.begin(), all.end());
    if (*least < 1 || *most > kMostSequences || all.size() > kMostBatches)
      return SpaceProblem{.what = fmt::format("up to {} batches from 1 to {} can be tried", kMostBatches,
                                              format_digits(kMostSequences)),
                          .impossible = true};
    asked.global_batch = all.front();
    asked.batches = std::move(all);
    return std::nullopt;
  };
  row.spell = [one](const Asked& asked) -> std::string {
    return asked.batches.empty() ? one.spell(asked) : fmt::format("{}", fmt::join(asked.batches, ","));
  };
  return row;
}

}  // namespace nest::question
