#include "nest/report/sweep/sweep_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <string_view>
#include <system_error>
#include <utility>

#include "nest/base/drawing/svg.hpp"
#include "nest/base/drawing/table.hpp"
#include "nest/base/numbers.hpp"
#include "nest/price/uncertainty.hpp"
#include "nest/report/answer/sizing_text.hpp"
#include "nest/report/answer/stage_rows.hpp"
#include "nest/report/sweep/sweep_chart.hpp"
#include "nest/report/sweep/sweep_findings.hpp"

namespace nest::report {
namespace {

using Align = Table::Align;

constexpr std::size_t kMostRows = 60;  // on a terminal

constexpr std::string_view kStyle = R"(<style>
  :root { color-scheme: light dark; --ink: #1b1f24; --page: #ffffff; --line: #d0d7de; --soft: #f6f8fa; }
  @media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --page: #0d1117; --line: #30363d; --soft: #161b22; } }
  body { color: var(--ink); background: var(--page); font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto;
         max-width: 72rem; padding: 0 1rem; }
  h1 { font-size: 1.4rem; } h2 { font-size: 1.1rem; margin-top: 2rem; }
  figure { margin: 1rem 0; overflow-x: auto; }
  table { border-collapse: collapse; font-size: 13px; font-variant-numeric: tabular-nums; }
  th, td { padding: .2rem .6rem; border-bottom: 1px solid var(--line); text-align: left; white-space: nowrap; }
  th { background: var(--soft); } tr.front td { font-weight: 600; } .rows { overflow-x: auto; }
  code, li, h1 { overflow-wrap: anywhere; } .right { text-align: right; }
  td.why { white-space: normal; min-width: 20rem; }
</style>
)";

// What is shown of a row that has a plan, after the values of its axes.
struct RowColumn {
  std::string title;
  std::function<std::string(const SweepRow&)> of;
  bool is_plan = false;
};

// "cluster.levels.2.bandwidth" with the name of the level, as far as there is one cluster.
std::string with_level_name(const Sweep& sweep, const std::string& field) {
  constexpr std::string_view kLevels = "cluster.levels.";
  if (!field.starts_with(kLevels) || sweep.base.several_clusters) return field;
  const std::size_t end = field.find('.', kLevels.size());
  if (end == std::string::npos) return field;
  const std::vector<Level>& levels = sweep.base.inputs.cluster.levels();
  std::size_t number = 0;
  const auto [stop, error] = std::from_chars(field.data() + kLevels.size(), field.data() + end, number);
  if (error != std::errc{} || stop != field.data() + end || number >= levels.size()) return field;
  return std::string(kLevels) + levels[number].name + field.substr(end);
}

// Of a place in a file the last two steps, where no other axis ends so: "spine.bandwidth".
std::string short_name(const Sweep& sweep, const SweepAxis& axis) {
  const std::string field = with_level_name(sweep, axis.field);
  const std::size_t last = field.rfind('.');
  const std::size_t before = last == std::string::npos || last == 0 ? last : field.rfind('.', last - 1);
  if (before == std::string::npos) return axis.field;
  const std::string end = field.substr(before + 1);
  const auto same = std::count_if(sweep.axes.begin(), sweep.axes.end(), [&](const SweepAxis& other) {
    return with_level_name(sweep, other.field).ends_with(end);
  });
  return same > 1 ? axis.field : end;
}

std::vector<RowColumn> columns_of(const Sweep& sweep, const std::vector<SweepRow>& rows) {
  const auto any = [&](const auto& test) { return std::any_of(rows.begin(), rows.end(), test); };
  const bool asked = std::any_of(sweep.axes.begin(), sweep.axes.end(),
                                 [](const SweepAxis& a) { return a.field == "devices"; });
  std::vector<RowColumn> columns{
      {asked ? "used" : "devices", [](const SweepRow& row) { return format_digits(row.devices); }},
      {"tokens/s", [](const SweepRow& row) { return format_count(row.tokens_per_s); }},
      {"step", [](const SweepRow& row) { return format(Seconds{row.step_s}); }}};
  if (any([](const SweepRow& row) { return row.sure.interval.coverage > 0; }))
    columns.push_back({format_percent(kCoverage, 0), [](const SweepRow& row) {
                         const StepInterval& ends = row.sure.interval;
                         return ends.coverage > 0 ? text_range(format(ends.low), format(ends.high)) : "-";
                       }});
  columns.push_back({"MFU", [](const SweepRow& row) { return format_percent(row.mfu); }});
  columns.push_back({"memory", [](const SweepRow& row) { return format_percent(row.memory_share, 0); }});
  if (any([](const SweepRow& row) { return row.sure.memory.has_value(); }))
    columns.push_back({format_percent(kCoverage, 0), [](const SweepRow& row) {
                         const auto& ends = row.sure.memory;
                         return ends ? text_range(format_memory(ends->low), format_memory(ends->high)) : "-";
                       }});
  if (any([](const SweepRow& row) { return row.goodput.has_value(); }))
    columns.push_back(
        {"goodput", [](const SweepRow& row) { return format_percent(row.goodput.value_or(1)); }});
  if (any([](const SweepRow& row) { return row.cost.has_value(); }))
    columns.push_back(
        {"cost of 1 T", [](const SweepRow& row) { return row.cost ? format_money(*row.cost) : "-"; }});
  columns.push_back({"plan", [](const SweepRow& row) { return row.plan; }, true});
  return columns;
}

}  // namespace

std::string sweep_page(const Sweep& sweep, const std::vector<SweepRow>& rows, const std::string& command) {
  const std::string title = escape_xml(
      fmt::format("What if: {} on {}", sweep.base.inputs.model_name(), sweep.base.inputs.cluster.name()));
  std::string out =
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>" +
      title + "</title>\n" + std::string(kStyle) + "</head>\n<body>\n<h1>" + title + "</h1>\n<p><code>" +
      escape_xml(command) + "</code></p>\n";
  out += "<figure>\n" + sweep_chart(sweep, rows) +
         "<figcaption>Large points are on the Pareto front: no point has as much throughput with as little "
         "of everything that one pays for. A cross: no plan fits.</figcaption></figure>\n";
  const std::vector<std::string> findings = sweep_findings(sweep, rows);
  if (!findings.empty()) out += "<h2>What it shows</h2>\n<ul>\n";
  for (const std::string& finding : findings) out += "<li>" + escape_xml(finding) + "</li>\n";
  if (!findings.empty()) out += "</ul>\n";
  out += "<h2>Points</h2>\n<div class=\"rows\"><table>\n<tr>";
  for (const SweepAxis& axis : sweep.axes) out += "<th>" + escape_xml(axis.field) + "</th>";
  const std::vector<RowColumn> columns = columns_of(sweep, rows);
  out += "<th>status</th>";
  const auto aligned = [](const std::string& tag, const RowColumn& column) {
    return "<" + tag + (column.is_plan ? ">" : " class=\"right\">");
  };
  for (const RowColumn& column : columns) out += aligned("th", column) + escape_xml(column.title) + "</th>";
  out += "</tr>\n";
  const std::vector<std::size_t> front = pareto_front(sweep, rows);
  for (const SweepRow& row : rows) {
    const bool best = std::find(front.begin(), front.end(), row.point) != front.end();
    out += best ? "<tr class=\"front\">" : "<tr>";
    for (const auto& [field, value] : sweep.at(row.point)) out += "<td>" + escape_xml(value) + "</td>";
    out += "<td>" + escape_xml(row.status) + "</td>";
    if (row.has_plan()) {
      for (const RowColumn& column : columns)
        out += aligned("td", column) + escape_xml(column.of(row)) + "</td>";
      out += "</tr>\n";
    } else {
      out += fmt::format("<td class=\"why\" colspan=\"{}\">", columns.size()) + escape_xml(row.reason) +
             "</td></tr>\n";
    }
  }
  return out + "</table></div>\n</body>\n</html>\n";
}

std::string sweep_text(const Sweep& sweep, const std::vector<SweepRow>& rows) {
  const std::vector<RowColumn> own = columns_of(sweep, rows);
  std::vector<Table::Column> columns;
  columns.reserve(sweep.axes.size() + own.size());
  for (const SweepAxis& axis : sweep.axes) columns.push_back({short_name(sweep, axis), Align::right});
  for (const RowColumn& column : own)
    columns.push_back({column.title, column.is_plan ? Align::left : Align::right});
  Table table(std::move(columns));
  for (std::size_t i = 0; i < std::min(rows.size(), kMostRows); ++i) {
    const SweepRow& row = rows[i];
    std::vector<std::string> cells;
    for (const auto& [field, value] : sweep.at(row.point)) cells.push_back(value);
    for (const RowColumn& column : own) {
      if (row.has_plan())
        cells.push_back(column.of(row));
      else
        cells.push_back(column.is_plan ? row.status + ": " + row.reason : "-");
    }
    table.add(std::move(cells));
  }
  std::string out = table.str();
  if (rows.size() > kMostRows)
    out += fmt::format("and {} more in the files\n",
                       format_digits(static_cast<std::int64_t>(rows.size() - kMostRows)));
  const std::vector<std::string> findings = sweep_findings(sweep, rows);
  if (!findings.empty()) out += '\n';
  for (const std::string& finding : findings) out += "- " + wrap(finding, kTextWidth, 2) + "\n";
  return out;
}

}  // namespace nest::report
