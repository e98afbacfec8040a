// What the paper published for its experiments, read from a CSV file (columns experiment, setup, model,
// devices, micro_batch, and one for each method), and set beside our rows.
//
//   set_beside(result, read_published("published.csv", text));
//   result.rows[4].published == 1.35, result.rows[4].against_published == 0.98
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "nest/report/reproduce/run_experiment.hpp"

namespace nest::report {

struct PublishedPoint {
  std::string experiment;
  std::string setup;
  std::string model;
  std::int64_t devices = 0;
  std::int64_t micro_batch = 0;
  std::vector<std::pair<std::string, double>> ratios;  // by our name of the method; feasible ones only
};

[[nodiscard]] std::vector<PublishedPoint> read_published(const std::string& file, std::string_view text);

// Fills `published` with the figure as it stands in the file (of manual also for "given manual"), and
// `against_published` with our relation to manual over theirs. The file's figures are relative to manual at
// its first scale, which need not be ours: both are taken relative to manual at the first point where both
// have it.
void set_beside(ExperimentResult& result, const std::vector<PublishedPoint>& published);

}  // namespace nest::report
