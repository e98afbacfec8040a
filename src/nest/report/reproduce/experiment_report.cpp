#include "nest/report/reproduce/experiment_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "nest/base/drawing/table.hpp"
#include "nest/plan/text/spell_plan.hpp"
#include "nest/report/answer/bar_chart.hpp"

namespace nest::report {
namespace {

using Rows = std::vector<const ExperimentRow*>;

bool same_point(const ExperimentPoint& a, const ExperimentPoint& b) {
  return a.sweep == b.sweep && a.model == b.model && a.devices == b.devices && a.micro_batch == b.micro_batch;
}

// The rows of each point together, in their order.
std::vector<Rows> by_point(const std::vector<ExperimentRow>& rows) {
  std::vector<Rows> points;
  for (const ExperimentRow& row : rows) {
    if (points.empty() || !same_point(points.back().front()->point, row.point)) points.emplace_back();
    points.back().push_back(&row);
  }
  return points;
}

std::vector<std::string> methods_in(const std::vector<ExperimentRow>& rows) {
  std::vector<std::string> names;
  for (const ExperimentRow& row : rows)
    if (std::find(names.begin(), names.end(), row.method) == names.end()) names.push_back(row.method);
  return names;
}

const ExperimentRow* row_of(const Rows& rows, std::string_view method) {
  const auto at = std::find_if(rows.begin(), rows.end(), [&](const auto* r) { return r->method == method; });
  return at == rows.end() ? nullptr : *at;
}

std::string cell_of(const ExperimentRow* row, bool published) {
  if (row == nullptr) return "";
  std::string text = "x";
  if (row->status == "skipped") text = "-";
  if (row->plan) text = row->relative ? bar_label(*row->relative) : "fits";
  if (published) text += row->published ? " (" + bar_label(*row->published) + ")" : " (-)";
  return text;
}

std::string tooltip_of(const ExperimentRow& row) {
  std::string text = row.method + ", " + group_label(row.point) + ": ";
  if (!row.plan) return text + row.status + (row.reason.empty() ? "" : ": " + row.reason);
  return text + fmt::format("{} a step, {:.1f} sequences/s; {}", format(row.plan->predicted->step),
                            *row.samples_per_s(), short_plan(row));
}

std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

enum class Plans { shown, left_out };

std::string sweep_table(const Experiment& experiment, const std::vector<Rows>& points,
                        const std::vector<std::string>& methods, Plans how) {
  const bool plans = how == Plans::shown;
  std::vector<Table::Column> columns{
      {"model", Table::Align::left},
      {experiment.by_micro_batch ? "micro-batch" : "devices", Table::Align::right}};
  for (const std::string& name : methods) columns.push_back({name, Table::Align::right});
  if (plans) columns.push_back({"nest's plan", Table::Align::left});
  bool published = false;
  for (const Rows& point : points)
    for (const ExperimentRow* row : point) published = published || row->published;
  Table table(std::move(columns));
  for (const Rows& point : points) {
    const ExperimentPoint& at = point.front()->point;
    std::vector<std::string> cells{std::string(at.model->name),
                                   format_digits(experiment.by_micro_batch ? at.micro_batch : at.devices)};
    for (const std::string& name : methods) cells.push_back(cell_of(row_of(point, name), published));
    const ExperimentRow* ours = row_of(point, "nest");
    if (plans) cells.push_back(ours == nullptr ? "" : short_plan(*ours));
    table.add(std::move(cells));
  }
  return table.str(std::string::npos);  // nothing is cut
}

}  // namespace

std::string short_plan(const ExperimentRow& row) {
  if (!row.plan) return "";
  const Parallelism& p = row.plan->parallelism;
  std::string text = fmt::format("t{} p{} d{} z{}", p.strategy.tensor, p.pipeline, p.data, p.zero.number());
  if (p.strategy.context > 1) text += fmt::format(" c{}", p.strategy.context);
  if (p.strategy.expert > 1) text += fmt::format(" e{}", p.strategy.expert);
  if (p.interleave > 1) text += fmt::format(" v{}", p.interleave);
  if (row.plan->training.micro_batch != row.point.micro_batch)
    text += fmt::format(" b{}", row.plan->training.micro_batch);
  if (const std::string recompute = spell_recompute(row.plan->stages); recompute != "none")
    text += " " + recompute;
  return text;
}

std::string group_label(const ExperimentPoint& point) {
  if (point.experiment->by_micro_batch) return fmt::format("micro-batch {}", point.micro_batch);
  return format_digits(point.devices) + " devices";
}

std::string experiment_text(const Experiment& experiment, const std::vector<ExperimentRow>& rows) {
  const std::vector<std::string> methods = methods_in(rows);
  std::string out;
  for (const ExperimentSweep& sweep : experiment.sweeps) {
    std::vector<Rows> points = by_point(rows);
    std::erase_if(points, [&](const Rows& p) { return p.front()->point.sweep != &sweep; });
    if (points.empty()) continue;
    std::string table = sweep_table(experiment, points, methods, Plans::shown);
    if (text_width(table.substr(0, table.find('\n'))) > kTextWidth)
      table = sweep_table(experiment, points, methods, Plans::left_out);
    out += (out.empty() ? "" : "\n") + std::string(sweep.cluster) + "\n" + table;
  }
  return out;
}

std::string experiment_csv(const std::vector<ExperimentRow>& rows) {
  std::string out =
      "experiment,cluster,model,devices,micro_batch,method,status,step_s,samples_per_s,relative,published,"
      "against_published,tensor,pipeline,data,expert,context,zero,interleave,plan_micro_batch,recompute,"
      "search_s,reason\n";
  const auto number = [](const std::optional<double>& v) {
    return v ? fmt::format("{}", *v) : std::string();
  };
  for (const ExperimentRow& row : rows) {
    const ExperimentPoint& at = row.point;
    out += fmt::format("{},{},{},{},{},{},{},", at.experiment->name, at.sweep->cluster, at.model->name,
                       at.devices, at.micro_batch, quoted(row.method), row.status);
    out += row.plan ? fmt::format("{},", row.plan->predicted->step.value) : ",";
    out += number(row.samples_per_s()) + "," + number(row.relative) + "," + number(row.published) + "," +
           number(row.against_published) + ",";
    if (row.plan) {
      const Parallelism& p = row.plan->parallelism;
      out += fmt::format("{},{},{},{},{},{},{},{},{},", p.strategy.tensor, p.pipeline, p.data,
                         p.strategy.expert, p.strategy.context, p.zero.number(), p.interleave,
                         row.plan->training.micro_batch, quoted(spell_recompute(row.plan->stages)));
    } else {
      out += ",,,,,,,,,";
    }
    out += fmt::format("{:.4f},{}\n", row.search_time.value, quoted(row.reason));
  }
  return out;
}

Value to_value(const ExperimentRow& row) {
  const ExperimentPoint& at = row.point;
  Value v = Value::object();
  v.set("experiment", at.experiment->name).set("cluster", at.sweep->cluster).set("model", at.model->name);
  v.set("devices", at.devices).set("micro_batch", at.micro_batch).set("method", row.method);
  v.set("status", row.status);
  if (row.plan) {
    const Parallelism& p = row.plan->parallelism;
    v.set("step_s", row.plan->predicted->step.value).set("samples_per_s", *row.samples_per_s());
    if (row.relative) v.set("relative", *row.relative);
    Value degrees = Value::object();
    degrees.set("tensor", p.strategy.tensor).set("context", p.strategy.context);
    degrees.set("expert", p.strategy.expert).set("pipeline", p.pipeline).set("data", p.data);
    degrees.set("zero", p.zero.number()).set("interleave", p.interleave);
    degrees.set("recompute", spell_recompute(row.plan->stages));
    v.set("parallelism", std::move(degrees)).set("plan_micro_batch", row.plan->training.micro_batch);
  } else if (!row.reason.empty()) {
    v.set("reason", row.reason);
  }
  if (row.published) v.set("published", *row.published);
  if (row.against_published) v.set("against_published", *row.against_published);
  return v.set("search_s", row.search_time.value);
}

std::string experiment_chart(const Experiment& experiment, const ExperimentResult& result) {
  BarChart chart;
  chart.title = experiment.title;
  chart.y_label = "throughput relative to " + spell_reference(experiment, result.reference) +
                  "; \u00d7: no plan that fits";
  chart.x_label = experiment.by_micro_batch ? "sequences of a micro-batch" : "devices";
  const ExperimentPoint* before = nullptr;
  for (const Rows& point : by_point(result.rows)) {
    const ExperimentPoint& at = point.front()->point;
    if (before == nullptr || before->sweep != at.sweep || before->model != at.model) {
      std::string title(at.model->name);
      if (experiment.sweeps.size() > 1) title += " on " + std::string(at.sweep->cluster);
      chart.panels.push_back({title, {}});
    }
    before = &at;
    BarCluster group{format_digits(experiment.by_micro_batch ? at.micro_batch : at.devices), {}};
    for (const ExperimentRow* row : point) {
      const std::string mark = row->status == "skipped" ? "-" : row->plan ? "?" : "";
      group.bars.push_back({row->method, row->relative, mark, tooltip_of(*row)});
    }
    chart.panels.back().groups.push_back(std::move(group));
  }
  return bar_chart(chart);
}

}  // namespace nest::report
