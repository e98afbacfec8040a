#include "nest/report/reproduce/published.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "nest/base/document/csv.hpp"

namespace nest::report {
namespace {

struct MethodColumn {
  std::string_view method;
  std::string_view column;
};
constexpr std::array<MethodColumn, 5> kColumns{
    {{"manual", "manual"}, {"mcmc", "mcmc"}, {"alpa", "alpa_e"}, {"phaze", "phaze"}, {"nest", "nest"}}};

std::optional<double> figure_of(const std::vector<PublishedPoint>& all, const ExperimentPoint& point,
                                std::string_view method) {
  constexpr std::string_view kGiven = "given ";
  if (method.starts_with(kGiven)) method.remove_prefix(kGiven.size());
  for (const PublishedPoint& p : all) {
    if (p.experiment != point.experiment->name || p.setup != point.sweep->published ||
        p.model != point.model->published || p.devices != point.devices || p.micro_batch != point.micro_batch)
      continue;
    const auto at =
        std::find_if(p.ratios.begin(), p.ratios.end(), [&](const auto& r) { return r.first == method; });
    if (at != p.ratios.end()) return at->second;
  }
  return std::nullopt;
}

}  // namespace

std::vector<PublishedPoint> read_published(const std::string& file, std::string_view text) {
  const CsvTable table(file, text);
  table.require({"experiment", "setup", "model", "devices", "micro_batch", "manual", "nest"});
  std::vector<PublishedPoint> points;
  for (const CsvRow& row : table.rows()) {
    PublishedPoint p{row.text("experiment"), row.text("setup"), row.text("model"), 0, 0, {}};
    p.devices = row.whole("devices").value_or(0);
    p.micro_batch = row.whole("micro_batch").value_or(0);
    for (const MethodColumn& c : kColumns)
      if (const auto ratio = row.number(c.column)) p.ratios.emplace_back(c.method, *ratio);
    points.push_back(std::move(p));
  }
  return points;
}

void set_beside(ExperimentResult& result, const std::vector<PublishedPoint>& published) {
  for (ExperimentRow& row : result.rows) {
    row.published = figure_of(published, row.point, row.method);
    if (!row.published || !row.plan) continue;
    const auto both = [&](const ExperimentRow& r) {
      return figure_of(published, r.point, r.method).has_value();
    };
    const ExperimentRow* reference = reference_row(result.rows, row.point, result.reference, both);
    if (reference == nullptr) continue;
    const double ours = *row.samples_per_s() / *reference->samples_per_s();
    const double theirs = *row.published / *figure_of(published, reference->point, reference->method);
    row.against_published = ours / theirs;
  }
}

}  // namespace nest::report
