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
#include "nest/plan/text/plan_json.hpp"
#include "nest/report/answer/comparison_text.hpp"
#include "nest/report/answer/plan_notes.hpp"
#include "nest/solve/ask/search.hpp"

namespace nest::report {
namespace {

constexpr double kEnough = 0.99;  // of the best throughput
// Of a point's time: if there is no more for any of them, a few are finished and not all of them begun.
constexpr Seconds kLeastPart{2};

void fill(const SearchResult& found, SweepRow& row) {
  row.status = name_of(found.status);
  row.reason = found.reason;
  if (found.plans.empty()) return;
  const Plan& plan = found.plans.front();
  row.step_s = plan.predicted->step.value;
  row.tokens_per_s = plan.predicted->tokens_per_s;
  row.mfu = plan.predicted->mfu;
  row.memory_share = memory_share(plan);
  row.devices = plan.parallelism.devices();
  row.plan = brief_degrees(plan);
  row.parallelism = to_value(plan.parallelism, plan.stages);
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
    fill(found, row);
  } catch (const InputError& error) {
    row.status = "invalid";
    row.reason = error.what();
  }
  row.search_s = watch.elapsed().value;
  return row;
}

// Of fields such as latency more is cheaper.
bool less_is_dearer(const std::string& field) {
  return field.ends_with("latency") || field.ends_with("oversubscription");
}

bool numeric(const SweepAxis& axis) {
  return std::all_of(axis.values.begin(), axis.values.end(),
                     [](const std::string& v) { return sweep_number(v).has_value(); });
}

double number_of(const Value* value) {
  if (value == nullptr) return 0;
  if (const auto* real = value->as_real()) return *real;
  if (const auto* whole = value->as_int()) return static_cast<double>(*whole);
  return 0;
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
    row.devices = static_cast<std::int64_t>(number_of(line.find("devices")));
    row.plan = text_of(line.find("plan"));
    if (const Value* parallelism = line.find("parallelism")) row.parallelism = *parallelism;
    row.search_s = number_of(line.find("search_s"));
    return row;
  }
  return std::nullopt;
}

std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
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
  const std::string text =
      to_json_line(nest::plan::to_value(base.inputs)) + to_json_line(nest::question::to_value(asked));
  return fmt::format("{:016x}", fnv1a(text));
}

std::vector<SweepRow> run_sweep(const Sweep& sweep, const SweepOptions& options,
                                const std::function<void(const SweepRow&)>& told) {
  std::vector<std::optional<SweepRow>> rows(sweep.points());
  for (const SweepRow& row : options.done) rows[row.point] = row;
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
    v.set("memory_share", row.memory_share).set("devices", row.devices).set("plan", row.plan);
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

std::string sweep_csv(const Sweep& sweep, const std::vector<SweepRow>& rows) {
  std::string out;
  for (const SweepAxis& axis : sweep.axes) out += quoted(axis.field) + ",";
  out += "status,step_s,tokens_per_s,mfu,memory_share,devices,plan,pareto,search_s,reason\n";
  const std::vector<std::size_t> front = pareto_front(sweep, rows);
  for (const SweepRow& row : rows) {
    for (const auto& [field, value] : sweep.at(row.point)) out += quoted(value) + ",";
    const bool best = std::find(front.begin(), front.end(), row.point) != front.end();
    if (row.has_plan())
      out += fmt::format("{},{},{},{},{},{},{},{},{},{}\n", row.status, row.step_s, row.tokens_per_s, row.mfu,
                         row.memory_share, row.devices, quoted(row.plan), best ? 1 : 0, row.search_s,
                         quoted(row.reason));
    else
      out += fmt::format("{},,,,,,,0,{},{}\n", row.status, row.search_s, quoted(row.reason));
  }
  return out;
}

std::vector<std::size_t> pareto_front(const Sweep& sweep, const std::vector<SweepRow>& rows) {
  // What each point costs, smaller being cheaper, field by field.
  const auto costs = [&](const SweepRow& row) {
    std::vector<double> list;
    const std::vector<FieldValue> fields = sweep.at(row.point);
    for (std::size_t i = 0; i < fields.size(); ++i) {
      if (!numeric(sweep.axes[i])) continue;
      const double number = *sweep_number(fields[i].second);
      list.push_back(less_is_dearer(fields[i].first) ? -number : number);
    }
    return list;
  };
  std::vector<std::size_t> front;
  for (const SweepRow& row : rows) {
    if (!row.has_plan()) continue;
    const std::vector<double> mine = costs(row);
    const bool beaten = std::any_of(rows.begin(), rows.end(), [&](const SweepRow& other) {
      if (!other.has_plan() || other.tokens_per_s < row.tokens_per_s) return false;
      const std::vector<double> theirs = costs(other);
      bool cheaper = other.tokens_per_s > row.tokens_per_s;
      for (std::size_t i = 0; i < mine.size(); ++i) {
        if (theirs[i] > mine[i]) return false;
        cheaper = cheaper || theirs[i] < mine[i];
      }
      return cheaper;
    });
    if (!beaten) front.push_back(row.point);
  }
  return front;
}

std::vector<std::string> sweep_findings(const Sweep& sweep, const std::vector<SweepRow>& rows) {
  std::vector<std::string> out;
  if (sweep.axes.empty() || !numeric(sweep.axes.front()) || sweep.axes.front().values.size() < 3) return out;
  const SweepAxis& axis = sweep.axes.front();
  const std::size_t others = sweep.points() / axis.values.size();
  for (std::size_t k = 0; k < others; ++k) {
    std::vector<const SweepRow*> line;
    for (const SweepRow& row : rows) {
      if (row.point % others == k && row.has_plan()) line.push_back(&row);
    }
    if (line.size() < 3) continue;
    const auto value = [&](const SweepRow* row) { return *sweep_number(sweep.at(row->point)[0].second); };
    std::sort(line.begin(), line.end(), [&](const auto* a, const auto* b) { return value(a) < value(b); });
    if (less_is_dearer(axis.field)) std::reverse(line.begin(), line.end());
    const double best = (*std::max_element(line.begin(), line.end(), [](const auto* a, const auto* b) {
                          return a->tokens_per_s < b->tokens_per_s;
                        }))->tokens_per_s;
    const auto enough = std::find_if(line.begin(), line.end(),
                                     [&](const auto* row) { return row->tokens_per_s >= kEnough * best; });
    std::string where;
    for (std::size_t i = 1; i < sweep.axes.size(); ++i)
      where += fmt::format("{}{} {}", where.empty() ? "" : ", ", sweep.axes[i].field,
                           sweep.at((*enough)->point)[i].second);
    const std::string with = where.empty() ? "" : " (" + where + ")";
    if (*enough == line.back())
      out.push_back(fmt::format("{}{}: more still helps at {}", axis.field, with,
                                sweep.at(line.back()->point)[0].second));
    else
      out.push_back(fmt::format("{}{}: {} gives 99 % of the best throughput; more than that hardly helps",
                                axis.field, with, sweep.at((*enough)->point)[0].second));
  }
  return out;
}

}  // namespace nest::report
