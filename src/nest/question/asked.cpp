#include "nest/question/asked.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <type_traits>
#include <utility>

#include "nest/base/closest.hpp"
#include "nest/base/numbers.hpp"
#include "nest/base/plain_text.hpp"
#include "nest/base/units.hpp"
#include "nest/question/asked_run.hpp"

namespace nest::question {
namespace {

using Problem = std::optional<SpaceProblem>;

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMostSequences = 1'000'000'000;
constexpr std::int64_t kMostDevices = 1'000'000'000;
constexpr std::size_t kMostBatches = 4096;

// "bf16, fp16 or fp8 is expected, not 'int4'"
SpaceProblem none_of(const std::vector<std::string>& names, std::string_view word) {
  const std::string guess = did_you_mean(word, names);
  return {fmt::format("{} is expected, not '{}'{}", list_words(names, "or"), word,
                      guess.empty() ? "" : "; " + guess)};
}

// A row whose value is a whole number from least to most.
template <class T>
AskedField whole(AskedField row, T Asked::* member, std::int64_t least, std::int64_t most) {
  row.read = [=](std::string_view text, Asked& asked) -> Problem {
    const auto value = parse_whole(text);
    if (!value) return SpaceProblem{fmt::format("a whole number is expected, not '{}'", text)};
    if (*value < least)
      return SpaceProblem{.what = fmt::format("{} is less than {}, the smallest value allowed",
                                              format_digits(*value), format_digits(least)),
                          .impossible = true};
    if (*value > most)
      return SpaceProblem{.what = fmt::format("{} is more than {}, the largest value allowed",
                                              format_digits(*value), format_digits(most)),
                          .impossible = true};
    asked.*member = *value;  // NOLINT(bugprone-optional-value-conversion): the member may be plain
    return std::nullopt;
  };
  row.spell = [=](const Asked& asked) -> std::string {
    if constexpr (std::is_same_v<T, std::int64_t>) {
      return asked.*member == Asked().*member ? "" : std::to_string(asked.*member);
    } else {
      return asked.*member ? std::to_string(*(asked.*member)) : "";
    }
  };
  return row;
}

// A row whose value is one of a few words.
template <class T, class Member>
AskedField word(AskedField row, Member Asked::* member, const std::vector<T>& values) {
  row.read = [=](std::string_view text, Asked& asked) -> Problem {
    std::vector<std::string> names;
    for (const T value : values) {
      names.emplace_back(name_of(value));
      if (text != names.back()) continue;
      asked.*member = value;
      return std::nullopt;
    }
    return none_of(names, text);
  };
  row.spell = [=](const Asked& asked) -> std::string {
    if (asked.*member == Asked().*member) return "";
    if constexpr (std::is_same_v<Member, T>) {
      return std::string(name_of(asked.*member));
    } else {
      return std::string(name_of(*(asked.*member)));
    }
  };
  return row;
}

// A row whose value is one of a table's words; several words may mean one value.
template <class T>
AskedField named(AskedField row, std::optional<T> Asked::* member, std::optional<T> (*find)(std::string_view),
                 const std::vector<std::string>& names) {
  row.read = [=](std::string_view text, Asked& asked) -> Problem {
    const std::optional<T> value = find(text);
    if (!value) return none_of(names, text);
    asked.*member = value;
    return std::nullopt;
  };
  row.spell = [=](const Asked& asked) -> std::string {
    return asked.*member ? std::string(name_of(*(asked.*member))) : "";
  };
  return row;
}

AskedField on_or_off(AskedField row, const std::function<bool&(Asked&)>& member) {
  row.read = [member](std::string_view text, Asked& asked) -> Problem {
    if (text != "on" && text != "off") return none_of({"on", "off"}, text);
    member(asked) = text == "on";
    return std::nullopt;
  };
  row.spell = [member](const Asked& asked) -> std::string {
    Asked copy = asked;
    return member(copy) ? "on" : "";
  };
  return row;
}

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

AskedField batch(AskedField row) {
  const AskedField one = whole(row, &Asked::global_batch, 1, kMostSequences);
  row.read = [one](std::string_view text, Asked& asked) -> Problem {
    std::vector<std::int64_t> all = several_batches(text);
    if (all.size() < 2) {
      asked.batches.clear();
      const Problem problem = one.read(text, asked);
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

// The whole row of a choice of the plan space.
AskedField choice(const SpaceOption& option) {
  AskedField row{.name = std::string(option.name),
                 .argument = std::string(option.argument),
                 .text = std::string(option.text),
                 .group = AskedSection::choices,
                 .key = std::string(option.name),
                 .varies = true};
  std::replace(row.key.begin(), row.key.end(), '-', '_');
  row.read = [&option](std::string_view text, Asked& asked) {
    return read_space_option(option, text, asked.choices);
  };
  row.spell = [&option](const Asked& asked) {
    return is_open(option, asked.choices) ? "" : spell(option, asked.choices);
  };
  return row;
}

AskedField framework(AskedField row) {
  row.read = [](std::string_view text, Asked& asked) -> Problem {
    if (auto problem = check_framework(text)) return problem;
    asked.framework = text;
    return std::nullopt;
  };
  row.spell = [](const Asked& asked) { return asked.framework; };
  return row;
}

AskedField objective(AskedField row) {
  row.read = [](std::string_view text, Asked& asked) -> Problem {
    std::vector<std::string> names;
    for (const Objective one : {Objective::step_time, Objective::devices, Objective::cost}) {
      names.emplace_back(name_of(one));
      if (text != names.back() && !(one == Objective::step_time && text == "step-time")) continue;
      asked.objective = one;
      return std::nullopt;
    }
    return none_of(names, text);
  };
  row.spell = [](const Asked& asked) {
    return asked.objective ? std::string(name_of(*asked.objective)) : "";
  };
  return row;
}

AskedField target(AskedField row) {
  row.read = [](std::string_view text, Asked& asked) -> Problem {
    std::string digits(text);
    std::erase(digits, ',');
    const auto tokens = parse_number(digits);
    if (!tokens || !(*tokens > 0) || *tokens > 1e18)
      return SpaceProblem{fmt::format("'{}' is not a number above 0; try 500000 or 5e5", text)};
    asked.target_tokens_per_s = tokens;
    return std::nullopt;
  };
  row.spell = [](const Asked& asked) {
    return asked.target_tokens_per_s ? fmt::format("{}", *asked.target_tokens_per_s) : "";
  };
  return row;
}

// What a share may be, and an example of one.
struct ShareRange {
  double least = 0;
  double most = 1e6;
  const char* example = "5% or 0.05";
  const char* range = "";  // how the range is said
};

// A row whose value is a share: 5% or 0.05.
template <class T>
AskedField share(AskedField row, T Asked::* member, ShareRange range) {
  row.read = [=](std::string_view text, Asked& asked) -> Problem {
    const auto value = parse_share(text);
    if (!value || !(*value >= 0) || *value > 1e6)
      return SpaceProblem{fmt::format("'{}' is not a share; try {}", text, range.example)};
    if (*value >= 1 && text.find('%') == std::string_view::npos)
      return SpaceProblem{fmt::format("'{}' would be {}; write {}% or {}", text, format_percent(*value, 0),
                                      text, fmt::format("{:g}", *value / 100))};
    if (*value < range.least || *value > range.most)
      return SpaceProblem{.what = fmt::format("{} is not {}", format_percent(*value), range.range),
                          .impossible = true};
    asked.*member = *value;  // NOLINT(bugprone-optional-value-conversion): the member may be plain
    return std::nullopt;
  };
  row.spell = [=](const Asked& asked) -> std::string {
    if constexpr (std::is_same_v<T, double>) {
      return asked.*member > 0 ? fmt::format("{}", asked.*member) : "";
    } else {
      return asked.*member ? fmt::format("{}", *(asked.*member)) : "";
    }
  };
  return row;
}

AskedField time_limit(AskedField row) {
  row.read = [](std::string_view text, Asked& asked) -> Problem {
    const auto time = parse_time(text);
    if (!time || time->value < 0)
      return SpaceProblem{fmt::format("'{}' is not a time; try 60 or '60 s'", text)};
    asked.time_limit = time;
    return std::nullopt;
  };
  row.spell = [](const Asked& asked) {
    return asked.time_limit ? fmt::format("{}", asked.time_limit->value) : "";
  };
  return row;
}

AskedField memory_limit(AskedField row) {
  row.read = [](std::string_view text, Asked& asked) -> Problem {
    const auto bytes = parse_bytes(text);
    if (!bytes) return SpaceProblem{fmt::format("'{}' is not a size; try '4 GB'", text)};
    asked.memory_limit = bytes;
    return std::nullopt;
  };
  row.spell = [](const Asked& asked) {
    return asked.memory_limit ? fmt::format("{} B", asked.memory_limit->value) : "";
  };
  return row;
}

AskedField without(AskedField row) {
  row.read = [](std::string_view text, Asked& asked) -> Problem {
    std::vector<std::string> list;
    while (!text.empty()) {
      const std::size_t comma = std::min(text.find(','), text.size());
      const std::string name(text.substr(0, comma));
      text.remove_prefix(std::min(comma + 1, text.size()));
      const std::vector<std::string>& known = pruning_names();
      if (std::find(known.begin(), known.end(), name) == known.end())
        return SpaceProblem{
            fmt::format("there is no pruning '{}'; the prunings are {}", name, fmt::join(known, ", "))};
      list.push_back(name);
    }
    asked.without = std::move(list);
    return std::nullopt;
  };
  row.spell = [](const Asked& asked) { return fmt::format("{}", fmt::join(asked.without, ",")); };
  return row;
}

std::vector<AskedField> make_fields() {
  using G = AskedSection;
  std::vector<AskedField> rows{
      whole({"devices", "N", "use N devices: this changes the size of the cluster's outermost level",
             G::training, "devices", true, true},
            &Asked::devices, 1, kMostDevices),
      batch({"global-batch", "G",
             "the number of sequences in a step (default 1024); 512\u00b15%, 480..512 or a list allows any "
             "of them",
             G::training, "global_batch", true, true}),
      whole({"sequence", "S",
             "the number of tokens in a sequence (default: the model's positions, but at most 8192)",
             G::training, "sequence", true, true},
            &Asked::sequence, 1, kMostSequences),
      named<Precision>({"precision", "P", precision_words() + " (default: the recipe's)", G::training,
                        "precision", true, true},
                       &Asked::precision, find_precision, precision_names()),
      named<Optimizer>({"optimizer", "O", "adam (adamw is the same) or sgd (default: the recipe's)",
                        G::training, "optimizer", true, true},
                       &Asked::optimizer, find_optimizer, optimizer_names())};
  for (const SpaceOption& option : space_options()) rows.push_back(choice(option));
  rows.push_back(
      on_or_off({"uniform", "", "use one strategy for all stages (default)", G::choices, "uniform"},
                [](Asked& asked) -> bool& { return asked.uniform; }));
  rows.push_back(on_or_off(
      {"mixed", "", "allow strategies to differ from stage to stage", G::choices, "mixed", true, true},
      [](Asked& asked) -> bool& { return asked.choices.mixed; }));
  rows.push_back(framework({"for", "FRAMEWORK",
                            "only consider plans that a framework of 'nest export --list' can run, such as "
                            "megatron; megatron@core_v0.16 names a release",
                            G::choices, "for", true, true}));
  rows.push_back(objective(
      {"objective", "WHAT",
       "minimize the step time (step, the default), the number of devices that reach a target (devices), or "
       "what a token costs (cost: the rented devices times the step)",
       G::search, "objective"}));
  rows.push_back(target({"target-tokens-per-s", "X", "the throughput that --objective devices must reach",
                         G::search, "target_tokens_per_s"}));
  rows.push_back(
      share({"fits", "P",
             "only consider plans that fit in memory with this probability, by our errors on measured runs "
             "(default 0.95)",
             G::search, "fits", true, true},
            &Asked::fits, {0.01, 0.99, "95% or 0.95", "between 1 % and 99 %"}));
  rows.push_back(share({"memory-margin", "SHARE",
                        "keep this share of every device's memory free, such as 8%, in place of --fits",
                        G::search, "memory_margin", true, true},
                       &Asked::memory_margin, {0, 0.9, "8% or 0.08", "between 0 and 90 %"}));
  rows.push_back(on_or_off(
      {"risky", "", "allow plans that fit by the estimate alone, without --fits and --memory-margin",
       G::search, "risky", true, true},
      [](Asked& asked) -> bool& { return asked.risky; }));
  rows.push_back(on_or_off(
      {"strict", "", "take the plan with the shortest step even where a simpler one is within 0.5 %",
       G::search, "strict"},
      [](Asked& asked) -> bool& { return asked.strict; }));
  rows.push_back(
      share({"gap", "SHARE",
             "stop when the best plan is within this share of the lower bound, such as 2% (default 0)",
             G::search, "gap"},
            &Asked::gap, {}));
  rows.push_back(time_limit(
      {"time-limit", "S",
       "stop after this many seconds, all searches together, and return the best plan found so far",
       G::search, "time_limit_s"}));
  rows.push_back(
      whole({"work-limit", "N",
             "stop after this much work; unlike a time limit, this gives the same answer on every machine",
             G::search, "work_limit"},
            &Asked::work_limit, 0, kMost));
  rows.push_back(memory_limit(
      {"memory-limit", "SIZE",
       "stop when tables and open nodes take this much memory, and return the best plan found so far "
       "(default 2 GB)",
       G::search, "memory_limit"}));
  rows.push_back(
      whole({"threads", "N", "the number of threads (default: one per core); it does not change the answer",
             G::search, ""},
            &Asked::threads, 0, 1024));
  rows.push_back(
      without({"without", "LIST", "switch prunings off by name; the answer is the same but takes longer",
               G::search, ""}));
  rows.push_back(
      whole({"top", "K", "show the K best plans that differ in a degree (default 1)", G::answer, "top"},
            &Asked::top, 1, 1000));
  rows.push_back(
      whole({"runners-up", "N", "plans to compare the best with, in short", G::answer, "runners_up", false},
            &Asked::runners_up, 0, 1000));
  rows.push_back(word<PipelineModel>(
      {"pipeline-model", "MODEL",
       "the formula for the pipeline: 1f1b (the default, exact for each schedule), sum-max, or paper, "
       "which is (m + p - 1) times the longest stage",
       G::answer, ""},
      &Asked::pipeline_model, {PipelineModel::one_f_one_b, PipelineModel::sum_max, PipelineModel::paper}));
  for (AskedField& field : run_fields()) rows.push_back(std::move(field));
  return rows;
}

}  // namespace

AskedError::AskedError(std::string_view field, SpaceProblem problem, const std::string& hint)
    : InputError("", std::string(field), std::move(problem.what), hint),
      field_(field),
      impossible_(problem.impossible) {}

std::span<const AskedField> asked_fields() {
  static const std::vector<AskedField> kFields = make_fields();
  return kFields;
}

const AskedField* find_asked_field(std::string_view name) {
  std::string dashed(name);
  std::replace(dashed.begin(), dashed.end(), '_', '-');
  const auto all = asked_fields();
  const auto at = std::find_if(all.begin(), all.end(), [&](const AskedField& f) { return f.name == dashed; });
  return at == all.end() ? nullptr : &*at;
}

void set_asked(Asked& asked, std::string_view name, std::string_view text) {
  const AskedField* field = find_asked_field(name);
  if (field == nullptr) {
    std::vector<std::string> known;
    for (const AskedField& f : asked_fields()) known.push_back(f.name);
    throw AskedError(name, {"there is no such field"}, did_you_mean(name, known));
  }
  if (auto problem = field->read(text, asked)) throw AskedError(field->name, std::move(*problem));
}

Value to_value(const Asked& asked) {
  Value v = Value::object();
  for (const AskedField& field : asked_fields()) {
    if (const std::string text = field.spell(asked); !text.empty()) v.set(field.name, text);
  }
  return v;
}

std::optional<SpaceProblem> check_framework(std::string_view name) {
  if (find_framework_rules(name) != nullptr) return std::nullopt;
  const SpelledRelease spelled = split_release(name);
  std::vector<std::string> names;
  for (const FrameworkRules& rules : all_framework_rules()) {
    if (rules.name == spelled.framework)
      return SpaceProblem{find_releases(rules.name)->problem(spelled.release)};
    names.emplace_back(rules.name);
  }
  return none_of(names, spelled.framework);
}

}  // namespace nest::question
