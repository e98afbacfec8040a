#include "nest/validate/calibrate/fit_runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "nest/base/error.hpp"
#include "nest/base/numbers.hpp"
#include "nest/price/uncertainty.hpp"
#include "nest/validate/calibrate/evidence_fit.hpp"
#include "nest/validate/runs/run_predictor.hpp"

namespace nest::validate {
namespace {

// Of the variance of our errors on published runs (data/uncertainty.yaml) about a third lies between runs of one source,
// and the rest between sources (docs/calibration.md).
constexpr double kWithinSource = 0.6;
constexpr double kBetweenSources = 0.75;
// What a profiler measures on one device of many, besides.
constexpr double kProfiled = 0.1;

// Of a layer profile nothing was compared yet.
constexpr double kUnknown = 0.05;

// Constants that steps may move, with the width of what is believed of them before.
struct Movable {
  Multiple Calibration::* member;
  const char* key;
  double prior;
};
constexpr std::array<Movable, 4> kMovable{{
    {&Calibration::kernel_time, "kernel_time", 0.05},  // between sources of dense models
    {&Calibration::network_time, "network_time", 0.2},
    {&Calibration::host_time, "host_time", 0.15},  // fitted values range from 1 to 1.8
    {&Calibration::zero_time, "zero_time", 0.5},   // and of this one from 1 to 8
}};

// A standard deviation of the logarithm of measured over predicted, by the middle 80 % of runs.
double width_of(const Spread& spread) {
  return std::log(spread.high() / spread.low()) / (2 * 1.2816);
}

RunPrediction priced(const MeasuredRun& run, const Calibration& calibration) {
  PreparedRun moved = run.run;
  apply_calibration(calibration, moved.inputs.recipe, moved.inputs.cluster);
  RunPrediction out = price_run(moved);
  if (!out.why_not.empty()) throw InputError(run.name, "", out.why_not);
  if (!(out.step.value > 0)) throw InputError(run.name, "", "no step time is predicted for this plan");
  return out;
}

// What one figure of a run is compared with.
struct Figure {
  const char* what;
  std::optional<Seconds> MeasuredRun::* measured;
  Seconds (*predicted)(const RunPrediction& p);
  double noise;  // besides that of steps
};
constexpr std::array<Figure, 3> kFigures{{
    {"step", &MeasuredRun::step, [](const RunPrediction& p) { return p.step; }, 0},
    {"compute", &MeasuredRun::compute,
     [](const RunPrediction& p) { return p.compute() - p.breakdown.bubble; }, kProfiled},
    {"communication", &MeasuredRun::alone, [](const RunPrediction& p) { return p.step - p.compute(); },
     kProfiled},
}};

struct Row {
  const MeasuredRun* run;
  const Figure* figure;
};

// A step of which nothing is predicted is as short as can be.
double logarithm(Seconds time) {
  return std::log(std::max(time.value, 1e-9));
}

void check_alike(std::span<const MeasuredRun> runs) {
  for (const MeasuredRun& r : runs) {
    const PlanInputs& first = runs.front().run.inputs;
    const PlanInputs& own = r.run.inputs;
    const auto refuse = [&](const std::string& what, const std::string& a, const std::string& b) {
      throw InputError(r.name, "",
                       fmt::format("this is of {} and others are of {}: their {} differ", b, a, what),
                       "calibrate them apart");
    };
    if (own.recipe.framework != first.recipe.framework)
      refuse("frameworks", first.recipe.framework, own.recipe.framework);
    if (own.cluster.device_name() != first.cluster.device_name())
      refuse("accelerators", first.cluster.device_name(), own.cluster.device_name());
  }
}

std::optional<RunTraits> traits_of(const MeasuredRun& run) {
  return price::traits_of(run.run.inputs, run.run.plan.training, run.run.plan.parallelism.devices());
}

// How far steps lie from predictions; layer profiles are the user's own, and have no spread.
double step_noise(const MeasuredRun& run) {
  const auto traits = traits_of(run);
  return kWithinSource * (traits ? width_of(time_spread(*traits)) : kUnknown);
}

std::vector<Row> time_rows(std::span<const MeasuredRun> runs) {
  std::vector<Row> rows;
  for (const MeasuredRun& run : runs) {
    for (const Figure& figure : kFigures) {
      if (run.*figure.measured) rows.push_back({&run, &figure});
    }
  }
  return rows;
}

// Figures that stay far from what is predicted: a unit or the plan is wrong, or something that has no constant.
bool name_odd_figures(RunsFit& out) {
  constexpr double kOdd = 2;
  bool any = false;
  for (const MeasuredFigure& row : out.rows) {
    const double times = row.measured / row.calibrated;
    if (times < kOdd && times > 1 / kOdd) continue;
    any = true;
    out.calibration.unknown.insert(
        out.calibration.unknown.begin(),
        fmt::format("why the {} of {} is {:.3g} times what is predicted: no constant explains it; are plan, "
                    "model and units right?",
                    row.what, row.name, times));
  }
  return any;
}

void fit_times(std::span<const MeasuredRun> runs, RunsFit& out) {
  const std::vector<Row> rows = time_rows(runs);
  if (rows.empty()) {
    out.calibration.unknown.emplace_back("all times: no step was measured");
    return;
  }
  FitProblem problem;
  for (const Row& row : rows) {
    problem.noise.push_back(std::hypot(step_noise(*row.run), row.figure->noise));
    problem.measured.push_back(logarithm(*(row.run->*row.figure->measured)));
  }
  for (const Movable& m : kMovable) problem.prior.push_back(m.prior);
  const auto with = [](std::span<const double> at) {
    Calibration c;
    for (std::size_t k = 0; k < kMovable.size(); ++k) (c.*kMovable[k].member).value = std::exp(at[k]);
    return c;
  };
  const auto predict = [&](const Calibration& c) {
    std::vector<double> logs;
    const MeasuredRun* last = nullptr;
    RunPrediction prediction;
    for (const Row& row : rows) {
      if (row.run != last) prediction = priced(*row.run, c);
      last = row.run;
      logs.push_back(logarithm(row.figure->predicted(prediction)));
    }
    return logs;
  };
  problem.predict = [&](std::span<const double> at) { return predict(with(at)); };
  const Fit fit = fit_constants(problem);
  Calibration& c = out.calibration;
  bool moved = false;
  for (std::size_t k = 0; k < kMovable.size(); ++k) {
    const Movable& m = kMovable[k];
    if (fit.values[k] != 0) {
      c.*m.member = multiple_of(fit, k);
      moved = true;
    } else {
      c.unknown.push_back(fmt::format("{}: a change of 10 % would change what was measured by {}", m.key,
                                      format_percent(0.1 * std::abs(fit.sensitivity[k]))));
    }
  }
  const std::vector<double> shipped = predict({});
  const std::vector<double> after = problem.predict(fit.values);
  for (std::size_t i = 0; i < rows.size(); ++i)
    out.rows.push_back({rows[i].run->name, rows[i].figure->what, std::exp(problem.measured[i]),
                        std::exp(shipped[i]), std::exp(after[i])});
  const bool odd = name_odd_figures(out);
  if (!moved && !odd)
    c.unknown.insert(
        c.unknown.begin(),
        "whether any constant is off: what was measured lies within what is expected of the shipped ones");
}

// Figures of memory have one constant.
void fit_memory(std::span<const MeasuredRun> runs, RunsFit& out) {
  FitProblem problem;
  std::vector<const MeasuredRun*> rows;
  std::vector<double> shipped;
  double between = 0;
  for (const MeasuredRun& run : runs) {
    if (!run.memory || run.memory->kind == MemoryKind::out_of_memory) continue;
    const Bytes predicted = predicted_bytes(run.memory->kind, run.run, priced(run, {}));
    // Allocators reserve what they can get: more than is predicted says nothing of the need, less does.
    if (run.memory->kind == MemoryKind::reserved && run.memory->bytes > predicted) {
      out.calibration.unknown.push_back(
          fmt::format("whether {} needs more memory than the {} that are predicted: {} were reserved, and an "
                      "allocator reserves what it can get; what is allocated would tell",
                      run.name, format_memory(predicted), format_memory(run.memory->bytes)));
      continue;
    }
    const auto traits = traits_of(run);
    const Spread* spread = traits ? memory_spread(*traits) : nullptr;
    const double all = spread != nullptr ? width_of(*spread) : kUnknown;
    rows.push_back(&run);
    shipped.push_back(std::log(static_cast<double>(predicted.value)));
    problem.measured.push_back(std::log(static_cast<double>(run.memory->bytes.value)));
    problem.noise.push_back(kWithinSource * all);
    between = std::max(between, kBetweenSources * all);
  }
  const bool any =
      std::any_of(runs.begin(), runs.end(), [](const MeasuredRun& r) { return r.memory.has_value(); });
  if (!any) out.calibration.unknown.emplace_back("memory: none was measured");
  if (rows.empty()) return;
  problem.prior = {between};
  problem.predict = [&](std::span<const double> at) {
    std::vector<double> logs = shipped;
    for (double& log : logs) log += at[0];
    return logs;
  };
  const Fit fit = fit_constants(problem);
  out.calibration.memory = multiple_of(fit, 0);
  for (std::size_t i = 0; i < rows.size(); ++i)
    out.rows.push_back({rows[i]->name, "memory", std::exp(problem.measured[i]), std::exp(shipped[i]),
                        std::exp(shipped[i] + fit.values[0])});
}

}  // namespace

RunsFit fit_runs(std::span<const MeasuredRun> runs) {
  RunsFit out;
  if (runs.empty()) return out;
  check_alike(runs);
  fit_times(runs, out);
  fit_memory(runs, out);
  out.calibration.framework = runs.front().run.inputs.recipe.framework;
  out.calibration.accelerator = runs.front().run.inputs.cluster.device_name();
  return out;
}

}  // namespace nest::validate
