#include "nest/report/sweep/sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>
#include <utility>

#include "nest/base/document/document.hpp"
#include "nest/base/hash.hpp"
#include "nest/base/stopwatch.hpp"
#include "nest/base/workers.hpp"
#include "nest/plan/rules/rented_plan.hpp"
#include "nest/plan/text/plan_json.hpp"
#include "nest/price/run/run_cost.hpp"
#include "nest/report/answer/comparison_text.hpp"
#include "nest/report/answer/plan_notes.hpp"
#include "nest/solve/ask/search.hpp"

namespace nest::report {
namespace {

// Of a point's time: if there is no more for any of them, a few are finished and not all of them begun.
constexpr Seconds kLeastPart{2};

Prediction certainty_of(const Prediction& predicted) {
  Prediction sure;
  sure.interval = predicted.interval;
  sure.memory = predicted.memory;
  sure.fits_probability = predicted.fits_probability;
  sure.fits_at_least = predicted.fits_at_least;
  return sure;
}

void fill(const SearchResult& found, const PlanInputs& inputs, SweepRow& row) {
  row.status = name_of(found.status);
  row.reason = found.reason;
  if (found.plans.empty()) return;
  const Plan& plan = found.plans.front();
  row.step_s = plan.predicted->step.value;
  row.tokens_per_s = plan.predicted->tokens_per_s;
  row.mfu = plan.predicted->mfu;
  row.memory_share = memory_share(plan);
  row.sure = certainty_of(*plan.predicted);
  row.devices = plan.parallelism.devices();
  row.rented = rented_devices(plan, inputs.cluster);
  row.plan = brief_degrees(plan);
  row.parallelism = to_value(plan.parallelism, plan.stages);
}

// What a trillion tokens cost at a point, where prices or failures are known.
void add_cost(const PlanQuestion& question, SweepRow& row) {
  row.cost = row.goodput = std::nullopt;
  if (!row.has_plan() || question.asked.run == RunTerms{}) return;
  try {
    const RunCosts costs(question.asked.run, question.inputs, question.training);
    row.cost = costs.of({row.rented, row.tokens_per_s, 1}, kTrillion).money;
    if (costs.fails()) row.goodput = costs.goodput(row.rented).share;
  } catch (const InputError&) {
    // There is no price for this accelerator: who asks is told before (command_sweep).
    row.cost = row.goodput = std::nullopt;
  }
}

SweepRow solve_point(const Sweep& sweep, std::size_t point, const Deadline& deadline) {
  SweepRow row;
  row.point = point;
  const Stopwatch watch;
  try {
    PlanQuestion question = question_with(sweep.base, sweep.at(point));
    question.options.threads = 1;
    question.options.runners_up = 0;
    question.options.progress = nullptr;
    question.options.deadline = deadline;
    const SearchResult found = ask(question);
    row.broken_off =
        found.status == PlanStatus::limit || (deadline.cancelled() && found.status == PlanStatus::feasible);
    fill(found, question.inputs, row);
    add_cost(question, row);
  } catch (const InputError& error) {
    row.status = "invalid";
    row.reason = error.what();
  }
  row.search_s = watch.elapsed().value;
  return row;
}

double number_of(const Value* value) {
  if (value == nullptr) return 0;
  if (const auto* real = value->as_real()) return *real;
  if (const auto* whole = value->as_int()) return static_cast<double>(*whole);
  return 0;
}

// Rows of a file that an earlier version wrote have none.
Prediction read_certainty(const Value& line) {
  Prediction sure;
  const auto ends = [](const Value& interval, const char* key) {
    const Value* both = interval.find(key);
    const bool two = both != nullptr && both->as_array() != nullptr && both->as_array()->size() == 2;
    return two ? std::optional(
                     std::pair(number_of(&(*both->as_array())[0]), number_of(&(*both->as_array())[1])))
               : std::nullopt;
  };
  if (const Value* interval = line.find("interval")) {
    if (const auto step = ends(*interval, "step_s"))
      sure.interval = {number_of(interval->find("level")), Seconds{step->first}, Seconds{step->second}};
    if (const auto memory = ends(*interval, "memory_bytes"))
      sure.memory = MemoryInterval{round_up_bytes(memory->first), round_up_bytes(memory->second)};
  }
  if (const Value* fits = line.find("fits_probability")) sure.fits_probability = number_of(fits);
  const Value* at_least = line.find("fits_at_least");
  sure.fits_at_least = at_least != nullptr && at_least->as_bool() != nullptr && *at_least->as_bool();
  return sure;
}

std::string text_of(const Value* value) {
  return value != nullptr && value->as_string() != nullptr ? *value->as_string() : "";
}

std::optional<SweepRow> read_row(const Value& line, const Sweep& sweep, const std::string& fingerprint) {
  if (text_of(line.find("study")) != fingerprint) return std::nullopt;
  const Value* values = line.find("values");
  for (std::size_t point = 0; values != nullptr && point < sweep.points(); ++point) {
    const std::vector<FieldValue> fields = sweep.at(point);
    const bool same = std::all_of(fields.begin(), fields.end(), [&](const FieldValue& f) {
      return text_of(values->find(f.first)) == f.second;
    });
    if (!same) continue;
    SweepRow row;
    row.point = point;
    row.status = text_of(line.find("status"));
    row.reason = text_of(line.find("reason"));
    row.step_s = number_of(line.find("step_s"));
    row.tokens_per_s = number_of(line.find("tokens_per_s"));
    row.mfu = number_of(line.find("mfu"));
    row.memory_share = number_of(line.find("memory_share"));
    row.sure = read_certainty(line);
    row.devices = static_cast<std::int64_t>(number_of(line.find("devices")));
    row.rented = std::max(row.devices, static_cast<std::int64_t>(number_of(line.find("rented_devices"))));
    row.plan = text_of(line.find("plan"));
    if (const Value* parallelism = line.find("parallelism")) row.parallelism = *parallelism;
    row.search_s = number_of(line.find("search_s"));
    return row;
  }
  return std::nullopt;
}

}  // namespace

std::size_t Sweep::points() const {
  std::size_t all = 1;
  for (const SweepAxis& axis : axes) all *= axis.values.size();
  return all;
}

std::vector<FieldValue> Sweep::at(std::size_t point) const {
  std::vector<FieldValue> fields(axes.size());
  for (std::size_t i = axes.size(); i-- > 0;) {
    fields[i] = {axes[i].field, axes[i].values[point % axes[i].values.size()]};
    point /= axes[i].values.size();
  }
  return fields;
}

std::string Sweep::fingerprint() const {
  Asked asked = base.asked;
  asked.threads = 0;  // the answer is the same
  asked.run = {};     // so are the plans: what they cost is counted anew
  const std::string text = to_json_line(nest::plan::to_value(base.inputs)) +
                           to_json_line(nest::question::to_value(asked)) +
                           (base.several_clusters ? "several clusters" : "");
  return fmt::format("{:016x}", fnv1a(text));
}

std::vector<SweepRow> run_sweep(const Sweep& sweep, const SweepOptions& options,
                                const std::function<void(const SweepRow&)>& told) {
  std::vector<std::optional<SweepRow>> rows(sweep.points());
  for (const SweepRow& row : options.done) {
    rows[row.point] = row;
    if (row.has_plan() && !(sweep.base.asked.run == RunTerms{}))
      add_cost(question_with(sweep.base, sweep.at(row.point)), *rows[row.point]);
  }
  std::vector<std::size_t> waiting;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!rows[i]) waiting.push_back(i);
  }
  std::mutex telling;
  const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  const auto threads =
      std::min(static_cast<std::size_t>(options.threads > 0 ? options.threads : cores), waiting.size());
  Workers workers(std::max<std::size_t>(1, threads));
  std::atomic<std::size_t> left = waiting.size();
  workers.run(waiting.size(), [&](std::size_t, std::size_t i) {
    const auto points = static_cast<double>(left--);
    if (options.deadline.over()) return;
    Deadline deadline = options.deadline;
    if (const auto time = deadline.left())
      deadline =
          deadline.within(std::max(kLeastPart, *time * (static_cast<double>(workers.size()) / points)));
    SweepRow row = solve_point(sweep, waiting[i], deadline);
    const std::scoped_lock lock(telling);
    if (told) told(row);
    rows[waiting[i]] = std::move(row);
  });
  std::vector<SweepRow> out;
  for (std::optional<SweepRow>& row : rows) {
    if (row) out.push_back(std::move(*row));
  }
  return out;
}

Value to_value(const SweepRow& row, const Sweep& sweep) {
  Value values = Value::object();
  for (const auto& [field, value] : sweep.at(row.point)) values.set(field, value);
  Value v = Value::object();
  v.set("study", sweep.fingerprint()).set("values", std::move(values)).set("status", row.status);
  if (!row.reason.empty()) v.set("reason", row.reason);
  if (row.has_plan()) {
    v.set("step_s", row.step_s).set("tokens_per_s", row.tokens_per_s).set("mfu", row.mfu);
    v.set("memory_share", row.memory_share).set("devices", row.devices).set("rented_devices", row.rented);
    put_certainty(v, row.sure);
    if (row.cost) v.set("cost_per_trillion_tokens", *row.cost);
    if (row.goodput) v.set("goodput", *row.goodput);
    v.set("plan", row.plan);
    v.set("parallelism", row.parallelism);
  }
  v.set("search_s", row.search_s);
  return v;
}

std::vector<SweepRow> read_sweep_rows(std::string_view text, const Sweep& sweep) {
  const std::string fingerprint = sweep.fingerprint();
  std::vector<std::optional<SweepRow>> rows(sweep.points());
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) break;  // cut off
    const std::string line(text.substr(0, end));
    text.remove_prefix(end + 1);
    try {
      if (auto row = read_row(parse_json("results", line).root, sweep, fingerprint))
        rows[row->point] = std::move(row);
    } catch (const InputError&) {
      continue;  // a line of something else
    }
  }
  std::vector<SweepRow> out;
  for (std::optional<SweepRow>& row : rows) {
    if (row) out.push_back(std::move(*row));
  }
  return out;
}

}  // namespace nest::report
