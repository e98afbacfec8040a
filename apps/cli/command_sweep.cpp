// nest sweep: what if a field of the inputs were another? The best plan at every combination of values.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <set>
#include <utility>

#include "command.hpp"
#include "nest/base/error.hpp"
#include "nest/base/files.hpp"
#include "nest/price/run/run_cost.hpp"
#include "nest/report/sweep/sweep_chart.hpp"
#include "nest/report/sweep/sweep_findings.hpp"
#include "nest/report/sweep/sweep_page.hpp"
#include "plan_options.hpp"
#include "plan_question.hpp"
#include "stop_search.hpp"

namespace nest::cli {
namespace {

constexpr double kQuietSeconds = 2;

std::vector<SweepAxis> read_axes(const Arguments& arguments) {
  const auto typed = arguments.text("--vary");
  if (!typed) throw UsageError("sweep needs --vary, such as --vary devices=64,128,256");
  std::vector<SweepAxis> axes;
  for (std::size_t begin = 0; begin <= typed->size();) {
    const std::size_t end = std::min(typed->find('\n', begin), typed->size());
    axes.push_back(read_sweep_axis(typed->substr(begin, end - begin)));
    begin = end + 1;
    for (std::size_t i = 0; i + 1 < axes.size(); ++i) {
      if (axes[i].field == axes.back().field)
        throw UsageError("--vary: " + axes[i].field + " is varied twice");
    }
  }
  if (axes.size() > kMostSweepAxes)
    throw UsageError(
        fmt::format("--vary: {} fields are varied, at most {} can be", axes.size(), kMostSweepAxes));
  return axes;
}

std::string existing_rows(const std::string& file) {
  return std::filesystem::exists(file) ? read_file(file) : "";
}

// What was typed, for the page.
std::string command_line(const Sweep& sweep) {
  std::string text = fmt::format("nest sweep --model {} --cluster {}", sweep.base.inputs.model_name(),
                                 sweep.base.inputs.cluster.name());
  for (const AskedField& field : asked_fields()) {
    if (const std::string own = field.spell(sweep.base.asked); !own.empty() && field.name != "threads")
      text += " --" + field.name +
              (field.argument.empty()               ? ""
               : own.find(' ') == std::string::npos ? " " + own
                                                    : " '" + own + "'");
  }
  for (const SweepAxis& axis : sweep.axes) {
    text += " --vary " + axis.field + "=";
    for (std::size_t i = 0; i < axis.values.size(); ++i) text += (i == 0 ? "" : ",") + axis.values[i];
  }
  return text;
}

// Why nothing can be said of what a point costs, though prices are given; empty where it can.
std::string lacking_price(const PlanQuestion& question) {
  try {
    (void)RunCosts(question.asked.run, question.inputs, question.training);
    return "";
  } catch (const InputError& error) {
    return error.what();
  }
}

int run_sweep_command(const Arguments& arguments, Terminal& terminal) {
  std::vector<SweepAxis> axes = read_axes(arguments);
  Warnings warnings;
  Asked asked = read_asked(arguments);
  SweepOptions options;
  options.deadline = Deadline(asked.time_limit);
  const auto threads = static_cast<int>(asked.threads);
  asked.threads = 1;  // of one point: points run side by side
  Sweep sweep{{read_plan_inputs(arguments, warnings), std::move(asked)}, std::move(axes)};
  sweep.base.several_clusters = std::ranges::any_of(
      sweep.axes, [](const SweepAxis& axis) { return axis.field == "cluster" && axis.values.size() > 1; });
  terminal.warn(warnings);
  if (sweep.points() > kMostSweepPoints)
    throw UsageError(fmt::format("--vary: {} points are more than {}", sweep.points(), kMostSweepPoints));
  // Wrong fields and values are told at once, before hours of searching: every value of each axis alone.
  std::size_t wrong = 0;
  std::string first_wrong;
  std::set<std::string> notes;
  for (const SweepAxis& axis : sweep.axes) {
    std::size_t of_axis = 0;
    for (const std::string& value : axis.values) {
      try {
        const PlanQuestion question = question_with(sweep.base, {{axis.field, value}});
        notes.insert(question.notes.begin(), question.notes.end());
        if (const std::string lacks = lacking_price(question); !lacks.empty()) notes.insert(lacks);
      } catch (const InputError& error) {
        if (++of_axis == 1) first_wrong = error.what();
        if (of_axis == axis.values.size()) naming_options([] { throw; });
      }
    }
    wrong += of_axis;
  }
  terminal.warn({notes.begin(), notes.end()});
  if (wrong > 0) terminal.warn({fmt::format("{} of the values cannot be: {}", wrong, first_wrong)});

  const std::filesystem::path folder(arguments.text("--out").value_or("sweep"));
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed) throw InputError("", folder.string(), "the folder cannot be made: " + failed.message());
  const std::string results = (folder / "results.jsonl").string();
  options.threads = threads;
  const std::string before = existing_rows(results);
  if (!arguments.has("--fresh")) options.done = read_sweep_rows(before, sweep);
  std::ofstream file(results, arguments.has("--fresh") ? std::ios::trunc : std::ios::app);
  // A run that was killed may have left half a line.
  if (!arguments.has("--fresh") && !before.empty() && before.back() != '\n') file << '\n';
  if (!file.flush()) throw InputError(results, "", "cannot be written");
  if (!options.done.empty())
    terminal.note(
        fmt::format("nest: {} of {} points are in {}", options.done.size(), sweep.points(), results));

  const StopSearch stop(options.deadline);
  const auto start = std::chrono::steady_clock::now();
  double shown = 0;
  std::size_t done = options.done.size();
  std::size_t broken_off = 0;
  const std::vector<SweepRow> rows = run_sweep(sweep, options, [&](const SweepRow& row) {
    if (row.broken_off) {
      ++broken_off;
      return;
    }
    file << to_json_line(to_value(row, sweep)) + "\n" << std::flush;
    ++done;
    const double now = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (now < (terminal.watched() ? 0.5 : kQuietSeconds) || now < shown + (terminal.watched() ? 0.2 : 2))
      return;
    shown = now;
    const auto left = static_cast<double>(sweep.points() - done);
    const double each = now / static_cast<double>(done - options.done.size());
    terminal.progress(
        fmt::format("nest: {} of {} points, about {:.0f} s left", done, sweep.points(), left * each));
  });
  terminal.end_progress();
  if (!file.flush()) throw InputError(results, "", "could not be written whole; is the disk full?");
  write_file((folder / "results.csv").string(), sweep_csv(sweep, rows));
  write_file((folder / "sweep.html").string(), sweep_page(sweep, rows, command_line(sweep)));
  write_output(arguments, "--svg", [&] { return sweep_chart(sweep, rows); }, terminal);
  if (arguments.has("--json")) {
    Value list = Value::array();
    for (const SweepRow& row : rows) list.push(to_value(row, sweep));
    Value out = Value::object();
    out.set("points", static_cast<std::int64_t>(sweep.points())).set("rows", std::move(list));
    terminal.json(out);
  } else {
    terminal.out(sweep_text(sweep, rows));
  }
  const auto unproved =
      std::count_if(rows.begin(), rows.end(), [](const SweepRow& row) { return row.status == "feasible"; });
  if (unproved > 0)
    terminal.note(fmt::format("nest: {} of the plans {} not proved to be the best (status feasible)",
                              unproved, unproved == 1 ? "is" : "are"));
  terminal.note(fmt::format("nest: wrote {}, results.csv and sweep.html", results));
  if (const std::size_t finished = rows.size() - broken_off; finished < sweep.points()) {
    terminal.note(fmt::format("nest: {} after {} of {} points; run the same command again to continue",
                              stop.interrupted() ? "interrupted" : "stopped at a limit", finished,
                              sweep.points()));
    return kLimit;
  }
  return kOk;
}

}  // namespace

std::vector<Command> sweep_commands() {
  std::vector<Option> options{
      {"--vary", "FIELD=VALUES",
       "a field and its values: a,b,c or A..B:N or A..B:logN; can be given up to three times", true},
      {"--out", "DIR", "the folder for results.jsonl, results.csv and sweep.html (default sweep)"},
      {"--fresh", "", "start again and discard the points that DIR already has"}};
  for (Option& option : input_options()) options.push_back(std::move(option));
  for (Option& option :
       asked_options({AskedSection::training, AskedSection::choices, AskedSection::search}, kOfPlanOnly))
    options.push_back(std::move(option));
  for (Option& option : asked_options({AskedSection::run}, kOfSizeOnly)) options.push_back(std::move(option));
  options.push_back(pipeline_model_option());
  options.push_back(svg_option());
  options.push_back(json_option());
  return {
      {"sweep",
       "",
       0,
       0,
       "find the best plan for each value of an input field",
       "Plans every combination of values of up to three input fields and shows where more of one stops "
       "helping, together with the Pareto front and, with --price, what a trillion tokens cost. The fields "
       "are model, cluster and recipe (names or files), "
       "devices, global-batch, sequence, precision, optimizer, for, every choice of the plan space (tensor, "
       "zero, ..), and any key in the input files: cluster.levels.2.bandwidth (a level by number or name), "
       "cluster.accelerator.memory, recipe.overlap.tensor, or model.num_hidden_layers if the model is a "
       "file. Each point is written to DIR/results.jsonl as soon as it is known, so the same command "
       "continues after an interruption. All points share the time limit. The exit code is 4 if the "
       "command was interrupted or a limit was reached before all points were finished.",
       std::move(options),
       {{"nest sweep --vary cluster.levels.2.bandwidth=12.5GB/s..400GB/s:log6 --vary devices=256,1024",
         "find where more spine bandwidth stops helping"},
        {"nest sweep --model llama2-7b --devices 64 --vary cluster.accelerator.memory=16GB..96GB:6",
         "find how much memory is enough"},
        {"nest sweep --vary model=llama2-7b,llama2-13b --vary zero=0,1,3 --svg sweep.svg",
         "vary models and choices"},
        {"nest sweep --vary cluster=dgx-h100-superpod,dgx-b200-superpod --devices 256 --price "
         "h100-sxm=2.5,b200=5",
         "compare clusters of equal size, and what they cost"}},
       run_sweep_command}};
}

}  // namespace nest::cli
