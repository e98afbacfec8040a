#include "plan_request.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "nest/base/closest.hpp"
#include "nest/frameworks/common/export_facts.hpp"
#include "nest/model/blocks/build.hpp"
#include "nest/question/space_options.hpp"
#include "safe_inputs.hpp"

namespace nest::server {
namespace {

constexpr std::int64_t kMostSequences = 1'000'000'000;
constexpr std::size_t kLongestSession = 64;
constexpr std::int64_t kMostTop = 20;

// 4, [1, 2], true and "2..16" as the command line would have them.
std::string as_text(Reader& choices, const std::string& key, const Value& value, bool in_list = false) {
  if (value.as_string() != nullptr) return *value.as_string();
  if (value.as_int() != nullptr) return std::to_string(*value.as_int());
  if (value.as_bool() != nullptr) return *value.as_bool() ? "on" : "off";
  if (value.as_array() != nullptr && !in_list && !value.as_array()->empty()) {
    std::string text;
    for (const Value& item : *value.as_array())
      text += (text.empty() ? "" : ",") + as_text(choices, key, item, true);
    return text;
  }
  choices.fail_at(key, "a number, a word or a list is expected");
}

void read_choices(Reader choices, SearchSpace& space) {
  for (const std::string& key : choices.keys()) {
    std::string name = key;
    std::replace(name.begin(), name.end(), '_', '-');
    const SpaceOption* option = find_space_option(name);
    if (option == nullptr) {
      std::vector<std::string> known;
      for (const SpaceOption& o : space_options()) known.emplace_back(o.name);
      choices.fail_at(key, "there is no choice '" + key + "'", did_you_mean(name, known));
    }
    if (const auto problem = read_space_option(*option, as_text(choices, key, *choices.find(key)), space))
      choices.fail_at(key, problem->what);
  }
}

void read_framework(Reader& request, SearchSpace& space) {
  if (!request.has("for")) return;
  std::vector<std::string> names;
  for (const FrameworkRules& r : all_framework_rules()) names.emplace_back(r.name);
  const FrameworkRules* rules = find_framework_rules(request.choice("for", names));
  if (space.mixed && rules->same_strategy)
    request.fail_at("mixed", fmt::format("{} runs one strategy in all stages", rules->title));
  for (const Schedule s : space.schedules) {
    if (std::find(rules->schedules.begin(), rules->schedules.end(), s) == rules->schedules.end())
      request.fail_at("for", fmt::format("the schedule {} does not go with {}", name_of(s), rules->name));
  }
  apply_framework(*rules, space);
}

template <class T, std::size_t N>
T one_of(Reader& request, const std::string& key, const std::array<T, N>& values, T fallback) {
  if (!request.has(key)) return fallback;
  std::vector<std::string> names;
  names.reserve(N);
  for (const T value : values) names.emplace_back(name_of(value));
  const std::string word = request.choice(key, names);
  return values[static_cast<std::size_t>(std::find(names.begin(), names.end(), word) - names.begin())];
}

Training read_training(Reader& request, const PlanInputs& inputs, const Limits& limits) {
  Training t;
  t.global_batch = request.whole_or("global_batch", t.global_batch, {1, kMostSequences});
  t.sequence = request.whole_or("sequence", inputs.default_sequence(), {1, limits.most_sequence});
  t.precision = one_of(request, "precision", std::array{Precision::bf16, Precision::fp16, Precision::fp8},
                       inputs.recipe.precision);
  t.optimizer =
      one_of(request, "optimizer", std::array{Optimizer::adam, Optimizer::sgd}, inputs.recipe.optimizer);
  if (const LayerProfile* profile = inputs.profile()) {
    if (t.sequence != profile->sequence) {
      request.fail_at("sequence",
                      fmt::format("the layer profile holds for sequences of {} tokens", profile->sequence));
    }
  } else {  // sequences that the model does not take are refused here
    try {
      (void)build_model(std::get<ModelSpec>(inputs.source), {.micro_batch = 1, .sequence = t.sequence});
    } catch (const InputError& error) {  // which names the option of the command line
      if (!request.has("sequence")) throw;
      request.fail_at("sequence", error.problem(), error.hint());
    }
  }
  const Accelerator& chip = inputs.cluster.accelerator();
  if (t.precision == Precision::fp8 && !chip.peak(MathType::fp8))
    request.fail_at("precision", chip.name + " has no 8-bit matrix products", "use bf16");
  return t;
}

SearchOptions read_options(Reader& request, const Limits& limits) {
  SearchOptions options;
  const double asked = request.number_or("time_limit_s", limits.time_limit_s);
  if (!(asked >= 0)) request.fail_at("time_limit_s", "a number of seconds is expected");
  options.time_limit_s = std::min(asked, limits.time_limit_s);
  options.gap = request.number_or("gap", 0);
  if (!(options.gap >= 0)) request.fail_at("gap", "a share such as 0.02 is expected");
  options.top = static_cast<int>(request.whole_or("top", 1, {1, kMostTop}));
  options.threads = limits.threads;
  if (request.has("target_tokens_per_s")) {
    options.objective = Objective::devices;
    options.target_tokens_per_s = request.number("target_tokens_per_s");
    if (!(options.target_tokens_per_s > 0)) request.fail_at("target_tokens_per_s", "more than 0 is expected");
  }
  // Who asks for a gap or for fewest devices does not compare steps.
  const bool compares = options.gap == 0 && options.objective == Objective::step_time;
  options.runners_up = compares ? static_cast<int>(request.whole_or("runners_up", 0, {0, kMostTop})) : 0;
  return options;
}

}  // namespace

std::string read_session(Reader& request) {
  std::string session = request.text_or("session", "");
  const bool plain = std::all_of(session.begin(), session.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '-' || c == '_';
  });
  if (!plain || session.size() > kLongestSession)
    request.fail_at("session", "up to 64 letters, digits, - and _ are expected");
  return session;
}

PlanRequest read_plan_request(Reader request, const Limits& limits) {
  Warnings warnings;
  RequestInputs given = read_request_inputs(request, limits, warnings);
  SearchSpace space;
  if (request.has("choices")) read_choices(request.object("choices"), space);
  space.mixed = request.boolean_or("mixed", false);
  read_framework(request, space);
  const Training training = read_training(request, given.inputs, limits);
  const SearchOptions options = read_options(request, limits);
  if (space.rules != nullptr && given.inputs.recipe.framework != space.rules->name) {
    warnings.push_back(fmt::format("priced with the recipe '{}', not with that of {}",
                                   given.inputs.recipe.name, space.rules->title));
  }
  if (space.rules != nullptr && !can_run_stages(space.rules->name, given.inputs)) {
    if (!space.pipeline.has(1))
      request.fail_at("for", std::string(space.rules->title) + " cannot cut this model into stages");
    space.pipeline = Choice(1);
    warnings.push_back(
        fmt::format("without a pipeline: {} cannot cut this model into stages", space.rules->title));
  }
  PlanRequest out{{std::move(given.inputs), training, std::move(space), options},
                  std::move(given.whole),
                  std::move(warnings),
                  request.text_or("name", ""),
                  read_session(request)};
  out.advice = request.boolean_or("advice", true);
  out.views = request.boolean_or("views", false);
  out.stats = request.boolean_or("stats", false);
  request.done();
  return out;
}

}  // namespace nest::server
