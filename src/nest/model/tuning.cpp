#include "nest/model/tuning.hpp"

#include <algorithm>

#include "nest/base/closest.hpp"
#include "nest/base/numbers.hpp"
#include "nest/base/plain_text.hpp"

namespace nest::model {
namespace {

constexpr std::int64_t kMostRank = 65'536;
constexpr std::string_view kLora = "lora";
constexpr std::string_view kLayers = "layers";
constexpr std::string_view kAll = "all";

bool is_bits(std::int64_t bits) {
  return bits == 4 || bits == 8 || bits == 16;
}

std::vector<std::string> split(std::string_view text, char at) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t end = std::min(text.find(at), text.size());
    parts.emplace_back(trimmed(text.substr(0, end), " "));
    if (end == text.size()) return parts;
    text.remove_prefix(end + 1);
  }
}

std::string quoted(std::string_view text) {
  return "'" + std::string(text) + "'";
}

bool any_empty(const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    if (word.empty()) return true;
  }
  return false;
}

std::optional<std::string> first_twice(const std::vector<std::string>& words) {
  for (auto word = words.begin(); word != words.end(); ++word) {
    if (std::find(words.begin(), word, *word) != word) return *word;
  }
  return std::nullopt;
}

std::string rank_problem(std::int64_t rank) {
  if (rank >= 1 && rank <= kMostRank) return "";
  return "a rank is a whole number from 1 to " + format_digits(kMostRank) + ", not " + std::to_string(rank);
}

std::string read_lora(std::string_view rest, Tuning& out) {
  const std::size_t colon = std::min(rest.find(':'), rest.size());
  const auto rank = parse_whole(rest.substr(0, colon));
  if (!rank) return quoted(rest.substr(0, colon)) + " is no rank; try lora:16 or lora:16:q_proj+v_proj";
  if (std::string problem = rank_problem(*rank); !problem.empty()) return problem;
  std::vector<std::string> targets = default_targets();
  if (colon < rest.size()) targets = split(rest.substr(colon + 1), '+');
  if (any_empty(targets)) return "the name of a target is missing; try lora:16:q_proj+v_proj";
  if (const auto twice = first_twice(targets)) return "the target " + quoted(*twice) + " is named twice";
  out.kind = Tuning::Kind::lora;
  out.rank = *rank;
  out.targets = std::move(targets);
  return "";
}

std::string read_layers(std::string_view rest, Tuning& out) {
  const auto range = read_block_range(rest);
  if (!range) return quoted(rest) + " is no range of layers; try 'layers 24..' or 'layers 8..15'";
  out.kind = Tuning::Kind::layers;
  out.layers = *range;
  return "";
}

// Only what a reader of another kind has left behind stays.
void clear_train(Tuning& tuning) {
  const Tuning fresh;
  tuning.kind = fresh.kind;
  tuning.rank = fresh.rank;
  tuning.targets.clear();
  tuning.layers = fresh.layers;
}

Value words_value(const std::vector<std::string>& words) {
  Value list = Value::array();
  for (const std::string& word : words) list.push(word);
  return list;
}

std::vector<std::string> read_words(Reader& r, const char* key) {
  const Value* list = r.find(key);
  if (list == nullptr || list->is_null()) return {};
  if (list->as_array() == nullptr) r.fail_at(key, "a list of names is expected");
  std::vector<std::string> words;
  for (const Value& item : *list->as_array()) {
    const std::string* word = item.as_string();
    if (word == nullptr || word->empty()) r.fail_at(key, "a list of names is expected");
    words.push_back(*word);
  }
  return words;
}

void read_train_group(Reader& training, Tuning& out, Warnings& warnings) {
  Reader group = training.object("train");
  if (std::optional<Reader> lora = group.object_if("lora")) {
    out.kind = Tuning::Kind::lora;
    out.rank = lora->whole("rank", {1, kMostRank});
    out.targets = read_words(*lora, "targets");
    if (out.targets.empty()) out.targets = default_targets();
    if (const auto twice = first_twice(out.targets))
      lora->fail_at("targets", "the target " + quoted(*twice) + " is named twice");
    lora->warn_unknown(warnings);
  } else if (group.has("layers")) {
    if (const std::string problem = read_layers(group.text("layers"), out); !problem.empty())
      group.fail_at("layers", problem);
  } else {
    group.fail("'lora' or 'layers' is expected");
  }
  group.warn_unknown(warnings);
}

}  // namespace

const std::vector<std::string>& default_targets() {
  static const std::vector<std::string> kTargets{"linear_qkv", "linear_proj"};
  return kTargets;
}

std::optional<BlockRange> read_block_range(std::string_view text) {
  constexpr std::string_view kDots = "..";
  const std::size_t dots = text.find(kDots);
  const auto number = [](std::string_view digits) -> std::optional<std::int64_t> {
    const auto value = parse_whole(digits);
    return value && *value >= 0 ? value : std::nullopt;
  };
  if (dots == std::string_view::npos) {
    const auto one = number(text);
    return one ? std::optional(BlockRange{*one, one}) : std::nullopt;
  }
  const std::string_view before = text.substr(0, dots);
  const std::string_view after = text.substr(dots + kDots.size());
  if (before.empty() && after.empty()) return std::nullopt;
  BlockRange range;
  if (!before.empty()) {
    const auto first = number(before);
    if (!first) return std::nullopt;
    range.first = *first;
  }
  if (!after.empty()) {
    range.last = number(after);
    if (!range.last || *range.last < range.first) return std::nullopt;
  }
  return range;
}

std::string spell(const BlockRange& range) {
  if (range.last == range.first) return std::to_string(range.first);
  return std::to_string(range.first) + ".." + (range.last ? std::to_string(*range.last) : "");
}

std::string read_train(std::string_view text, Tuning& out) {
  Tuning made = out;
  clear_train(made);
  const std::size_t end = std::min(text.find_first_of(": "), text.size());
  const std::string_view word = text.substr(0, end);
  const std::string_view rest = end < text.size() ? text.substr(end + 1) : std::string_view{};
  std::string problem;
  if (word == kLora) {
    problem = read_lora(rest, made);
  } else if (word == kLayers) {
    problem = read_layers(rest, made);
  } else if (text != kAll) {
    const std::string guess = did_you_mean(
        word, std::vector<std::string>{std::string(kAll), std::string(kLora), std::string(kLayers)});
    problem = "all, lora:RANK or 'layers FIRST..' is expected, not " + quoted(text) +
              (guess.empty() ? "" : "; ") + guess;
  }
  if (problem.empty()) out = std::move(made);
  return problem;
}

std::string read_freeze(std::string_view text, Tuning& out) {
  std::vector<std::string> parts = split(text, ',');
  if (any_empty(parts)) return "the name of a part is missing; try embedding,head";
  out.freeze = std::move(parts);
  return "";
}

std::string read_frozen_bits(std::string_view text, Tuning& out) {
  const auto bits = parse_whole(text);
  if (!bits || !is_bits(*bits)) return "4, 8 or 16 is expected, not " + quoted(text);
  out.frozen_bits = *bits;
  return "";
}

std::string spell_train(const Tuning& tuning) {
  switch (tuning.kind) {
    case Tuning::Kind::all:
      break;
    case Tuning::Kind::lora: {
      const std::string rank = std::string(kLora) + ":" + std::to_string(tuning.rank);
      return tuning.targets == default_targets() ? rank : rank + ":" + joined(tuning.targets, "+");
    }
    case Tuning::Kind::layers:
      return std::string(kLayers) + " " + spell(tuning.layers);
  }
  return "";
}

std::string spell_freeze(const Tuning& tuning) {
  return joined(tuning.freeze, ",");
}

void put_tuning(Value& training, const Tuning& tuning) {
  Value train = Value::object();
  if (tuning.kind == Tuning::Kind::lora) {
    Value lora = Value::object();
    lora.set("rank", tuning.rank).set("targets", words_value(tuning.targets));
    train.set("lora", std::move(lora));
  } else if (tuning.kind == Tuning::Kind::layers) {
    train.set("layers", spell(tuning.layers));
  }
  if (tuning.kind != Tuning::Kind::all) training.set("train", std::move(train));
  if (!tuning.freeze.empty()) training.set("freeze", words_value(tuning.freeze));
  if (tuning.frozen_bits != Tuning().frozen_bits) training.set("frozen_bits", tuning.frozen_bits);
}

Tuning read_tuning(Reader& training, Warnings& warnings) {
  Tuning out;
  if (const Value* train = training.find("train"); train != nullptr && train->as_object() != nullptr) {
    read_train_group(training, out, warnings);
  } else if (training.has("train")) {
    if (const std::string problem = read_train(training.text("train"), out); !problem.empty())
      training.fail_at("train", problem);
  }
  out.freeze = read_words(training, "freeze");
  out.frozen_bits = training.whole_or("frozen_bits", out.frozen_bits, {4, 16});
  if (!is_bits(out.frozen_bits)) training.fail_at("frozen_bits", "4, 8 or 16 is expected");
  return out;
}

}  // namespace nest::model
