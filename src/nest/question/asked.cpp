#include "nest/question/asked.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <type_traits>
#include <utility>

#include "nest/base/closest.hpp"
#include "nest/base/numbers.hpp"
#include "nest/base/units.hpp"
#include "nest/question/asked_batch.hpp"
#include "nest/question/asked_contents.hpp"
#include "nest/question/asked_rows.hpp"
#include "nest/question/asked_run.hpp"

namespace nest::question {
namespace {

using Problem = std::optional<SpaceProblem>;

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMostDevices = 1'000'000'000;

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

AskedField tuning(AskedField row, std::string (*read)(std::string_view, Tuning&),
                  std::string (*spell)(const Tuning&)) {
  row.read = [read](std::string_view text, Asked& asked) -> Problem {
    std::string problem = read(text, asked.tuning);
    return problem.empty() ? Problem() : SpaceProblem{std::move(problem)};
  };
  row.spell = [spell](const Asked& asked) { return spell(asked.tuning); };
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
      batch_field(
          {"global-batch", "G",
           "the number of sequences in a step (default 1024); 512\u00b15%, 480..512 or a list allows any "
           "of them",
           G::training, "global_batch", true, true}),
      whole({"sequence", "S",
             "the number of tokens in a sequence, such as 4096, 128K or 1M (default: the model's positions, "
             "but "
             "at most 8192)",
             G::training, "sequence", true, true},
            &Asked::sequence, 1, kMostSequences, parse_length)};
  for (AskedField& field : contents_fields()) rows.push_back(std::move(field));
  rows.push_back(named<Precision>({"precision", "P", precision_words() + " (default: the recipe's)",
                                   G::training, "precision", true, true},
                                  &Asked::precision, find_precision, precision_names()));
  rows.push_back(
      named<Optimizer>({"optimizer", "O", "adam (adamw is the same), sgd or muon (default: the recipe's)",
                        G::training, "optimizer", true, true},
                       &Asked::optimizer, find_optimizer, optimizer_names()));
  rows.push_back(
      tuning({"train", "WHAT",
              "train all of the model (all, the default), adapters of a rank beside products (lora:16, or "
              "lora:16:q_proj+v_proj; without names, beside the attention's projections), or some of its "
              "layers ('layers 24..')",
              G::training, "train", true, true},
             read_train, spell_train));
  rows.push_back(
      tuning({"freeze", "PARTS",
              "parts of the model that stay as they are, such as embedding, head, vision, router or "
              "'layers 0..11'",
              G::training, "freeze"},
             read_freeze, spell_freeze));
  rows.push_back(tuning({"frozen-bits", "BITS",
                         "hold the weights of products that are not trained in 4, 8 or 16 bits (default 16)",
                         G::training, "frozen_bits", true, true},
                        read_frozen_bits, [](const Tuning& t) {
                          return t.frozen_bits == Tuning().frozen_bits ? "" : std::to_string(t.frozen_bits);
                        }));
  rows.push_back(
      on_or_off({"mtp", "", "train the model's modules for multi-token prediction too, in the last stage",
                 G::training, "mtp", true, true},
                [](Asked& asked) -> bool& { return asked.mtp; }));
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
            &Asked::fits, {0.01, 1, "95% or 0.95", "between 1 % and 100 %", true}));
  rows.push_back(share({"memory-margin", "SHARE",
                        "keep this share of every device's memory free, such as 8%, in place of --fits",
                        G::search, "memory_margin", true, true},
                       &Asked::memory_margin, {0, 0.9, "8% or 0.08", "between 0 and 90 %"}));
  rows.push_back(on_or_off(
      {"risky", "", "allow plans that fit by the estimate alone, without --fits and --memory-margin",
       G::search, "risky", true, true},
      [](Asked& asked) -> bool& { return asked.risky; }));
  rows.push_back(on_or_off(
      {"strict", "",
       "take the plan with the shortest step even where a simpler one, or one with fewer devices that wait "
       "less, takes hardly longer",
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
