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

// "1f1b and interleaved (the default), gpipe, zb-h1, zb-v or dualpipe-v"
std::string schedule_text() {
  const std::size_t usual = default_schedules().size();
  const std::vector<Schedule> all = all_schedules();
  std::string text;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::string_view between = i == 0                             ? ""
                                     : i + 1 == usual                   ? " and "
                                     : i > usual && i + 1 == all.size() ? " or "
                                                                        : ", ";
    text += fmt::format("{}{}", between, name_of(all[i]));
    if (i + 1 == usual) text += " (the default)";
  }
  return text;
}

const auto& options() {
  static const std::string kSchedules = schedule_text();
  static const std::array kOptions{
      SpaceOption{
          "micro-batch", "LIST",
          "the number of sequences in a micro-batch (default: 1, 2, 4, 8, 16, and more for short inputs)",
          &SearchSpace::micro_batch},
      SpaceOption{"tensor", "LIST",
                  "the tensor-parallel degree (default: the divisors of the innermost level's size)",
                  &SearchSpace::tensor},
      SpaceOption{"sequence-parallel", "on|off",
                  "on or off (default: on if the tensor degree is above 1 and divides the positions)",
                  &SearchSpace::sequence_parallel},
      SpaceOption{
          "context", "LIST",
          "the context-parallel degree (default: 1, and up to 16 for sequences of 16,384 tokens or more)",
          &SearchSpace::context},
      SpaceOption{.name = "context-method",
                  .argument = "LIST",
                  .text = "ring (default), all_to_all, hybrid (all_to_all in small groups, a ring of these); "
                          "auto tries all three",
                  .member = &SearchSpace::context_methods,
                  .all = "ring,all_to_all,hybrid"},
      SpaceOption{"context-inner", "LIST",
                  "with hybrid: the number of ranks in one all_to_all (default: those proper divisors of the "
                  "context degree that fit in the innermost level beside the tensor ranks)",
                  &SearchSpace::context_inner},
      SpaceOption{"expert", "LIST",
                  "the expert-parallel degree (default: the divisors of the number of experts)",
                  &SearchSpace::expert},
      SpaceOption{"expert-tensor", "LIST",
                  "the tensor degree of the experts (default: 1 and the tensor degree)",
                  &SearchSpace::expert_tensor},
      SpaceOption{"dispatcher", "LIST",
                  "how tokens travel to their experts: alltoall, deepep, hybridep (default: the recipe's)",
                  &SearchSpace::dispatchers},
      SpaceOption{
          "expert-overlap", "on|off",
          "whether exchanges with experts run beside the compute of another micro-batch (default: the "
          "recipe's, and on with dualpipe-v; on,off tries both)",
          &SearchSpace::expert_overlap},
      SpaceOption{"pipeline", "LIST", "the number of pipeline stages (default: 1 to the number of layers)",
                  &SearchSpace::pipeline},
      SpaceOption{"data", "LIST",
                  "the data-parallel degree as Megatron counts it (default: every possible one)",
                  &SearchSpace::data},
      SpaceOption{"data-inner", "LIST",
                  "the number of copies whose devices lie next to each other (default: the divisors of the "
                  "number of copies)",
                  &SearchSpace::data_inner},
      SpaceOption{"block-devices", "LIST",
                  "the number of devices that are set aside for one block of copies (default: a few values)",
                  &SearchSpace::block_devices},
      SpaceOption{"first-stage-first", "on|off",
                  "whether the first stage starts at device 0 (default: both orders)",
                  &SearchSpace::first_stage_first},
      SpaceOption{"zero", "LIST", "ZeRO stage: 0, 1, 2, 3 (default: all)", &SearchSpace::zero, 0, 3},
      SpaceOption{"zero-shards", "LIST",
                  "the number of ranks that ZeRO shards over (default: the whole group, or the part of it "
                  "inside a domain of each level)",
                  &SearchSpace::zero_shards},
      SpaceOption{.name = "reshard",
                  .argument = "LIST",
                  .text =
                      "with ZeRO 3, what becomes of gathered parameters after a forward pass: always freed, "
                      "never, first:N (never for a stage's first N layers), group:N (N ranks keep a part "
                      "each); auto tries several (default: always, or what the framework of --for does)",
                  .member = &SearchSpace::reshardings,
                  .all = "always,never,first:1,first:2,first:4,first:8,first:16,group:2,group:4,group:8"},
      SpaceOption{
          "recompute", "LIST",
          "none, selective, full, full:N for N layers of a stage, modules:layernorm+moe_act for a set of "
          "modules, or modules for the model's best sets (default: all of them)",
          &SearchSpace::recompute},
      SpaceOption{
          .name = "gradient-dtype",
          .argument = "LIST",
          .text = "the dtype in which gradients of weights are added up: fp32, bf16, fp16; auto tries fp32 "
                  "and bf16 (default: the recipe's)",
          .member = &SearchSpace::gradient_dtypes,
          .all = "fp32,bf16"},
      SpaceOption{.name = "reduce-dtype",
                  .argument = "LIST",
                  .text =
                      "the dtype in which ranks send each other gradients: fp32, bf16, fp16; auto tries fp32 "
                      "and bf16 (default: the recipe's)",
                  .member = &SearchSpace::reduce_dtypes,
                  .all = "fp32,bf16"},
      SpaceOption{
          .name = "optimizer-dtype",
          .argument = "LIST",
          .text = "the dtype of the optimizer's moments: fp32, bf16, fp16, fp8; auto tries fp32, bf16 and "
                  "fp8 (default: the recipe's)",
          .member = &SearchSpace::optimizer_dtypes,
          .all = "fp32,bf16,fp8"},
      SpaceOption{.name = "master-weights",
                  .argument = "on|off",
                  .text =
                      "whether the optimizer holds a copy of the weights in fp32; auto tries both (default: "
                      "the recipe's)",
                  .member = &SearchSpace::master_weights,
                  .all = "on,off"},
      SpaceOption{
          .name = "offload",
          .argument = "LIST",
          .text = "what lies in host memory: none, optimizer for the optimizer's states, which the host then "
                  "updates, activations for what layers keep for their backward passes, or "
                  "activations+optimizer; auto tries all four (default: none)",
          .member = &SearchSpace::offload,
          .all = "none,optimizer,activations,activations+optimizer"},
      SpaceOption{"schedule", "LIST", kSchedules, &SearchSpace::schedules},
      SpaceOption{"interleave", "LIST", "the number of chunks in a stage (default 1,2,3,4,6,8)",
                  &SearchSpace::interleave},
  };
  return kOptions;
}

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
