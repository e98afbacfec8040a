#include "nest/report/sweep/sweep_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "nest/base/drawing/svg.hpp"
#include "nest/base/drawing/table.hpp"
#include "nest/base/numbers.hpp"
#include "nest/report/answer/bar_chart.hpp"

namespace nest::report {
namespace {

using Align = Table::Align;

constexpr double kLeft = 64;
constexpr double kPanelWidth = 420;
constexpr double kPanelHeight = 260;
constexpr double kTop = 84;
constexpr double kGap = 70;  // between panels: their titles and axes
constexpr std::size_t kColours = 8;
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
</style>
)";

// Where a value of the first axis stands, from 0 to 1: by its size where all are numbers, else in its order.
class Across {
 public:
  explicit Across(const SweepAxis& axis) {
    std::vector<double> numbers;
    for (const std::string& value : axis.values) {
      const auto number = sweep_number(value);
      if (!number) break;
      numbers.push_back(*number);
    }
    const auto count = axis.values.size();
    places_.assign(count, 0.5);
    if (count < 2) return;
    const bool sized = numbers.size() == count;
    const auto [least, most] = sized ? std::minmax_element(numbers.begin(), numbers.end())
                                     : std::pair(numbers.begin(), numbers.begin());
    const bool log = sized && *least > 0 && *most / *least > 8;
    for (std::size_t i = 0; i < count; ++i) {
      if (!sized)
        places_[i] = static_cast<double>(i) / static_cast<double>(count - 1);
      else if (log)
        places_[i] = std::log(numbers[i] / *least) / std::log(*most / *least);
      else
        places_[i] = (numbers[i] - *least) / (*most - *least);
    }
  }
  [[nodiscard]] double at(std::size_t value) const { return places_[value]; }

 private:
  std::vector<double> places_;
};

std::size_t values_of(const Sweep& sweep, std::size_t axis) {
  return axis < sweep.axes.size() ? sweep.axes[axis].values.size() : 1;
}

std::string described(const Sweep& sweep, const SweepRow& row) {
  std::string text;
  for (const auto& [field, value] : sweep.at(row.point)) text += fmt::format("{} {}; ", field, value);
  if (!row.has_plan()) return text + row.status + ": " + row.reason;
  return text + fmt::format("{} tokens/s, {}", format_count(row.tokens_per_s), row.plan);
}

struct Chart {
  const Sweep& sweep;
  const std::vector<SweepRow>& rows;
  std::set<std::size_t> front;
  Across across;
  double most = 0;
  Svg svg;

  [[nodiscard]] static double width() { return kLeft + kPanelWidth + 30; }

  [[nodiscard]] double x(std::size_t value) const {
    return kLeft + 12 + (kPanelWidth - 24) * across.at(value);
  }
  [[nodiscard]] double y(double top, double rate) const {
    return top + kPanelHeight * (1 - rate / (1.08 * most));
  }

  void legend() {
    double at = kLeft;
    for (std::size_t s = 0; s < values_of(sweep, 1) && sweep.axes.size() > 1; ++s) {
      const std::string text = sweep.axes[1].field + " " + sweep.axes[1].values[s];
      const std::size_t row = s / 3;
      svg.dot(at, 40 + 16 * static_cast<double>(row), 5, style(s));
      svg.text(at + 10, 44 + 16 * static_cast<double>(row), text);
      at = s % 3 == 2 ? kLeft : at + 150;
    }
  }

  [[nodiscard]] static std::string style(std::size_t series) {
    return "level" + std::to_string(series % kColours) + (series / kColours % 2 == 0 ? "" : " light");
  }

  void panel(std::size_t third, double top) {
    if (sweep.axes.size() > 2)
      svg.text(kLeft, top - 8, sweep.axes[2].field + " " + sweep.axes[2].values[third]);
    svg.box({kLeft, top, kPanelWidth, kPanelHeight}, "quiet square");
    for (int i = 0; i <= 4; ++i) {
      const double rate = most * i / 4;
      svg.line(kLeft, y(top, rate), kLeft + kPanelWidth, y(top, rate), "guide");
      svg.text(kLeft - 6, y(top, rate) + 4, bar_label(rate), Svg::Anchor::end, "small");
    }
    const SweepAxis& first = sweep.axes.front();
    const std::size_t step = (first.values.size() + 7) / 8;
    for (std::size_t i = 0; i < first.values.size(); i += step)
      svg.text(x(i), top + kPanelHeight + 14, first.values[i], Svg::Anchor::middle, "small");
    svg.text(kLeft + kPanelWidth / 2, top + kPanelHeight + 30, first.field, Svg::Anchor::middle);
    for (std::size_t s = 0; s < values_of(sweep, 1); ++s) series(s, third, top);
  }

  void series(std::size_t second, std::size_t third, double top) {
    const std::size_t seconds = values_of(sweep, 1);
    const std::size_t thirds = values_of(sweep, 2);
    std::vector<const SweepRow*> line;
    for (const SweepRow& row : rows) {
      if (row.point % (seconds * thirds) == second * thirds + third) line.push_back(&row);
    }
    const auto value = [&](const SweepRow* row) { return row->point / (seconds * thirds); };
    std::sort(line.begin(), line.end(),
              [&](const auto* a, const auto* b) { return across.at(value(a)) < across.at(value(b)); });
    const SweepRow* before = nullptr;
    for (const SweepRow* row : line) {
      if (row->has_plan() && before != nullptr)
        svg.line(x(value(before)), y(top, before->tokens_per_s), x(value(row)), y(top, row->tokens_per_s));
      before = row->has_plan() ? row : nullptr;
    }
    for (const SweepRow* row : line) {
      if (!row->has_plan()) {
        svg.text(x(value(row)), top + kPanelHeight - 4 - 10 * static_cast<double>(second % 4), "\u00d7",
                 Svg::Anchor::middle);
        continue;
      }
      const bool best = front.contains(row->point);
      svg.dot(x(value(row)), y(top, row->tokens_per_s), best ? 5 : 3, style(second) + (best ? "" : " light"),
              described(sweep, *row) + (best ? "; on the Pareto front" : ""));
    }
  }
};

}  // namespace

std::string sweep_chart(const Sweep& sweep, const std::vector<SweepRow>& rows) {
  double most = 0;
  for (const SweepRow& row : rows) most = std::max(most, row.tokens_per_s);
  if (most <= 0) most = 1;
  const std::vector<std::size_t> front = pareto_front(sweep, rows);
  const std::size_t panels = values_of(sweep, 2);
  const std::size_t legend_rows = values_of(sweep, 1) / 3;
  const double top = kTop + 16 * static_cast<double>(legend_rows);
  const double height = top + static_cast<double>(panels) * (kPanelHeight + kGap);
  Chart chart{sweep,
              rows,
              {front.begin(), front.end()},
              Across(sweep.axes.front()),
              most,
              Svg(Chart::width(), height, "tokens/s by " + sweep.axes.front().field)};
  chart.legend();
  for (std::size_t i = 0; i < panels; ++i)
    chart.panel(i, top + static_cast<double>(i) * (kPanelHeight + kGap));
  return chart.svg.str();
}

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
         "of every "
         "varied quantity. A cross: no plan fits.</figcaption></figure>\n";
  const std::vector<std::string> findings = sweep_findings(sweep, rows);
  if (!findings.empty()) out += "<h2>Where more stops helping</h2>\n<ul>\n";
  for (const std::string& finding : findings) out += "<li>" + escape_xml(finding) + "</li>\n";
  if (!findings.empty()) out += "</ul>\n";
  out += "<h2>Points</h2>\n<div class=\"rows\"><table>\n<tr>";
  for (const SweepAxis& axis : sweep.axes) out += "<th>" + escape_xml(axis.field) + "</th>";
  out +=
      "<th>status</th><th>tokens/s</th><th>step</th><th>MFU</th><th>memory</th><th>devices</th><th>plan</"
      "th></tr>\n";
  const std::vector<std::size_t> front = pareto_front(sweep, rows);
  for (const SweepRow& row : rows) {
    const bool best = std::find(front.begin(), front.end(), row.point) != front.end();
    out += best ? "<tr class=\"front\">" : "<tr>";
    for (const auto& [field, value] : sweep.at(row.point)) out += "<td>" + escape_xml(value) + "</td>";
    out += "<td>" + escape_xml(row.status) + "</td>";
    if (row.has_plan())
      out +=
          fmt::format("<td>{}</td><td>{}</td><td>{:.1f} %</td><td>{:.0f} %</td><td>{}</td><td>{}</td></tr>\n",
                      format_count(row.tokens_per_s), format(Seconds{row.step_s}), 100 * row.mfu,
                      100 * row.memory_share, format_digits(row.devices), escape_xml(row.plan));
    else
      out += "<td colspan=\"6\">" + escape_xml(row.reason) + "</td></tr>\n";
  }
  return out + "</table></div>\n</body>\n</html>\n";
}

std::string sweep_text(const Sweep& sweep, const std::vector<SweepRow>& rows) {
  std::vector<Table::Column> columns;
  columns.reserve(sweep.axes.size() + 5);
  for (const SweepAxis& axis : sweep.axes) columns.push_back({axis.field, Align::right});
  for (Table::Column column : {Table::Column{"tokens/s", Align::right},
                               {"step", Align::right},
                               {"MFU", Align::right},
                               {"memory", Align::right},
                               {"plan"}})
    columns.push_back(std::move(column));
  Table table(std::move(columns));
  for (std::size_t i = 0; i < std::min(rows.size(), kMostRows); ++i) {
    const SweepRow& row = rows[i];
    std::vector<std::string> cells;
    for (const auto& [field, value] : sweep.at(row.point)) cells.push_back(value);
    if (row.has_plan())
      cells.insert(cells.end(), {format_count(row.tokens_per_s), format(Seconds{row.step_s}),
                                 format_percent(row.mfu), format_percent(row.memory_share, 0), row.plan});
    else
      cells.insert(cells.end(), {"-", "-", "-", "-", row.status + ": " + row.reason});
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
