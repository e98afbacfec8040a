// nest calibrate: constants from somebody's own measurements.
#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <utility>

#include "command.hpp"
#include "nest/base/document/yaml_text.hpp"
#include "nest/base/drawing/table.hpp"
#include "nest/base/files.hpp"
#include "nest/base/numbers.hpp"
#include "nest/validate/calibrate/calibrate.hpp"
#include "plan_options.hpp"

namespace nest::cli {
namespace {

using Align = Table::Align;

constexpr std::size_t kMostShown = 12;

// Beside the table that names it, or from where we are.
std::string plan_path(const std::string& plan, const std::vector<MeasuredFile>& files) {
  std::error_code ignored;
  for (const MeasuredFile& file : files) {
    const std::filesystem::path beside = std::filesystem::path(file.name).parent_path() / plan;
    if (std::filesystem::is_regular_file(beside, ignored)) return beside.string();
  }
  return plan;
}

std::string figure(const MeasuredFigure& row, double value) {
  return row.what == "memory" ? format_memory(round_up_bytes(value)) : format(Seconds{value});
}

std::string rows_text(const std::string& title, const std::vector<MeasuredFigure>& rows,
                      const Terminal& terminal) {
  if (rows.empty()) return "";
  Table table({{"measured in"},
               {"what"},
               {"measured", Align::right},
               {"shipped", Align::right},
               {"", Align::right},
               {"calibrated", Align::right},
               {"", Align::right}});
  for (std::size_t i = 0; i < std::min(rows.size(), kMostShown); ++i) {
    const MeasuredFigure& row = rows[i];
    table.add({row.name, row.what, figure(row, row.measured), figure(row, row.predicted),
               format_signed_percent(row.predicted / row.measured - 1), figure(row, row.calibrated),
               format_signed_percent(row.calibrated / row.measured - 1)});
  }
  std::string out = terminal.heading(title) + "\n" + table.str();
  if (rows.size() > kMostShown) out += fmt::format("and {} more; --json has all\n", rows.size() - kMostShown);
  return out + "\n";
}

std::string learnt_text(const Calibration& c, const Terminal& terminal) {
  Table table({{"constant"}, {"times the shipped one", Align::right}, {"80 %", Align::right}});
  bool any = false;
  const auto add = [&](const std::string& name, const Multiple& m) {
    if (!m.moved()) return;
    table.add({name, fmt::format("{:.3f}", m.value), fmt::format("{:.3f} to {:.3f}", m.low, m.high)});
    any = true;
  };
  for (const CalibrationKey& k : kCalibrationKeys) add(k.key, c.*k.member);
  for (const LevelMultiples& l : c.levels) {
    add(l.name + " bandwidth", l.bandwidth);
    add(l.name + " latency", l.latency);
  }
  std::string out = terminal.heading("What was learnt") + "\n";
  out += any ? table.str() : "  nothing that moves a constant (kernel_time and the others stay as shipped)\n";
  for (const std::string& from : c.learnt_from) out += "  " + wrap("from " + from, kTextWidth, 2) + "\n";
  if (c.unknown.empty()) return out;
  out += "\n" + terminal.heading("What stays unknown") + "\n";
  for (const std::string& one : c.unknown) out += "  " + wrap(one, kTextWidth, 2) + "\n";
  return out;
}

std::string file_text(const Calibration& c) {
  return "# Made by 'nest calibrate'; docs/formats/calibration.md\n" + to_yaml(to_value(c));
}

int run_calibrate(const Arguments& arguments, Terminal& terminal) {
  if (!arguments.has("-o") && !arguments.has("--json"))
    throw UsageError("give -o FILE to write the calibration to a file, or --json to print it");
  check_output(arguments, "-o");
  CalibrationQuestion question;
  for (const std::string& file : arguments.positionals) question.files.push_back({file, read_file(file)});
  question.plan = arguments.text("--plan");
  question.unseen = arguments.has("--unseen");
  Warnings warnings;
  question.open = [&](const std::string& plan) {
    OpenPlan open = open_degrees(plan_path(plan, question.files), arguments, warnings);
    return PreparedRun{std::move(open.inputs), std::move(open.plan), 1};
  };
  question.inputs = [&] { return read_plan_inputs(arguments, warnings); };
  CalibrationAnswer answer = calibrate(question);
  terminal.warn(warnings);
  terminal.warn(answer.warnings);
  if (arguments.has("--json")) {
    terminal.json(to_value(answer));
  } else {
    terminal.out(rows_text("Measured and predicted", answer.runs, terminal) +
                 rows_text("Collectives", answer.network, terminal) +
                 learnt_text(answer.calibration, terminal));
  }
  write_output(arguments, "-o", [&] { return file_text(answer.calibration); }, terminal);
  return kOk;
}

}  // namespace

std::vector<Command> calibrate_commands() {
  std::vector<Option> options = input_options();
  std::erase_if(options,
                [](const Option& o) { return o.name == calibration_option().name; });  // it makes one
  options.insert(
      options.begin(),
      {"--plan", "FILE", "the plan that ran, or its degrees: for logs and traces, which do not say it"});
  options.push_back(
      {"--unseen", "",
       "as if no run of a published row's own source had been seen: leaves out constants that were "
       "fitted to them"});
  options.push_back({"-o", "FILE", "the file to write the calibration to"});
  options.push_back(json_option());
  return {
      {"calibrate",
       "FILE...",
       1,
       1000,
       "learn constants from logs, measured runs, traces and benchmarks",
       "Reads what was measured on a cluster and moves a few constants of the cost model towards it. A file "
       "is a "
       "log of Megatron-LM, NeMo, torchtitan, DeepSpeed or the Hugging Face Trainer, a table of measured "
       "runs (CSV "
       "with the columns plan, step_s and memory_gib, or JSON, or the columns of published runs), the output "
       "of "
       "nccl-tests, or a trace of PyTorch's profiler. Few measurements move few constants, and not far. The "
       "answer says what was learnt, how sure it is and what stays unknown. Every command that predicts "
       "steps "
       "or memory on a cluster takes the file with --calibration.",
       std::move(options),
       {{"nest calibrate train.log --plan plan.json -o calibration.yaml", "learn from a log"},
        {"nest calibrate measured.csv --model llama3.1-8b --cluster h100-spine-leaf -o calibration.yaml",
         "learn from measured steps"},
        {"nest calibrate all_reduce.txt --cluster dgx-h100-superpod -o calibration.yaml",
         "learn a network from nccl-tests"},
        {"nest plan --model llama3.1-8b --calibration calibration.yaml", "plan with what was learnt"}},
       run_calibrate}};
}

}  // namespace nest::cli
