#include "plan_space_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>

#include "nest/base/closest.hpp"
#include "nest/base/error.hpp"
#include "nest/question/prunings.hpp"
#include "plan_options.hpp"

namespace nest::cli {
namespace {

// Plans beside the best that the screen shows.
constexpr int kRunnersUp = 3;

constexpr std::int64_t kMostSequences = 1'000'000'000;

// "bf16, fp16 or fp8"
std::string any_of(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i)
    text += (i == 0 ? "" : i + 1 == names.size() ? " or " : ", ") + names[i];
  return text;
}

// The one of a few values that an option names.
template <class T>
T one_word(const Arguments& arguments, const std::string& option, std::initializer_list<T> values,
           T fallback) {
  const auto typed = arguments.text(option);
  if (!typed) return fallback;
  std::vector<std::string> names;
  for (const T value : values) {
    if (*typed == name_of(value)) return value;
    names.emplace_back(name_of(value));
  }
  const std::string guess = did_you_mean(*typed, names);
  throw UsageError(fmt::format("{}: {} is expected, not '{}'{}", option, any_of(names), *typed,
                               guess.empty() ? "" : "; " + guess));
}

std::optional<double> number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

void read_objective(const Arguments& arguments, SearchOptions& out) {
  const std::string word = arguments.text("--objective").value_or("step");
  const auto target = arguments.text("--target-tokens-per-s");
  if (word == "step" || word == "step-time") {
    if (target) throw UsageError("--target-tokens-per-s goes with --objective devices");
    return;
  }
  if (word != "devices") throw UsageError("--objective: step or devices is expected, not '" + word + "'");
  if (!target)
    throw UsageError("--objective devices: --target-tokens-per-s says how many devices are enough for");
  std::string digits = *target;
  std::erase(digits, ',');
  const auto tokens = number(digits);
  if (!tokens || !(*tokens > 0) || *tokens > 1e18)
    throw UsageError("--target-tokens-per-s: '" + *target + "' is no number above 0; try 500000 or 5e5");
  out.objective = Objective::devices;
  out.target_tokens_per_s = *tokens;
}

void read_without(const Arguments& arguments, SearchOptions& out) {
  std::string text = arguments.text("--without").value_or("");
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    const std::string name = text.substr(0, comma);
    text.erase(0, comma == std::string::npos ? text.size() : comma + 1);
    const std::vector<std::string>& known = pruning_names();
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      throw UsageError(fmt::format("--without: '{}' is none of {}", name, fmt::join(known, ", ")));
    }
    out.without.push_back(name);
  }
}

}  // namespace

std::int64_t whole_within(const Arguments& arguments, const std::string& option, std::int64_t fallback,
                          std::int64_t least, std::int64_t most) {
  const std::int64_t value = arguments.whole(option).value_or(fallback);
  if (value < least)
    throw InputError("", option,
                     fmt::format("{} is below {}, the least", format_digits(value), format_digits(least)));
  if (value > most)
    throw InputError("", option,
                     fmt::format("{} is above {}, the most", format_digits(value), format_digits(most)));
  return value;
}

double read_seconds(const Arguments& arguments, const std::string& option) {
  const std::string typed = *arguments.text(option);
  const auto time = parse_time(typed);
  if (!time || time->value < 0)
    throw UsageError(fmt::format("{}: '{}' is no time; try 60 or '60 s'", option, typed));
  return time->value;
}

double read_share(const Arguments& arguments, const std::string& option) {
  const auto typed = arguments.text(option);
  if (!typed) return 0;
  std::string digits = *typed;
  const bool percent = digits.ends_with('%');
  if (percent) digits.pop_back();
  while (digits.ends_with(' ')) digits.pop_back();
  const auto value = number(digits);
  if (!value || !(*value >= 0) || *value > 1e6)
    throw UsageError(fmt::format("{}: '{}' is no share; try 5% or 0.05", option, *typed));
  return percent ? *value / 100 : *value;
}

std::vector<Option> training_options() {
  return {{"--devices", "N", "so many devices: sets the cluster's outermost size"},
          {"--global-batch", "G", "sequences of one step (default 1024)"},
          {"--sequence", "S", "tokens of a sequence (default: the model's positions, at most 8192)"},
          {"--precision", "P", "bf16, fp16 or fp8 (default: the recipe's)"},
          {"--optimizer", "O", "adam or sgd (default: the recipe's)"}};
}

std::vector<Option> space_option_rows() {
  std::vector<Option> rows;
  for (const SpaceOption& o : space_options())
    rows.push_back({"--" + std::string(o.name), std::string(o.argument), std::string(o.text)});
  rows.push_back({"--uniform", "", "one strategy for all stages (default)"});
  rows.push_back({"--mixed", "", "strategies may differ from stage to stage"});
  rows.push_back({"--for", "FRAMEWORK", "only plans that megatron, torchtitan or deepspeed can run"});
  return rows;
}

std::vector<Option> search_options() {
  return {{"--objective", "WHAT", "step (default: the shortest) or devices (the fewest that reach a target)"},
          {"--target-tokens-per-s", "X", "the target of --objective devices"},
          {"--gap", "SHARE", "stop when the best plan is so near the bound, such as 2% (default 0)"},
          {"--time-limit", "S", "seconds after which the best plan so far is the answer"},
          {"--work-limit", "N", "the same by work done: the same answer on every machine"},
          {"--threads", "N", "default: one for each core; the answer is the same"},
          {"--without", "LIST", "prunings switched off, by name: the same answer, later"}};
}

Training read_training(const Arguments& arguments, const PlanInputs& inputs, Terminal& terminal) {
  Training t;
  t.global_batch = whole_within(arguments, "--global-batch", t.global_batch, 1, kMostSequences);
  t.sequence = whole_within(arguments, "--sequence", inputs.default_sequence(), 1, kMostSequences);
  t.precision = one_word(arguments, "--precision", {Precision::bf16, Precision::fp16, Precision::fp8},
                         inputs.recipe.precision);
  t.optimizer =
      one_word(arguments, "--optimizer", {Optimizer::adam, Optimizer::sgd}, inputs.recipe.optimizer);
  if (const LayerProfile* profile = inputs.profile()) {
    if (t.sequence != profile->sequence) {
      throw InputError("", "--sequence",
                       fmt::format("the layer profile holds for sequences of {} tokens", profile->sequence));
    }
  } else {  // sequences that the model does not take are refused here
    (void)build_model(std::get<ModelSpec>(inputs.source), {.micro_batch = 1, .sequence = t.sequence});
  }
  const Accelerator& chip = inputs.cluster.accelerator();
  if (t.precision == Precision::fp8 && !chip.peak(MathType::fp8))
    throw InputError("", chip.name, "has no 8-bit matrix products", "use --precision bf16");
  if (t.precision == Precision::bf16 && !chip.peak(MathType::bf16))
    terminal.warn({chip.name + " has no bf16; its fp16 rate is used"});
  return t;
}

void refuse(const std::string& option, const SpaceProblem& problem) {
  if (problem.impossible) throw InputError("", option, problem.what);
  throw UsageError(option + ": " + problem.what);
}

SearchSpace read_space(const Arguments& arguments) {
  SearchSpace space;
  for (const SpaceOption& option : space_options()) {
    const std::string name = "--" + std::string(option.name);
    const auto typed = arguments.text(name);
    if (!typed) continue;
    if (const auto problem = read_space_option(option, *typed, space)) refuse(name, *problem);
  }
  if (arguments.has("--uniform") && arguments.has("--mixed"))
    throw UsageError("--uniform and --mixed exclude each other");
  space.mixed = arguments.has("--mixed");
  if (const auto framework = arguments.text("--for")) {
    const FrameworkRules* rules = find_framework_rules(*framework);
    if (rules == nullptr) {
      std::vector<std::string> names;
      for (const FrameworkRules& r : all_framework_rules()) names.emplace_back(r.name);
      const std::string guess = did_you_mean(*framework, names);
      throw UsageError(fmt::format("--for: {} is expected, not '{}'{}", any_of(names), *framework,
                                   guess.empty() ? "" : "; " + guess));
    }
    if (space.mixed && rules->same_strategy) {
      throw UsageError(fmt::format("--mixed does not go with --for {}: {} runs one strategy in all stages",
                                   rules->name, rules->title));
    }
    for (const Schedule s : space.schedules) {
      if (!rules->has(s))
        throw UsageError(fmt::format("--schedule {} does not go with --for {}", name_of(s), rules->name));
    }
    for (const Recompute& r : space.recompute) {
      if (!rules->has(r.policy))
        throw UsageError(fmt::format("--recompute {} does not go with --for {}", spell(r), rules->name));
    }
    apply_framework(*rules, space);
  }
  return space;
}

SearchOptions read_search_options(const Arguments& arguments) {
  SearchOptions out;
  out.pipeline_model = read_pipeline_model(arguments);
  read_objective(arguments, out);
  out.gap = read_share(arguments, "--gap");
  if (arguments.has("--time-limit")) out.time_limit_s = read_seconds(arguments, "--time-limit");
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  if (arguments.has("--work-limit")) out.work_limit = whole_within(arguments, "--work-limit", 0, 0, kMost);
  out.threads = static_cast<int>(whole_within(arguments, "--threads", 0, 0, 1024));
  out.top = static_cast<int>(whole_within(arguments, "--top", 1, 1, 1000));
  // The screen shows what the plan wins against; who asks for a gap or for fewest devices does not compare
  // steps.
  const bool compares = !arguments.has("--json") && out.gap == 0 && out.objective == Objective::step_time;
  if (compares && !arguments.has("--why-not")) out.runners_up = kRunnersUp;
  read_without(arguments, out);
  return out;
}

}  // namespace nest::cli
