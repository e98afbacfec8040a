#include "nest/question/asked_contents.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "nest/base/files.hpp"
#include "nest/base/numbers.hpp"
#include "nest/base/plain_text.hpp"
#include "nest/base/units.hpp"

namespace nest::question {
namespace {

using Problem = std::optional<SpaceProblem>;

constexpr std::int64_t kLongest = 1'000'000'000;
constexpr double kMostTokens = 1e18;  // of all documents

std::vector<std::string_view> parts_of(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    parts.push_back(trimmed(text.substr(begin, end - begin)));
    begin = end + 1;
  }
  return parts;
}

// One length and how often it is there, or what is wrong.
std::string read_pair(const std::vector<std::string_view>& fields, LengthCount& out) {
  if (fields.empty() || fields.size() > 2) return "a length and a count are expected";
  const auto length = parse_length(fields[0]);
  if (!length || *length < 1 || *length > kLongest)
    return fmt::format("'{}' is not a number of tokens from 1 to {}", fields[0], format_digits(kLongest));
  const auto count = fields.size() == 2 ? parse_whole(fields[1]) : std::optional<std::int64_t>(1);
  if (!count || *count < 0) return fmt::format("'{}' is not a number of documents", fields[1]);
  out = {*length, *count};
  return "";
}

// What is wrong with all of them.
std::string refusal(std::vector<LengthCount>& list) {
  std::erase_if(list, [](const LengthCount& one) { return one.count == 0; });
  if (list.empty()) return "there are no documents";
  double tokens = 0;
  for (const LengthCount& one : list)
    tokens += static_cast<double>(one.length) * static_cast<double>(one.count);
  return tokens > kMostTokens ? "the documents have more than 1e18 tokens" : "";
}

AskedField lengths(AskedField row) {
  row.files = true;
  row.read = [](std::string_view text, Asked& asked) -> Problem {
    if (!states_lengths(text)) {
      const std::string file(text);
      asked.contents.lengths = std::make_shared<const Lengths>(parse_lengths(file, read_file(file)));
      return std::nullopt;
    }
    std::vector<LengthCount> list;
    for (const std::string_view one : parts_of(text, ',')) {
      if (std::string wrong = read_pair(parts_of(one, ':'), list.emplace_back()); !wrong.empty())
        return SpaceProblem{std::move(wrong) + "; try 512:900,8192:100"};
    }
    if (std::string wrong = refusal(list); !wrong.empty()) return SpaceProblem{std::move(wrong), true};
    asked.contents.lengths = std::make_shared<const Lengths>(std::move(list));
    return std::nullopt;
  };
  row.spell = [](const Asked& asked) {
    std::string out;
    if (!asked.contents.lengths) return out;
    for (const LengthCount& one : asked.contents.lengths->histogram())
      out += fmt::format("{}{}:{}", out.empty() ? "" : ",", one.length, one.count);
    return out;
  };
  return row;
}

AskedField images(AskedField row) {
  row.read = [](std::string_view text, Asked& asked) -> Problem {
    constexpr double kMost = 1e6;
    const auto value = parse_number(text);
    if (!value || !(*value >= 0) || *value > kMost)
      return SpaceProblem{
          fmt::format("'{}' is not a number of images; try 1, 0.5 or 0 for text alone", text)};
    asked.contents.images = *value;
    return std::nullopt;
  };
  row.spell = [](const Asked& asked) {
    return asked.contents.images == 1 ? "" : fmt::format("{}", asked.contents.images);
  };
  return row;
}

AskedField image_tokens(AskedField row) {
  row.read = [](std::string_view text, Asked& asked) -> Problem {
    constexpr std::int64_t kMost = 1 << 24;
    const auto value = parse_length(text);
    if (!value || *value < 1 || *value > kMost)
      return SpaceProblem{
          fmt::format("'{}' is not a number of tokens from 1 to {}; try 256", text, format_digits(kMost))};
    asked.contents.image_tokens = *value;
    return std::nullopt;
  };
  row.spell = [](const Asked& asked) {
    return asked.contents.image_tokens == 0 ? "" : std::to_string(asked.contents.image_tokens);
  };
  return row;
}

}  // namespace

bool states_lengths(std::string_view text) {
  return text.find(':') != std::string_view::npos &&
         text.find_first_not_of("0123456789.:,_ KkMm") == std::string_view::npos;
}

Lengths parse_lengths(const std::string& file, std::string_view text) {
  std::vector<LengthCount> list;
  bool swapped = false;
  bool first = true;
  std::int64_t number = 0;
  for (const std::string_view line : parts_of(text, '\n')) {
    ++number;
    if (line.empty() || line.starts_with('#')) continue;
    std::vector<std::string_view> fields = parts_of(line, ',');
    if (std::exchange(first, false) && (fields[0] == "length" || fields[0] == "count")) {
      swapped = fields[0] == "count";
      continue;
    }
    if (swapped && fields.size() == 2) std::swap(fields[0], fields[1]);
    if (const std::string wrong = read_pair(fields, list.emplace_back()); !wrong.empty())
      throw InputError(file, fmt::format("line {}", number), wrong,
                       "a row is 'length,count', such as 512,900");
  }
  if (const std::string wrong = refusal(list); !wrong.empty())
    throw InputError(file, "", wrong, "a row is 'length,count', such as 512,900");
  return Lengths(std::move(list));
}

std::vector<AskedField> contents_fields() {
  using G = AskedSection;
  return {
      lengths({"lengths", "FILE",
               "the lengths of documents, which are packed into sequences and see themselves alone: rows "
               "'length,count' of a CSV file, or 512:900,8K:100 (default: one document fills a sequence)",
               G::training, "lengths", true, true}),
      images({"images", "N",
              "images in a sequence, such as 3, 0.5 or 0 (text alone), for a model with a vision tower "
              "(default 1)",
              G::training, "images", true, true}),
      image_tokens({"image-tokens", "N",
                    "the tokens that an image takes in its sequence (default: as the model is configured)",
                    G::training, "image_tokens", true, true})};
}

}  // namespace nest::question
