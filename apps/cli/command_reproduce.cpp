// nest reproduce: the experiments of the NEST paper, run again.
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <utility>

#include "command.hpp"
#include "nest/api/nest.hpp"
#include "nest/base/closest.hpp"
#include "nest/base/files.hpp"
#include "nest/report/reproduce/experiment_page.hpp"
#include "nest/report/reproduce/experiment_report.hpp"
#include "nest/report/reproduce/published.hpp"
#include "nest/solve/baselines/baselines.hpp"
#include "option_values.hpp"
#include "plan_options.hpp"

namespace nest::cli {
namespace {

constexpr std::int64_t kMostEvaluations = 1'000'000'000;
constexpr std::int64_t kMostNetworkSpeed = 1'000'000;
constexpr const char* kDefaultFolder = "reproduction";
constexpr std::int64_t kReproduceEvaluations = 20'000;  // the whole of it stays below two minutes

// A bar on standard error once it takes longer than two seconds:
//   nest: 12 s [##########----------] 38 of 77: gpt3-175b on 64 devices
class PointsLine {
 public:
  PointsLine(std::size_t all, Terminal& terminal) : all_(all), terminal_(&terminal) {}

  void show(const ExperimentProgress& p) {
    elapsed_ = p.elapsed.value;
    const double now = before_s_ + elapsed_;
    const bool watched = terminal_->watched();
    if (now < (watched ? 0.5 : 2.0) || (shown_ > 0 && now < shown_ + (watched ? 0.2 : 5.0))) return;
    shown_ = now;
    constexpr std::size_t kWidth = 20;
    const std::size_t done = before_ + p.done;
    const std::size_t full = kWidth * done / all_;
    terminal_->progress(fmt::format("nest: {:.0f} s [{}{}] {} of {}: {}", now, std::string(full, '#'),
                                    std::string(kWidth - full, '-'), done, all_, p.what));
  }
  void next(std::size_t points) {
    before_ += points;
    before_s_ += elapsed_;
    elapsed_ = 0;
  }

 private:
  std::size_t all_;
  Terminal* terminal_;
  std::size_t before_ = 0;  // of the experiments that have ended
  double before_s_ = 0;
  double elapsed_ = 0;
  double shown_ = 0;
};

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> words;
  std::size_t at = 0;
  while (true) {
    const std::size_t comma = text.find(',', at);
    words.push_back(text.substr(at, comma - at));
    if (comma == std::string::npos) return words;
    at = comma + 1;
  }
}

// Names of an option's list, each of which must be known.
std::vector<std::string> read_names(const Arguments& arguments, const std::string& option,
                                    const std::vector<std::string>& known) {
  const auto typed = arguments.text(option);
  if (!typed) return {};
  std::vector<std::string> names = split(*typed);
  for (const std::string& name : names) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    const std::string guess = did_you_mean(name, known);
    throw UsageError(
        fmt::format("{}: there is no '{}'; {}", option, name,
                    guess.empty() ? fmt::format("there are {}", fmt::join(known, ", ")) : guess));
  }
  return names;
}

template <class Rows>
std::vector<std::string> names_of(const Rows& rows) {
  std::vector<std::string> names;
  for (const auto& row : rows) names.emplace_back(row.name);
  return names;
}

std::vector<std::string> method_names() {
  std::vector<std::string> names{"nest"};
  for (const auto& part : {names_of(baselines()), names_of(variants())})
    names.insert(names.end(), part.begin(), part.end());
  return names;
}

struct Asked {
  std::vector<std::vector<ExperimentPoint>> experiments;  // points of each
  ExperimentOptions options;
  std::vector<PublishedPoint> published;
  std::string folder;
  std::size_t points = 0;
};

std::vector<const Experiment*> read_experiments(const Arguments& arguments) {
  std::vector<std::string> known = names_of(experiments());
  known.emplace_back("all");
  const std::string& name = arguments.positionals.front();
  if (std::find(known.begin(), known.end(), name) == known.end()) {
    const std::string guess = did_you_mean(name, known);
    throw UsageError("there is no experiment '" + name + "'; " +
                     (guess.empty() ? fmt::format("there are {}", fmt::join(known, ", ")) : guess));
  }
  std::vector<const Experiment*> chosen;
  for (const Experiment& e : experiments())
    if (name == "all" || name == e.name) chosen.push_back(&e);
  return chosen;
}

ExperimentPart read_part(const Arguments& arguments) {
  ExperimentPart part;
  part.models = read_names(arguments, "--models", names_of(paper_models()));
  if (const auto typed = arguments.text("--devices")) {
    const auto devices = read_choice(*typed);
    if (!devices)
      throw UsageError("--devices: '" + *typed +
                       "' is not a number, a list or a range; try 64,128 or 64..256");
    part.devices = *devices;
  }
  return part;
}

void check_profiles(const Asked& asked) {
  const std::string& folder = asked.options.profiles;
  if (folder.empty()) return;
  if (!std::filesystem::is_directory(folder))
    throw InputError(folder, "", "there is no such folder", "--profiles takes a folder of layer profiles");
  for (const auto& points : asked.experiments)
    for (const ExperimentPoint& point : points)
      if (std::filesystem::is_regular_file(profile_of(point, folder))) return;
  throw InputError(folder, "", "no layer profile of this experiment is there",
                   "the first would be " + profile_of(asked.experiments.front().front(), ""));
}

// Made where it is missing, and known to be writable before any work is done.
void prepare_folder(const std::string& folder) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (folder.empty()) throw UsageError("--out: the name of a folder is missing");
  if (fs::exists(folder, error) && !fs::is_directory(folder, error))
    throw InputError(folder, "", "is a file", "--out takes a folder");
  fs::create_directories(folder, error);
  if (error) throw InputError(folder, "", "the folder cannot be made: " + error.message());
  if (::access(folder.c_str(), W_OK) != 0) throw InputError(folder, "", "the folder cannot be written to");
}

// A method, or whose degrees were given.
void read_reference(const Arguments& arguments, ExperimentOptions& options) {
  if (!arguments.has("--relative-to")) return;
  std::vector<std::string> known = method_names();
  for (const DegreesRow& row : options.degrees)
    if (std::find(known.begin(), known.end(), "given " + row.baseline) == known.end())
      known.push_back("given " + row.baseline);
  const std::vector<std::string> names = read_names(arguments, "--relative-to", known);
  if (names.size() != 1) throw UsageError("--relative-to: one method is expected");
  options.relative_to = names.front();
}

Asked read_asked(const Arguments& arguments) {
  Asked asked;
  const std::vector<const Experiment*> chosen = read_experiments(arguments);
  const ExperimentPart part = read_part(arguments);
  for (const Experiment* experiment : chosen) {
    auto points = points_of(*experiment, part);
    asked.points += points.size();
    if (!points.empty()) asked.experiments.push_back(std::move(points));
  }
  if (asked.points == 0) {
    throw UsageError(fmt::format("{} has no point with these models and devices; it has {} on {}",
                                 chosen.front()->name, fmt::join(chosen.front()->models, ", "),
                                 fmt::join(chosen.front()->sweeps.front().devices, ", ")));
  }
  ExperimentOptions& options = asked.options;
  options.methods = read_names(arguments, "--with", method_names());
  options.recipe = arguments.text("--recipe").value_or(options.recipe);
  (void)load_recipe(options.recipe);
  options.pipeline_model = read_pipeline_model(arguments);
  options.calibration = read_calibration_option(arguments);
  options.profiles = arguments.text("--profiles").value_or("");
  options.baseline.evaluations =
      whole_within(arguments, "--evaluations", kReproduceEvaluations, 1, kMostEvaluations);
  options.baseline.seed =
      static_cast<std::uint64_t>(whole_within(arguments, "--seed", 1, 0, kMostEvaluations));
  options.network_speed =
      static_cast<double>(whole_within(arguments, "--network-speed", 1, 1, kMostNetworkSpeed));
  if (const auto file = arguments.text("--degrees")) options.degrees = read_degrees(*file);
  read_reference(arguments, options);
  if (const auto file = arguments.text("--published"))
    asked.published = read_published(*file, read_file(*file));
  check_profiles(asked);
  asked.folder = arguments.text("--out").value_or(kDefaultFolder);
  prepare_folder(asked.folder);
  return asked;
}

// The command line as it was typed, for the page.
std::string typed_command(const Arguments& arguments) {
  std::string text = "nest reproduce " + arguments.positionals.front();
  for (const auto& [option, value] : arguments.values) {
    const bool spaces = value.find(' ') != std::string::npos;
    text += " " + option + (value.empty() ? "" : spaces ? " '" + value + "'" : " " + value);
  }
  return text;
}

std::vector<std::pair<std::string, std::string>> facts_of(const Asked& asked, const Arguments& arguments) {
  return {
      {"command", typed_command(arguments)},
      {"version", "nest " + std::string(version())},
      {"layer costs", asked.options.profiles.empty() ? "estimates of this program"
                                                     : "layer profiles of " + asked.options.profiles},
      {"recipe", asked.options.recipe},
      {"batch", fmt::format("{} sequences a step", format_digits(kExperimentBatch))},
      {"mcmc", fmt::format("{} plans priced at most, seed {}",
                           format_digits(asked.options.baseline.evaluations), asked.options.baseline.seed)}};
}

void write_files(const Experiment& experiment, const ExperimentResult& result, const Asked& asked,
                 const Arguments& arguments, Terminal& terminal) {
  const std::string stem = (std::filesystem::path(asked.folder) / experiment.name).string();
  write_file(stem + ".csv", experiment_csv(result.rows));
  write_file(stem + ".svg", experiment_chart(experiment, result));
  write_file(stem + ".html", experiment_page(experiment, result, facts_of(asked, arguments)));
  terminal.note("nest: wrote " + stem + ".csv, .svg and .html");
}

std::string caption(const Experiment& experiment, const ExperimentResult& result) {
  const std::vector<ExperimentRow>& rows = result.rows;
  std::string text = "throughput relative to " + spell_reference(experiment, result.reference);
  const auto any = [&](auto is) { return std::any_of(rows.begin(), rows.end(), is); };
  if (any([](const ExperimentRow& r) { return r.published.has_value(); })) text += "; published in brackets";
  if (any([](const ExperimentRow& r) { return !r.plan && r.status != "skipped"; }))
    text += "; x: no plan that fits";
  if (any([](const ExperimentRow& r) { return r.status == "skipped"; })) text += "; -: no layer profile";
  return text + "\n";
}

int run_reproduce(const Arguments& arguments, Terminal& terminal) {
  Asked asked = read_asked(arguments);
  PointsLine line(asked.points, terminal);
  asked.options.progress = [&](const ExperimentProgress& p) { line.show(p); };
  Value list = Value::array();
  bool first = true;
  int code = kOk;
  for (const std::vector<ExperimentPoint>& points : asked.experiments) {
    const Experiment& experiment = *points.front().experiment;
    ExperimentResult result = run_experiment(points, asked.options);
    line.next(points.size());
    for (const std::string& bug : result.bugs) {
      terminal.note("nest: this is a bug in nest, not in your input: " + bug);
      code = kBadInput;
    }
    set_beside(result, asked.published);
    write_files(experiment, result, asked, arguments, terminal);
    if (arguments.has("--json")) {
      Value rows = Value::array();
      for (const ExperimentRow& row : result.rows) rows.push(to_value(row));
      Value one = Value::object();
      one.set("name", experiment.name).set("rows", std::move(rows)).set("seconds", result.elapsed.value);
      list.push(std::move(one));
    } else {
      terminal.out((first ? "" : "\n") + terminal.heading(experiment.title) + "\n" +
                   caption(experiment, result) + "\n" + experiment_text(experiment, result.rows));
    }
    first = false;
  }
  if (arguments.has("--json")) {
    Value out = Value::object();
    out.set("experiments", std::move(list));
    terminal.json(out);
  }
  return code;
}

}  // namespace

std::vector<Command> reproduce_commands() {
  return {
      {"reproduce",
       "figure5|figure6|table3|ablation|all",
       1,
       1,
       "repeat the experiments of the NEST paper",
       "Runs the search and the baselines on the experiments of the paper: five models on 64 to 1,024 TPUv4 "
       "devices in a fat tree (figure5), micro-batches of 1 to 8 on 256 of them (figure6), H100 in a "
       "spine-leaf network (table3), and what each part of the search contributes (ablation). A step has "
       "4,096 sequences. All plans are checked and priced in the same way. The command writes "
       "EXPERIMENT.csv, .svg and .html and prints throughputs in the form of the paper: relative to manual "
       "at the smallest scale at which manual fits. Plans are abbreviated: t tensor, p pipeline, d data, z "
       "ZeRO, e expert. docs/reproduction.md compares our figures with the published ones and explains the "
       "differences.",
       {{"--out", "DIR", "the folder to write to, which is created if it is missing (default reproduction)"},
        {"--models", "LIST", "run only these models"},
        {"--devices", "LIST", "run only these numbers of devices: 64,128 or 64..256"},
        {"--with", "METHODS",
         "compare nest only with these: manual, mcmc, alpa, phaze, flat, no-memory, no-zero, .."},
        {"--recipe", "NAME|FILE", "the recipe (default plain: like the paper, without optimizer states)"},
        {"--profiles", "DIR", "take the layer costs from profiles such as DIR/tpuv4_fatTree_bert_mbs1.json"},
        {"--published", "FILE", "a CSV file of published figures to show next to ours"},
        {"--degrees", "FILE",
         "a CSV file of degrees that others chose; each becomes another method (given manual, ..)"},
        {"--relative-to", "METHOD",
         "show throughputs relative to this method (default: manual, and nest for ablation)"},
        {"--network-speed", "N",
         "multiply bandwidths and divide latencies by N (default 1; the paper's artifact corresponds to "
         "1000)"},
        {"--evaluations", "N",
         fmt::format("the number of plans that mcmc prices (default {})",
                     format_digits(kReproduceEvaluations))},
        {"--seed", "N", "the seed of mcmc (default 1)"},
        pipeline_model_option(),
        calibration_option(),
        json_option()},
       {{"nest reproduce figure5", "run the main experiment and write to the folder reproduction"},
        {"nest reproduce all --out results", "run all four experiments in less than two minutes"},
        {"nest reproduce figure5 --models bert-large,llama2-7b --devices 64,128 --with phaze",
         "run a part of an experiment"},
        {"nest reproduce table3 --profiles profiles --published published.csv",
         "use other layer costs, and show the published figures next to ours"}},
       run_reproduce},
  };
}

}  // namespace nest::cli
