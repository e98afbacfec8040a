#include "nest/question/space_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "nest/base/closest.hpp"
#include "nest/recipe/module_text.hpp"

namespace nest::question {
namespace {

template <class T>
struct Word {
  std::string_view name;
  T value;
};

constexpr std::array<Word<bool>, 2> kSwitch{{{"on", true}, {"off", false}}};
constexpr std::array<Word<ContextMethod>, 3> kMethods{{{"ring", ContextMethod::ring},
                                                       {"all_to_all", ContextMethod::all_to_all},
                                                       {"hybrid", ContextMethod::hybrid}}};
constexpr auto kDispatcherWords = [] {
  std::array<Word<Dispatcher>, kDispatchers.size()> words{};
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = {name_of(kDispatchers[i]), kDispatchers[i]};
  return words;
}();
constexpr std::array<Word<RecomputePolicy>, 4> kPolicies{{{"none", RecomputePolicy::none},
                                                          {"selective", RecomputePolicy::selective},
                                                          {"modules", RecomputePolicy::modules},
                                                          {"full", RecomputePolicy::full}}};

std::vector<Word<Offload>> offload_words() {
  std::vector<Word<Offload>> words;
  for (const std::string& name : offload_names()) words.push_back({name, *find_offload(name)});
  return words;
}

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

// The dtype that an option is about: "gradient-dtype" is the key gradient_dtype.
const StateKey* find_state_key(const SpaceOption& option) {
  std::string key(option.name);
  std::replace(key.begin(), key.end(), '-', '_');
  const auto keys = state_keys();
  return &*std::find_if(keys.begin(), keys.end(), [&](const StateKey& k) { return k.key == key; });
}

struct Reading {
  const SpaceOption* option;
  std::string_view text;
  SearchSpace* space;

  Problem operator()(Choice SearchSpace::* member) const {
    const auto choice = read_choice(text);
    if (!choice && runs_backwards(text)) return SpaceProblem{fmt::format("'{}' ends before it starts", text)};
    if (!choice)
      return SpaceProblem{fmt::format("'{}' is not a number, a list or a range; try 1,2,4 or 2..16", text)};
    for (const Choice::Range& r : choice->ranges()) {
      if (r.first < option->least)
        return SpaceProblem{
            .what = fmt::format("{} is less than {}, the smallest value allowed", r.first, option->least),
            .impossible = true};
      if (r.last > option->most)
        return SpaceProblem{
            .what = fmt::format("{} is more than {}, the largest value allowed", r.last, option->most),
            .impossible = true};
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
  Problem operator()(std::vector<Dispatcher> SearchSpace::* member) const {
    return read_words(kDispatcherWords, text, space->*member);
  }
  Problem operator()(std::vector<Schedule> SearchSpace::* member) const {
    return read_words(schedule_words(), text, space->*member);
  }
  Problem operator()(std::vector<Offload> SearchSpace::* member) const {
    return read_words(offload_words(), text, space->*member);
  }
  Problem operator()(std::vector<StateDType> SearchSpace::* member) const {
    std::vector<Word<StateDType>> words;
    for (const StateDType dtype : dtypes_of(*find_state_key(*option)))
      words.push_back({name_of(dtype), dtype});
    return read_words(words, text, space->*member);
  }
  Problem operator()(std::vector<Resharding> SearchSpace::* member) const {
    std::vector<Resharding> list;
    for (const std::string_view item : items(text)) {
      const auto resharding = read_resharding(item);
      if (!resharding)
        return SpaceProblem{fmt::format("always, never, first:N or group:N is expected, not '{}'", item)};
      add_once(list, *resharding);
    }
    space->*member = std::move(list);
    return std::nullopt;
  }
  Problem operator()(std::vector<Recompute> SearchSpace::* member) const {
    std::vector<Recompute> list;
    for (const std::string_view item : items(text)) {
      const std::size_t colon = item.find(':');
      const auto* word = find_word(kPolicies, item.substr(0, colon));
      if (word == nullptr) return SpaceProblem{unknown_word(kPolicies, item)};
      Recompute recompute{word->value, 0};
      if (colon != std::string_view::npos && word->value == RecomputePolicy::modules) {
        const ReadModules set = read_modules(item.substr(colon + 1), '+');
        if (!set.problem.empty()) return SpaceProblem{set.problem};
        recompute.modules = set.modules;
      } else if (colon != std::string_view::npos) {
        const auto layers = read_choice(item.substr(colon + 1));
        const bool one = layers && layers->ranges().size() == 1 &&
                         layers->ranges()[0].first == layers->ranges()[0].last &&
                         layers->ranges()[0].first > 0;
        if (word->value != RecomputePolicy::full || !one)
          return SpaceProblem{
              fmt::format("'{}' is not a policy; only full takes a number of layers, as in full:2", item)};
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
std::string spell_item(StateDType dtype) {
  return std::string(name_of(dtype));
}
std::string spell_item(Dispatcher dispatcher) {
  return std::string(name_of(dispatcher));
}
std::string spell_item(Schedule schedule) {
  return std::string(name_of(schedule));
}
std::string spell_item(const Resharding& r) {
  return spell(r);
}
std::string spell_item(const Offload& offload) {
  return spell(offload);
}
std::string spell_item(const Recompute& r) {
  const std::string policy(name_of(r.policy));
  if (!r.modules.empty()) return fmt::format("{}:{}", policy, spell(r.modules, "+"));
  return r.layers > 0 ? fmt::format("{}:{}", policy, r.layers) : policy;
}

}  // namespace

std::optional<SpaceProblem> read_space_option(const SpaceOption& option, std::string_view text,
                                              SearchSpace& space) {
  const bool all = text == "auto" && !option.all.empty();
  return std::visit(Reading{&option, all ? option.all : text, &space}, option.member);
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
  if (space.sequence_parallel.empty() && closes()) {
    strategy.sequence_parallel = false;
    if (!closes()) space.sequence_parallel = {false};
  }
}

}  // namespace nest::question
