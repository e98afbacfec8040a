// What somebody asks of a model, a cluster and a recipe, before defaults and checks: a plain value, the same
// whoever asks. make_question turns it into a question.
//
// Every field is one row of a table: its name, its text, and how its values are read. The options of the
// command line and their help, the keys of requests to the server and the axes of sweeps all come from it.
//
//   Asked asked;
//   asked.devices = 64;
//   set_asked(asked, "pipeline", "2..16");
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nest/base/document/value.hpp"
#include "nest/base/error.hpp"
#include "nest/price/run/run_terms.hpp"
#include "nest/question/search_options.hpp"
#include "nest/question/search_space.hpp"
#include "nest/question/space_options.hpp"
#include "nest/recipe/recipe.hpp"

namespace nest::question {

// How likely a plan fits in memory where nothing else is asked.
inline constexpr double kDefaultFits = 0.95;

struct Asked {
  std::optional<std::int64_t> devices;       // none: all of the cluster
  std::optional<std::int64_t> global_batch;  // sequences of a step; none: 1,024
  std::vector<std::int64_t> batches;         // where it may be any of several: all, that one first
  std::optional<std::int64_t> sequence;      // tokens; none: the model's positions, at most 8,192
  Contents contents;                         // of a sequence
  std::optional<Precision> precision;        // none: the recipe's
  std::optional<Optimizer> optimizer;        // none: the recipe's
  Tuning tuning;                             // what of the model is trained
  bool mtp = false;                          // with its modules for multi-token prediction
  SearchSpace choices;                       // without rules: `framework` brings them
  bool uniform = false;                      // says so: not together with choices.mixed
  std::string framework;                     // "megatron": only plans that it can run; empty: all
  std::optional<Objective> objective;        // none: devices where there is a target, else the step
  std::optional<double> target_tokens_per_s;
  std::optional<double> fits;           // how likely a plan must fit in memory; none: kDefaultFits
  std::optional<double> memory_margin;  // a share of a device's memory, in place of `fits`
  bool risky = false;                   // plans fit by the estimate alone, whatever the two say
  bool strict = false;                  // no simpler plan in place of the best
  double gap = 0;                       // a share
  std::optional<Seconds> time_limit;
  std::optional<std::int64_t> work_limit;
  std::optional<Bytes> memory_limit;  // none: kDefaultMemoryLimit
  std::int64_t threads = 0;           // 0: one for each core
  std::vector<std::string> without;   // prunings
  std::int64_t top = 1;
  std::int64_t runners_up = 0;  // none where there is a gap or a target: steps are not compared then
  PipelineModel pipeline_model = PipelineModel::one_f_one_b;
  RunTerms run;  // prices, power and failures: they change no plan, only what is said of it
};

// What is wrong with one field. Front ends say in their own way which one it is: --devices, a line of a
// request, a value of a sweep.
class AskedError : public InputError {
 public:
  AskedError(std::string_view field, SpaceProblem problem, const std::string& hint = {});

  [[nodiscard]] const std::string& field() const { return field_; }
  // Understood, but out of range or not to be had; else the words themselves make no sense.
  [[nodiscard]] bool impossible() const { return impossible_; }

 private:
  std::string field_;
  bool impossible_;
};

// Where a field has its place in help and documentation.
enum class AskedSection { training, choices, search, answer, run };

struct AskedField {
  std::string name;      // "global-batch"; on the command line --global-batch
  std::string argument;  // "G"; empty: a switch, whose value is on or off
  std::string text;      // its values, and the default
  AskedSection group = AskedSection::training;
  std::string key;      // of a request: "global_batch"; empty: not for requests
  bool option = true;   // of the command line
  bool varies = false;  // may be varied in a sweep
  bool files = false;   // its text may name a file, which nobody may ask of a server
  // Puts the values of a text into what is asked, or says why it cannot.
  std::function<std::optional<SpaceProblem>(std::string_view, Asked&)> read;
  // As `read` takes it; empty where nothing is asked.
  std::function<std::string(const Asked&)> spell;
};

// All fields in the order of the help.
[[nodiscard]] std::span<const AskedField> asked_fields();
// By name, with - or _; null where there is none.
[[nodiscard]] const AskedField* find_asked_field(std::string_view name);

// Throws an AskedError where there is no such field or the text is no value of it.
void set_asked(Asked& asked, std::string_view name, std::string_view text);

// {"devices": "64", "tensor": "1,2"}: all that is asked, in the words of set_asked.
[[nodiscard]] Value to_value(const Asked& asked);

// Why this is no name of a framework.
[[nodiscard]] std::optional<SpaceProblem> check_framework(std::string_view name);

}  // namespace nest::question
