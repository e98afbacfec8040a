// nest validate: our predictions against published measurements.

#include "command.hpp"
#include "nest/base/files.hpp"
#include "nest/validate/collectives/collective_rows.hpp"
#include "nest/validate/collectives/collective_runs.hpp"
#include "nest/validate/collectives/dispatch_runs.hpp"
#include "nest/validate/scatter.hpp"
#include "nest/validate/validate_memory.hpp"
#include "nest/validate/validate_runs.hpp"
#include "plan_options.hpp"
#include "validate_text.hpp"

namespace nest::cli {
namespace {

constexpr double kGib = 1024.0 * 1024 * 1024;

template <class Validation>
void show(const Validation& validation, std::int64_t scored, const std::string& file,
          const Arguments& arguments, Terminal& terminal) {
  if (scored == 0) terminal.warn({file + ": no row can be scored"});
  if (arguments.has("--json")) {
    terminal.json(to_value(validation));
  } else {
    terminal.out(validation_text(validation, terminal));
  }
}

std::string picture(const CollectiveRuns& runs) {
  std::vector<ScatterPoint> points;
  for (const CollectiveResult& r : runs.rows) {
    if (r.scored()) points.push_back({r.id, r.stratum, r.measured.value, r.predicted.value});
  }
  return scatter("Collectives: predicted against measured time", "s", points);
}

std::string picture(const RunValidation& runs) {
  std::vector<ScatterPoint> points;
  for (const RunResult& r : runs.rows) {
    if (r.scored())
      points.push_back({r.row.id, r.row.accelerator, r.measured.value, r.prediction.step.value});
  }
  return scatter("Published runs: predicted against measured step time", "s", points);
}

std::string picture(const MemoryValidation& memory) {
  std::vector<ScatterPoint> points;
  for (const MemoryResult& r : memory.rows) {
    if (!r.scored() || r.kind == MemoryKind::out_of_memory) continue;
    points.push_back({r.row.id, std::string(name_of(r.kind)), static_cast<double>(r.measured.value) / kGib,
                      static_cast<double>(r.predicted.value) / kGib});
  }
  return scatter("Published runs: predicted against measured memory", "GiB", points);
}

int run_validate(const Arguments& arguments, Terminal& terminal) {
  std::vector<std::string> given;
  for (const char* option : {"--runs", "--memory", "--collectives", "--dispatch"}) {
    if (arguments.has(option)) given.emplace_back(option);
  }
  if (given.empty()) {
    throw UsageError(
        "validate: --runs, --memory, --collectives or --dispatch FILE is missing; see 'nest validate "
        "--help'");
  }
  if (given.size() > 1)
    throw UsageError("validate: " + given[0] + " and " + given[1] + " exclude each other");
  const std::string file = *arguments.text(given.front());
  const std::string text = read_file(file);
  const bool all = arguments.has("--all");
  const ValidationOptions options{.all = all, .calibration = read_calibration_option(arguments)};
  if (given.front() == "--collectives" || given.front() == "--dispatch") {
    const CollectiveRuns runs = given.front() == "--dispatch"
                                    ? check_dispatches(file, text)
                                    : check_collectives(read_collective_rows(file, text), {.all = all});
    show(runs, runs.all.rows, file, arguments, terminal);
    write_output(arguments, "--svg", [&] { return picture(runs); }, terminal);
  } else if (given.front() == "--runs") {
    const RunValidation runs = validate_runs(read_run_rows(file, text, RunTable::times), price_run, options);
    show(runs, runs.headline.rows, file, arguments, terminal);
    write_output(arguments, "--svg", [&] { return picture(runs); }, terminal);
  } else {
    const MemoryValidation memory =
        validate_memory(read_run_rows(file, text, RunTable::memory), price_run, options);
    show(memory, memory.all.rows, file, arguments, terminal);
    write_output(arguments, "--svg", [&] { return picture(memory); }, terminal);
  }
  return kOk;
}

}  // namespace

std::vector<Command> validate_commands() {
  return {
      {"validate",
       "",
       0,
       0,
       "compare predictions with published measurements",
       "Predicts each row of a table of published measurements and reports the error of each row and of "
       "groups of rows, next to the errors of a model that has only constants. The table has training runs "
       "(step time or throughput), the memory of training runs, or collectives (from nccl-tests, for "
       "instance). Rows that the table marks as unusable and messages below 1 MB are scored only with --all.",
       {{"--runs", "FILE", "a CSV file with measured training runs"},
        {"--memory", "FILE", "a CSV file with the measured memory of training runs"},
        {"--collectives", "FILE", "a CSV file with measured collectives"},
        {"--dispatch", "FILE", "a CSV file with measured dispatches and combines of tokens to experts"},
        {"--calibration", "FILE", "with constants learnt by 'nest calibrate' (--runs and --memory)"},
        {"--all", "", "also score unusable rows and small messages"},
        svg_option(),
        json_option()},
       {{"nest validate --runs runs.csv", "show errors of step times by row, accelerator and framework"},
        {"nest validate --memory memory.csv --svg memory.svg", "show errors of memory, and draw them"},
        {"nest validate --collectives collectives.csv", "show errors of collectives"}},
       run_validate},
  };
}

}  // namespace nest::cli
