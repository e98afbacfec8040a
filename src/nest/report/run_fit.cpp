#include "nest/report/run_fit.hpp"

#include <algorithm>
#include <cmath>
#include <set>

namespace nest {
namespace {

double predicted(const FitRow& row, double multiplier) {
  return multiplier * row.compute.value + row.other.value;
}

// Every row proposes the multiplier that makes it exact. The best median is at one of them or between two,
// and between two it is no better than a hair; ties go to the smaller sum.
double best_multiplier(const std::vector<const FitRow*>& rows) {
  std::vector<double> proposals{1};
  for (const FitRow* row : rows) {
    const double exact = (row->measured.value - row->other.value) / row->compute.value;
    if (row->compute.value > 0 && exact > 0 && std::isfinite(exact)) proposals.push_back(exact);
  }
  std::sort(proposals.begin(), proposals.end());
  double best = 1;
  std::pair<double, double> least{INFINITY, INFINITY};
  for (const double m : proposals) {
    std::vector<double> errors;
    double sum = 0;
    for (const FitRow* row : rows) {
      errors.push_back(std::abs(std::log(predicted(*row, m) / row->measured.value)));
      sum += errors.back();
    }
    const std::pair<double, double> cost{median_of(errors), sum};
    if (cost < least) {
      least = cost;
      best = m;
    }
  }
  return best;
}

}  // namespace

double FittedConstants::of(const FitRow& row) const {
  for (const std::string& key : row.keys) {
    if (const auto found = multipliers.find(key); found != multipliers.end()) return found->second;
  }
  return 1;
}

double FittedConstants::error(const FitRow& row) const {
  return predicted(row, of(row)) / row.measured.value - 1;
}

std::vector<FitRow> fit_rows(std::span<const RunResult> results) {
  std::vector<FitRow> out;
  for (const RunResult& r : results) {
    if (!r.headline()) continue;
    const std::string general = r.row.accelerator + " " + r.row.precision_class;
    const Seconds compute = r.prediction.compute();
    out.push_back({r.row.project(),
                   {general + " " + r.row.framework, general, r.row.accelerator},
                   r.measured,
                   compute,
                   r.prediction.step - compute});
  }
  return out;
}

FittedConstants fit_constants(std::span<const FitRow> rows) {
  std::map<std::string, std::vector<const FitRow*>> by_key;
  for (const FitRow& row : rows) {
    for (const std::string& key : row.keys) by_key[key].push_back(&row);
  }
  FittedConstants out;
  for (const auto& [key, members] : by_key) out.multipliers[key] = best_multiplier(members);
  return out;
}

ErrorSummary leave_one_out(std::span<const FitRow> rows, const Fit& fit) {
  std::set<std::string> sources;
  for (const FitRow& row : rows) sources.insert(row.source);
  std::vector<double> errors;
  for (const std::string& left_out : sources) {
    std::vector<FitRow> others;
    std::copy_if(rows.begin(), rows.end(), std::back_inserter(others),
                 [&](const FitRow& row) { return row.source != left_out; });
    const FittedConstants constants = fit(others);
    for (const FitRow& row : rows) {
      if (row.source == left_out) errors.push_back(constants.error(row));
    }
  }
  return summarize_errors("each source left out of the fit", errors);
}

}  // namespace nest
