#include "nest/report/reproduce/experiment_page.hpp"

#include <fmt/format.h>

#include <string_view>

#include "nest/base/drawing/svg.hpp"
#include "nest/report/reproduce/experiment_report.hpp"
#include "nest/solve/baselines/baselines.hpp"

namespace nest::report {
namespace {

constexpr std::string_view kStyle = R"(<style>
  :root { color-scheme: light dark; --ink: #1b1f24; --page: #ffffff; --line: #d0d7de; --soft: #f6f8fa; --dim: #57606a; }
  @media (prefers-color-scheme: dark) {
    :root { --ink: #e6edf3; --page: #0d1117; --line: #30363d; --soft: #161b22; --dim: #9da7b1; }
  }
  body { color: var(--ink); background: var(--page); font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto;
         max-width: 80rem; padding: 0 1rem; }
  h1 { font-size: 1.5rem; } h2 { font-size: 1.1rem; margin-top: 2rem; }
  p, dd { max-width: 50rem; } dt { font-weight: 600; } dd { margin: 0 0 .4rem 1.5rem; }
  figure { margin: 1rem 0; overflow-x: auto; } figure svg { min-width: 44rem; max-width: 100%; height: auto; }
  .rows { overflow-x: auto; }
  table { border-collapse: collapse; font-size: 13px; font-variant-numeric: tabular-nums; }
  th, td { padding: .2rem .6rem; border-bottom: 1px solid var(--line); text-align: left; white-space: nowrap; }
  th { position: sticky; top: 0; background: var(--soft); }
  .right { text-align: right; } .why { white-space: normal; min-width: 16rem; color: var(--dim); }
  tr.ours td { background: var(--soft); font-weight: 600; }
</style>
)";

std::string cell(const std::string& text, std::string_view style = {}) {
  return style.empty() ? "<td>" + escape_xml(text) + "</td>"
                       : fmt::format("<td class=\"{}\">{}</td>", style, escape_xml(text));
}

std::string number(const std::optional<double>& value, int decimals) {
  return cell(value ? fmt::format("{:.{}f}", *value, decimals) : "", "right");
}

std::string row_line(const ExperimentRow& row, bool published) {
  const ExperimentPoint& at = row.point;
  std::string out = row.method == "nest" ? "<tr class=\"ours\">" : "<tr>";
  out += cell(std::string(at.sweep->cluster)) + cell(std::string(at.model->name));
  out += cell(format_digits(at.devices), "right") + cell(std::to_string(at.micro_batch), "right");
  out += cell(row.method) + cell(row.status) + number(row.relative, 3);
  if (published) out += number(row.published, 3) + number(row.against_published, 3);
  out += cell(row.plan ? format(row.plan->predicted->step) : "", "right") + number(row.samples_per_s(), 1);
  out += cell(row.plan ? short_plan(row) : row.reason, row.plan ? "" : "why");
  return out + number(row.search_time.value, 3) + "</tr>\n";
}

std::string words_of(std::string_view method) {
  if (method == "nest") return "the search of this program, in the space of the paper's knobs";
  if (const Variant* variant = find_variant(method)) return std::string(variant->does);
  if (const Baseline* baseline = find_baseline(method))
    return std::string(baseline->title) + ": " + std::string(baseline->does);
  return "degrees that were given, with the best stage boundaries for them";
}

std::string pair_line(std::string_view name, std::string_view text) {
  return fmt::format("<dt>{}</dt><dd>{}</dd>\n", escape_xml(name), escape_xml(text));
}

}  // namespace

std::string experiment_page(const Experiment& experiment, const ExperimentResult& result,
                            const std::vector<std::pair<std::string, std::string>>& facts) {
  const std::string title = escape_xml(experiment.title);
  std::string out =
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>" +
      title + "</title>\n" + std::string(kStyle) + "</head>\n<body>\n<h1>" + title + "</h1>\n";
  out += "<p>Throughput relative to " + escape_xml(spell_reference(experiment, result.reference)) +
         ". All plans are checked and priced in the same way.</p>\n";
  out += "<figure>\n" + experiment_chart(experiment, result) + "</figure>\n";

  out += "<h2>What was run</h2>\n<dl>\n";
  for (const auto& [name, text] : facts) out += pair_line(name, text);
  Seconds searching;
  for (const ExperimentRow& row : result.rows) searching += row.search_time;
  out += pair_line("time", fmt::format("{:.1f} s; {:.1f} s of searching, summed over all rows",
                                       result.elapsed.value, searching.value));
  out += "</dl>\n<h2>Methods</h2>\n<dl>\n";
  std::vector<std::string> seen;
  for (const ExperimentRow& row : result.rows) {
    if (std::find(seen.begin(), seen.end(), row.method) != seen.end()) continue;
    seen.push_back(row.method);
    out += pair_line(row.method, words_of(row.method));
  }
  const bool published =
      std::any_of(result.rows.begin(), result.rows.end(), [](const auto& r) { return r.published; });
  out +=
      "</dl>\n<h2>Rows</h2>\n<p>Plans: t tensor, p pipeline, d data, z ZeRO, e expert, c context, v "
      "interleaving, "
      "b micro-batch where it is another.</p>\n<div class=\"rows\"><table>\n<tr>";
  for (const char* name : {"cluster", "model", "devices", "micro-batch", "method", "status", "relative"})
    out += fmt::format("<th>{}</th>", name);
  if (published) out += "<th>published</th><th>against published</th>";
  out += "<th>step</th><th>sequences/s</th><th>plan, or why there is none</th><th>search, s</th></tr>\n";
  for (const ExperimentRow& row : result.rows) out += row_line(row, published);
  return out + "</table></div>\n</body>\n</html>\n";
}

}  // namespace nest::report
