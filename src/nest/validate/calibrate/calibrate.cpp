#include "nest/validate/calibrate/calibrate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "nest/base/plain_text.hpp"
#include "nest/validate/calibrate/kineto_trace.hpp"
#include "nest/validate/calibrate/training_log.hpp"

namespace nest::validate {
namespace {

struct Collected {
  const CalibrationQuestion& question;
  std::vector<MeasuredRun> runs;
  std::vector<NamedTest> tests;
  CalibrationAnswer& answer;
};

const std::string& plan_of(const Collected& all, const MeasuredFile& file, const char* what) {
  if (!all.question.plan)
    throw InputError(file.name, "", fmt::format("{} does not say which plan ran", what),
                     "give it with --plan FILE: a plan, or its degrees");
  return *all.question.plan;
}

void learnt(Collected& all, const MeasuredFile& file, const std::string& sentence) {
  all.answer.calibration.learnt_from.push_back(printable(file.name) + ": " + sentence);
}

void read_log(const MeasuredFile& file, Collected& all) {
  MeasuredRun run{.name = file.name, .run = all.question.open(plan_of(all, file, "a log"))};
  const Training& t = run.run.plan.training;
  const LogReading log = read_training_log(file.name, file.text,
                                           {t.global_batch, t.sequence, run.run.plan.parallelism.devices()});
  run.step = log.step();
  run.memory = log.memory;
  std::string sentence = fmt::format("{} line{} of {}, {} a step", log.steps.size(),
                                     log.steps.size() == 1 ? "" : "s", log.format, format(log.step()));
  if (log.steps.size() > 1) sentence += fmt::format(" ({} to {})", format(log.low()), format(log.high()));
  if (log.dropped > 0)
    sentence += fmt::format("; {} line{} of the warm-up left out", log.dropped, log.dropped == 1 ? "" : "s");
  if (log.memory)
    sentence += fmt::format("; {} {}", format_memory(log.memory->bytes), name_of(log.memory->kind));
  learnt(all, file, sentence);
  all.runs.push_back(std::move(run));
}

void read_trace(const MeasuredFile& file, Collected& all) {
  MeasuredRun run{.name = file.name, .run = all.question.open(plan_of(all, file, "a trace"))};
  const KinetoTrace trace = read_kineto_trace(file.name, file.text);
  run.step = trace.step;
  run.compute = trace.compute;
  if (trace.alone.value > 0) run.alone = trace.alone;
  learnt(all, file,
         fmt::format("{} profiled step{}, {} each: kernels {}, communication alone {}, nothing {}",
                     trace.steps, trace.steps == 1 ? "" : "s", format(trace.step), format(trace.compute),
                     format(trace.alone), format(trace.idle)));
  all.runs.push_back(std::move(run));
}

void add_rows(const MeasuredFile& file, std::vector<MeasuredRun> rows, Collected& all) {
  learnt(all, file, fmt::format("{} measured run{}", rows.size(), rows.size() == 1 ? "" : "s"));
  for (MeasuredRun& row : rows) all.runs.push_back(std::move(row));
}

void read_csv(const MeasuredFile& file, Collected& all) {
  add_rows(
      file,
      read_measured_csv(file.name, file.text, all.question.open, all.question.unseen, all.answer.warnings),
      all);
}

void read_json(const MeasuredFile& file, Collected& all) {
  add_rows(file, read_measured_json(file.name, file.text, all.question.open), all);
}

void read_tests(const MeasuredFile& file, Collected& all) {
  for (NcclTest& test : read_nccl_tests(file.name, file.text)) {
    learnt(all, file,
           fmt::format("{} sizes of a collective over {} ranks on {} host{}", test.rows.size(), test.ranks,
                       test.hosts, test.hosts == 1 ? "" : "s"));
    all.tests.push_back({file.name, std::move(test)});
  }
}

// The first kind that a file is.
struct Kind {
  bool (*is)(const MeasuredFile& file);
  void (*read)(const MeasuredFile& file, Collected& all);
};
constexpr std::array<Kind, 5> kKinds{{
    {[](const MeasuredFile& f) { return f.name.ends_with(".csv"); }, read_csv},
    {[](const MeasuredFile& f) { return is_nccl_tests(f.text); }, read_tests},
    {[](const MeasuredFile& f) { return is_kineto_trace(f.text); }, read_trace},
    {[](const MeasuredFile& f) { return f.name.ends_with(".json"); }, read_json},
    {[](const MeasuredFile&) { return true; }, read_log},
}};

void check_text(const MeasuredFile& file) {
  if (file.text.starts_with("\x1f\x8b"))
    throw InputError(file.name, "", "this is compressed", "unpack it first, with gunzip");
  if (file.text.find('\0') != std::string::npos) throw InputError(file.name, "", "this is no text");
  if (file.text.find_first_not_of(" \t\r\n") == std::string::npos)
    throw InputError(file.name, "", "the file is empty");
}

Value rows_value(const std::vector<MeasuredFigure>& rows) {
  Value list = Value::array();
  for (const MeasuredFigure& row : rows) {
    const std::string unit = row.what == "memory" ? "_bytes" : "_s";
    Value v = Value::object();
    v.set("name", row.name).set("what", row.what).set("measured" + unit, row.measured);
    v.set("shipped" + unit, row.predicted).set("calibrated" + unit, row.calibrated);
    list.push(std::move(v));
  }
  return list;
}

}  // namespace

CalibrationAnswer calibrate(const CalibrationQuestion& question) {
  CalibrationAnswer answer;
  Collected all{question, {}, {}, answer};
  for (const MeasuredFile& file : question.files) {
    check_text(file);
    std::find_if(kKinds.begin(), kKinds.end(), [&](const Kind& kind) {
      return kind.is(file);
    })->read(file, all);
  }
  Calibration& c = answer.calibration;
  std::vector<std::string> learnt_from = std::move(c.learnt_from);
  // Benchmarks say more of the network than steps do: runs are compared with what they found.
  Calibration network;
  if (!all.tests.empty()) {
    const PlanInputs inputs = question.inputs();
    NetworkFit fit = fit_network(inputs.cluster, inputs.recipe, all.tests);
    network.levels = std::move(fit.levels);
    answer.network = std::move(fit.rows);
    if (all.runs.empty()) c.unknown.emplace_back("kernels, the host and memory: no run was measured");
  }
  if (!all.runs.empty()) {
    for (MeasuredRun& run : all.runs)
      apply_calibration(network, run.run.inputs.recipe, run.run.inputs.cluster);
    RunsFit fit = fit_runs(all.runs);
    c = std::move(fit.calibration);
    answer.runs = std::move(fit.rows);
  }
  c.levels = std::move(network.levels);
  c.learnt_from = std::move(learnt_from);
  return answer;
}

Value to_value(const CalibrationAnswer& answer) {
  Value v = Value::object();
  v.set("calibration", to_value(answer.calibration));
  v.set("runs", rows_value(answer.runs)).set("network", rows_value(answer.network));
  return v;
}

}  // namespace nest::validate
