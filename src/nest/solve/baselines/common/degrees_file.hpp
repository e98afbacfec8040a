// Tables of degrees that others chose, as CSV files: one row for each model, cluster and planner.
//
//   setup,devices,baseline,model,layers,pipeline,data,tensor
//   h100_spineLeaf,1024,manual,megatrongpt3,96,32,8,4
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "nest/solve/baselines/common/baseline.hpp"

namespace nest::solve {

struct DegreesRow {
  std::string setup;  // the cluster; empty: any
  std::optional<std::int64_t> devices;
  std::string baseline;  // who chose them
  std::string model;     // empty: any
  std::optional<std::int64_t> layers;
  GivenDegrees degrees;
  int line = 0;
};

// Columns pipeline, data and tensor must be there, the others may be missing or empty. Throws an InputError.
[[nodiscard]] std::vector<DegreesRow> read_degrees(const std::string& file);

// What a row is matched with.
struct DegreesKey {
  std::string model;  // a zoo name, or the name of a layer profile
  std::int64_t blocks = 0;
  std::int64_t layers = 0;
  std::string cluster;
  std::int64_t devices = 0;
};
[[nodiscard]] DegreesKey degrees_key(const PlanQuestion& question);

// Whose degrees they are, and the degrees, in the order of the rows and without repeats. A row's layers may
// count all layers or only blocks.
[[nodiscard]] std::vector<std::pair<std::string, GivenDegrees>> matching_degrees(
    const std::vector<DegreesRow>& rows, const DegreesKey& key);

}  // namespace nest::solve
