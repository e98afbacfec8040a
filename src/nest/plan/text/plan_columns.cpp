#include "nest/plan/text/plan_columns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "nest/base/closest.hpp"
#include "nest/base/document/reader.hpp"
#include "nest/base/error.hpp"
#include "nest/base/units.hpp"
#include "nest/plan/text/plan_json.hpp"

namespace nest::plan {
namespace {

constexpr std::int64_t kMostDegree = 1 << 24;
constexpr std::int64_t kMostCount = 1'000'000'000;

// A key whose value is a number, and what it sets. read_plan reads the same keys; the test compares both.
struct NumberColumn {
  const char* key;
  std::int64_t most;
  void (*set)(Plan& plan, std::int64_t value);
};

constexpr std::array<NumberColumn, 18> kNumbers{{
    {"global_batch", kMostCount, [](Plan& p, std::int64_t v) { p.training.global_batch = v; }},
    {"sequence", kMostCount, [](Plan& p, std::int64_t v) { p.training.sequence = v; }},
    {"micro_batch", kMostCount, [](Plan& p, std::int64_t v) { p.training.micro_batch = v; }},
    {"micro_batches", kMostCount, [](Plan& p, std::int64_t v) { p.training.micro_batches = v; }},
    {"tensor", kMostDegree, [](Plan& p, std::int64_t v) { p.parallelism.strategy.tensor = v; }},
    {"context", kMostDegree, [](Plan& p, std::int64_t v) { p.parallelism.strategy.context = v; }},
    {"context_inner", kMostDegree, [](Plan& p, std::int64_t v) { p.parallelism.strategy.context_inner = v; }},
    {"expert", kMostDegree, [](Plan& p, std::int64_t v) { p.parallelism.strategy.expert = v; }},
    {"expert_tensor", kMostDegree, [](Plan& p, std::int64_t v) { p.parallelism.strategy.expert_tensor = v; }},
    {"pipeline", kMostDegree, [](Plan& p, std::int64_t v) { p.parallelism.pipeline = v; }},
    {"data", kMostDegree, [](Plan& p, std::int64_t v) { p.parallelism.data = v; }},
    {"data_inner", kMostDegree, [](Plan& p, std::int64_t v) { p.parallelism.data_inner = v; }},
    {"block_devices", kMostDegree, [](Plan& p, std::int64_t v) { p.parallelism.block_devices = v; }},
    {"zero_shards", kMostDegree, [](Plan& p, std::int64_t v) { p.parallelism.zero_shards = v; }},
    // Those whose 0 says something: -1 leaves them open.
    {"zero", Zero::kMost,
     [](Plan& p, std::int64_t v) { p.parallelism.zero = {v, p.parallelism.zero.resharding()}; }},
    {"sequence_parallel", 1,
     [](Plan& p, std::int64_t v) { p.parallelism.strategy.sequence_parallel = v != 0; }},
    {"expert_overlap", 1, [](Plan& p, std::int64_t v) { p.parallelism.strategy.expert_overlap = v != 0; }},
    {"first_stage_first", 1, [](Plan& p, std::int64_t v) { p.parallelism.first_stage_first = v != 0; }},
}};
constexpr std::size_t kFirstWithZero = 14;

// A key whose value is a word, and whether it stands in the group "training".
struct WordColumn {
  std::string_view key;
  bool of_training = false;
};
constexpr std::array<WordColumn, 11> kWords{{{"precision", true},
                                             {"optimizer", true},
                                             {"gradient_dtype", true},
                                             {"reduce_dtype", true},
                                             {"optimizer_dtype", true},
                                             {"context_method"},
                                             {"dispatcher"},
                                             {"reshard"},
                                             {"recompute"},
                                             {"offload"},
                                             {"schedule"}}};
constexpr const char* kChunks = "interleave";
constexpr std::int64_t kMostChunks = 1024;

std::vector<std::string> all_keys() {
  std::vector<std::string> keys = PlanColumns::number_keys();
  keys.insert(keys.end(), PlanColumns::word_keys().begin(), PlanColumns::word_keys().end());
  return keys;
}

[[noreturn]] void refuse_key(const std::string& key) {
  throw InputError("", key, "there is no such choice of a plan", did_you_mean(key, all_keys()));
}

void check_range(const std::string& key, const std::vector<std::int64_t>& values, WholeRange range) {
  for (std::size_t row = 0; row < values.size(); ++row) {
    if (values[row] < range.least || values[row] > range.most)
      throw InputError("", fmt::format("{}[{}]", key, row),
                       fmt::format("{} is outside 0 to {}", values[row], format_digits(range.most)));
  }
}

}  // namespace

PlanColumns::PlanColumns(Recipe recipe, Training training)
    : recipe_(std::move(recipe)), training_(std::move(training)) {}

const std::vector<std::string>& PlanColumns::number_keys() {
  static const std::vector<std::string> kKeys = [] {
    std::vector<std::string> keys;
    keys.reserve(kNumbers.size() + 1);
    for (const NumberColumn& one : kNumbers) keys.emplace_back(one.key);
    keys.emplace_back(kChunks);
    return keys;
  }();
  return kKeys;
}

const std::vector<std::string>& PlanColumns::word_keys() {
  static const std::vector<std::string> kKeys = [] {
    std::vector<std::string> keys;
    keys.reserve(kWords.size());
    for (const WordColumn& word : kWords) keys.emplace_back(word.key);
    return keys;
  }();
  return kKeys;
}

void PlanColumns::take_length(const std::string& key, std::size_t length) {
  if (length_known_ && length != size_)
    throw InputError("", key, fmt::format("has {} values, columns before it {}", length, size_));
  length_known_ = true;
  size_ = length;
  bases_.clear();
}

void PlanColumns::add(const std::string& key, std::vector<std::int64_t> numbers) {
  if (key == kChunks) {
    if (!chunks_.empty()) throw InputError("", key, "is given twice");
    check_range(key, numbers, {0, kMostChunks});
    take_length(key, numbers.size());
    chunks_ = std::move(numbers);
    return;
  }
  const auto* at = std::ranges::find_if(kNumbers, [&](const NumberColumn& one) { return key == one.key; });
  if (at == kNumbers.end()) {
    const std::vector<std::string>& words = word_keys();
    if (std::ranges::find(words, key) != words.end())
      throw InputError("", key, "words are expected, not numbers");
    refuse_key(key);
  }
  const auto index = static_cast<std::size_t>(at - kNumbers.begin());
  if (std::ranges::any_of(numbers_, [&](const Numbers& column) { return column.key == index; }))
    throw InputError("", key, "is given twice");
  check_range(key, numbers, {index >= kFirstWithZero ? -1 : 0, at->most});
  take_length(key, numbers.size());
  if (key == "sequence_parallel") sequence_parallel_ = numbers_.size();
  numbers_.push_back({index, std::move(numbers)});
}

void PlanColumns::add(const std::string& key, std::vector<std::int32_t> indices,
                      std::vector<std::string> words) {
  if (std::ranges::find(kWords, key, &WordColumn::key) == kWords.end()) {
    const std::vector<std::string>& numbers = number_keys();
    if (std::ranges::find(numbers, key) != numbers.end())
      throw InputError("", key, "numbers are expected, not words");
    refuse_key(key);
  }
  if (std::ranges::any_of(words_, [&](const Words& column) { return column.key == key; }))
    throw InputError("", key, "is given twice");
  take_length(key, indices.size());
  words_.push_back({key, std::move(indices), std::move(words)});
}

Plan PlanColumns::read_base(const std::vector<std::int64_t>& of) const {
  Value training = Value::object();
  Value parallelism = Value::object();
  for (std::size_t i = 0; i < words_.size(); ++i) {
    const std::string& word = words_[i].words.at(static_cast<std::size_t>(of[i]));
    if (word.empty()) continue;
    const auto* at = std::ranges::find(kWords, words_[i].key, &WordColumn::key);
    (at->of_training ? training : parallelism).set(words_[i].key, word);
  }
  if (of.back() > 0) parallelism.set(kChunks, of.back());
  Value root = Value::object();
  const bool offloads = parallelism.find("offload") != nullptr;
  root.set("training", training).set("parallelism", std::move(parallelism));
  const Document document = parse_json("", to_json_line(root));
  Reader reader(document);
  Warnings unheard;
  Plan plan = read_plan(reader, recipe_, unheard);
  const Training said = plan.training;
  plan.training = training_;
  if (training.find("precision") != nullptr) plan.training.precision = said.precision;
  if (training.find("optimizer") != nullptr) plan.training.optimizer = said.optimizer;
  for (const StateKey& key : state_keys()) {
    if (said.states.*key.member) plan.training.states.*key.member = said.states.*key.member;
  }
  if (offloads) plan.training.states.offload = said.states.offload;
  return plan;
}

const Plan& PlanColumns::base(std::size_t row) const {
  key_.clear();
  for (const Words& column : words_) key_.push_back(column.indices[row]);
  key_.push_back(chunks_.empty() ? 0 : chunks_[row]);
  const auto known = bases_.find(key_);
  return known != bases_.end() ? known->second : bases_.emplace(key_, read_base(key_)).first->second;
}

Plan PlanColumns::plan(std::size_t row) const {
  Plan out;
  put(row, out);
  return out;
}

void PlanColumns::put(std::size_t row, Plan& into) const {
  const Plan& from = base(row);
  into.training = from.training;
  into.parallelism = from.parallelism;
  into.default_recompute = from.default_recompute;
  for (const Numbers& column : numbers_) {
    const std::int64_t value = column.values[row];
    if (value >= (column.key >= kFirstWithZero ? 0 : 1)) kNumbers[column.key].set(into, value);
  }
  Strategy& strategy = into.parallelism.strategy;
  const bool open = !sequence_parallel_ || numbers_[*sequence_parallel_].values[row] < 0;
  if (open) strategy.sequence_parallel = strategy.tensor > 1;
}

}  // namespace nest::plan
