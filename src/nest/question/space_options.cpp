#include "nest/question/space_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "nest/base/closest.hpp"

namespace nest::question {
namespace {

// "1f1b, interleaved (default: both), gpipe"
std::string schedule_text() {
  std::string text;
  const std::size_t usual = default_schedules().size();
  const std::vector<Schedule> all = all_schedules();
  for (std::size_t i = 0; i < all.size(); ++i) {
    text += (i == 0 ? "" : ", ") + std::string(name_of(all[i]));
    if (i + 1 == usual) text += usual == 2 ? " (default: both)" : " (default)";
  }
  return text;
}

const auto& options() {
  static const std::string kSchedules = schedule_text();
  static const std::array kOptions{
      SpaceOption{"micro-batch", "LIST", "sequences of a micro-batch (default 1,2,4,8,16)",
                  &SearchSpace::micro_batch},
      SpaceOption{"tensor", "LIST", "tensor parallel degree (default: divisors of the innermost domain)",
                  &SearchSpace::tensor},
      SpaceOption{"sequence-parallel", "on|off", "default on where tensor is above 1",
                  &SearchSpace::sequence_parallel},
      SpaceOption{"context", "LIST",
                  "context parallel degree (default 1; up to 16 for sequences of 16,384 tokens or more)",
                  &SearchSpace::context},
      SpaceOption{"context-method", "LIST", "ring (default), all_to_all", &SearchSpace::context_methods},
      SpaceOption{"expert", "LIST", "expert parallel degree (default: divisors of the number of experts)",
                  &SearchSpace::expert},
      SpaceOption{"expert-tensor", "LIST", "tensor degree of the experts (default: 1 and as tensor)",
                  &SearchSpace::expert_tensor},
      SpaceOption{"pipeline", "LIST", "stages (default: 1 to the number of layers)", &SearchSpace::pipeline},
      SpaceOption{"data", "LIST", "data parallel degree as Megatron counts it (default: all that fit)",
                  &SearchSpace::data},
      SpaceOption{"data-inner", "LIST",
                  "copies whose cells lie side by side (default: divisors of the copies)",
                  &SearchSpace::data_inner},
      SpaceOption{"block-devices", "LIST", "devices of the range of one block of copies (default: a few)",
                  &SearchSpace::block_devices},
      SpaceOption{"first-stage-first", "on|off", "whether the first stage lies at device 0 (default: both)",
                  &SearchSpace::first_stage_first},
      SpaceOption{"zero", "LIST", "ZeRO stage: 0, 1, 2, 3 (default: all)", &SearchSpace::zero, 0, 3},
      SpaceOption{"zero-shards", "LIST",
                  "ranks that ZeRO shards over (default: the group, or its part in a domain of each level)",
                  &SearchSpace::zero_shards},
      SpaceOption{"recompute", "LIST", "none, selective, full, full:N on N layers of a stage (default: all)",
                  &SearchSpace::recompute},
      SpaceOption{"schedule", "LIST", kSchedules, &SearchSpace::schedules},
      SpaceOption{"interleave", "LIST", "chunks of a stage (default 1,2,3,4,6,8)", &SearchSpace::interleave},
  };
  return kOptions;
}

template <class T>
struct Word {
  std::string_view name;
  T value;
};

constexpr std::array<Word<bool>, 2> kSwitch{{{"on", true}, {"off", false}}};
constexpr std::array<Word<ContextMethod>, 2> kMethods{
    {{"ring", ContextMethod::ring}, {"all_to_all", ContextMethod::all_to_all}}};
constexpr std::array<Word<RecomputePolicy>, 3> kPolicies{{{"none", RecomputePolicy::none},
                                                          {"selective", RecomputePolicy::selective},
                                                          {"full", RecomputePolicy::full}}};

std::vector<std::string_view> items(std::string_view text) {
  std::vector<std::string_view> list;
  while (true) {
    const std::size_t comma = text.find(',');
    list.push_back(text.substr(0, comma));
    if (comma == std::string_view::npos) return list;
    text.remove_prefix(comma + 1);
  }
}

// Whether one of the items is a range such as 16..2.
bool runs_backwards(std::string_view text) {
  const auto all = items(text);
  return std::any_of(all.begin(), all.end(), [](std::string_view item) {
    const std::size_t dots = item.find("..");
    if (dots == std::string_view::npos) return false;
    const auto first = read_choice(item.substr(0, dots));
    const auto last = read_choice(item.substr(dots + 2));
    return first && last && last->ranges()[0].first < first->ranges()[0].first;
  });
}

std::vector<Word<Schedule>> schedule_words() {
  std::vector<Word<Schedule>> words;
  for (const Schedule schedule : all_schedules()) words.push_back({name_of(schedule), schedule});
  return words;
}

template <class Words>
std::string unknown_word(const Words& words, std::string_view item) {
  std::vector<std::string> names;
  std::string all;
  for (std::size_t i = 0; i < words.size(); ++i) {
    names.emplace_back(words[i].name);
    all += (i == 0 ? "" : i + 1 == words.size() ? " or " : ", ") + names.back();
  }
  const std::string guess = did_you_mean(item, names);
  return fmt::format("{} is expected, not '{}'{}", all, item, guess.empty() ? "" : "; " + guess);
}

template <class Words>
const auto* find_word(const Words& words, std::string_view item) {
  const auto at = std::find_if(words.begin(), words.end(), [&](const auto& w) { return w.name == item; });
  return at == words.end() ? nullptr : &*at;
}

template <class T>
void add_once(std::vector<T>& list, const T& value) {
  if (std::find(list.begin(), list.end(), value) == list.end()) list.push_back(value);
}

using Problem = std::optional<SpaceProblem>;

template <class Words, class T>
Problem read_words(const Words& words, std::string_view text, std::vector<T>& out) {
  std::vector<T> list;
  for (const std::string_view item : items(text)) {
    const auto* word = find_word(words, item);
    if (word == nullptr) return SpaceProblem{unknown_word(words, item)};
    add_once(list, word->value);
  }
  out = std::move(list);
  return std::nullopt;
}

struct Reading {
  const SpaceOption* option;
  std::string_view text;
  SearchSpace* space;

  Problem operator()(Choice SearchSpace::* member) const {
    const auto choice = read_choice(text);
    if (!choice && runs_backwards(text)) return SpaceProblem{fmt::format("'{}' ends before it starts", text)};
    if (!choice)
      return SpaceProblem{fmt::format("'{}' is no number, list or range; try 1,2,4 or 2..16", text)};
    for (const Choice::Range& r : choice->ranges()) {
      if (r.first < option->least)
        return SpaceProblem{fmt::format("{} is below {}, the least", r.first, option->least), true};
      if (r.last > option->most)
        return SpaceProblem{fmt::format("{} is above {}, the most", r.last, option->most), true};
    }
    space->*member = *choice;
    return std::nullopt;
  }
  Problem operator()(std::vector<bool> SearchSpace::* member) const {
    return read_words(kSwitch, text, space->*member);
  }
  Problem operator()(std::vector<ContextMethod> SearchSpace::* member) const {
    return read_words(kMethods, text, space->*member);
  }
  Problem operator()(std::vector<Schedule> SearchSpace::* member) const {
    return read_words(schedule_words(), text, space->*member);
  }
  Problem operator()(std::vector<Recompute> SearchSpace::* member) const {
    std::vector<Recompute> list;
    for (const std::string_view item : items(text)) {
      const std::size_t colon = item.find(':');
      const auto* word = find_word(kPolicies, item.substr(0, colon));
      if (word == nullptr) return SpaceProblem{unknown_word(kPolicies, item)};
      Recompute recompute{word->value, 0};
      if (colon != std::string_view::npos) {
        const auto layers = read_choice(item.substr(colon + 1));
        const bool one = layers && layers->ranges().size() == 1 &&
                         layers->ranges()[0].first == layers->ranges()[0].last &&
                         layers->ranges()[0].first > 0;
        if (word->value != RecomputePolicy::full || !one)
          return SpaceProblem{
              fmt::format("'{}' is no policy; a number of layers goes with full, as in full:2", item)};
        recompute.layers = layers->ranges()[0].first;
      }
      add_once(list, recompute);
    }
    space->*member = std::move(list);
    return std::nullopt;
  }
};

std::string spell_item(bool on) {
  return on ? "on" : "off";
}
std::string spell_item(ContextMethod method) {
  return std::string(name_of(method));
}
std::string spell_item(Schedule schedule) {
  return std::string(name_of(schedule));
}
std::string spell_item(const Recompute& r) {
  const std::string policy(name_of(r.policy));
  return r.layers > 0 ? fmt::format("{}:{}", policy, r.layers) : policy;
}

}  // namespace

std::span<const SpaceOption> space_options() {
  return options();
}

const SpaceOption* find_space_option(std::string_view name) {
  const auto& all = options();
  const auto at = std::find_if(all.begin(), all.end(), [&](const SpaceOption& o) { return o.name == name; });
  return at == all.end() ? nullptr : &*at;
}

std::optional<SpaceProblem> read_space_option(const SpaceOption& option, std::string_view text,
                                              SearchSpace& space) {
  return std::visit(Reading{&option, text, &space}, option.member);
}

bool is_open(const SpaceOption& option, const SearchSpace& space) {
  return std::visit(
      [&](auto member) {
        if constexpr (std::is_same_v<decltype(member), Choice SearchSpace::*>) {
          return (space.*member).open();
        } else {
          return (space.*member).empty();
        }
      },
      option.member);
}

void open_up(const SpaceOption& option, SearchSpace& space) {
  std::visit([&](auto member) { space.*member = {}; }, option.member);
}

std::string spell(const SpaceOption& option, const SearchSpace& space) {
  return std::visit(
      [&](auto member) {
        if constexpr (std::is_same_v<decltype(member), Choice SearchSpace::*>) {
          return (space.*member).spell();
        } else {
          std::string text;
          for (const auto& item : space.*member) text += (text.empty() ? "" : ",") + spell_item(item);
          return text.empty() ? std::string("any") : text;
        }
      },
      option.member);
}

void apply_framework(const FrameworkRules& rules, SearchSpace& space) {
  space.rules = &rules;
  space.same_recompute = space.same_recompute || rules.same_recompute;
  if (rules.whole_recompute && space.recompute.empty()) {
    for (const RecomputePolicy policy : rules.policies) space.recompute.push_back({policy, 0});
  }
  // Of two ways to split the sequence, the one that the framework has.
  PlanDegrees degrees;
  degrees.training.sequence = 1024;
  degrees.parallelism.zero = 3;
  Strategy& strategy = degrees.parallelism.strategy;
  const auto closes = [&] { return rules.broken(degrees) != nullptr; };
  strategy.context = 2;
  if (space.context_methods.empty() && closes()) {
    strategy.context_method = ContextMethod::all_to_all;
    if (!closes()) space.context_methods = {ContextMethod::all_to_all};
  }
  degrees.parallelism.zero = 0;
  strategy = {.tensor = 2, .sequence_parallel = true};
  if (space.sequence_parallel.empty() && closes()) space.sequence_parallel = {false};
}

}  // namespace nest::question
