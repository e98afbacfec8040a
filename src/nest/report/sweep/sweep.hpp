// A what-if study: the best plan at every combination of values of up to three input fields. Rows are told as
// they come, so that a study that is interrupted goes on where it was.
//
//   Sweep sweep{{inputs, asked}, {read_sweep_axis("cluster.levels.2.bandwidth=12.5GB/s..400GB/s:log6")}};
//   run_sweep(sweep, {}, [&](const SweepRow& row) { append(to_json_line(to_value(row, sweep))); });
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "nest/base/document/value.hpp"
#include "nest/plan/plan.hpp"
#include "nest/report/sweep/sweep_axis.hpp"
#include "nest/report/sweep/sweep_question.hpp"

namespace nest::report {

inline constexpr std::size_t kMostSweepAxes = 3;
inline constexpr std::size_t kMostSweepPoints = 100'000;

struct Sweep {
  SweepBase base;
  std::vector<SweepAxis> axes;

  [[nodiscard]] std::size_t points() const;
  // The values at a point, first axis slowest.
  [[nodiscard]] std::vector<FieldValue> at(std::size_t point) const;
  // Of everything that the rows depend on besides their values: rows of another study are not taken for ours.
  [[nodiscard]] std::string fingerprint() const;
};

struct SweepRow {
  std::size_t point = 0;
  std::string status;  // of the plan; "invalid" where the inputs are not
  std::string reason;
  double step_s = 0;  // the rest is 0 or empty without a plan
  double tokens_per_s = 0;
  double mfu = 0;
  double memory_share = 0;        // of the fullest device
  Prediction sure;                // intervals and the probability of fitting alone
  std::int64_t devices = 0;       // that the plan uses
  std::int64_t rented = 0;        // whole nodes
  std::optional<double> cost;     // of a trillion tokens, failures considered; none without a price
  std::optional<double> goodput;  // none where nothing is said of failures
  std::string plan;               // degrees in brief
  Value parallelism;
  double search_s = 0;
  // A limit came before a plan was found, or the study was interrupted meanwhile: no row for the file, so that
  // the next run asks again.
  bool broken_off = false;

  [[nodiscard]] bool has_plan() const { return tokens_per_s > 0; }
};

struct SweepOptions {
  int threads = 0;             // points at a time; 0: one for each core
  std::vector<SweepRow> done;  // rows of an earlier run
  // Of all points together, each of which has an equal part of what is left, or two seconds; none is
  // begun once it is over.
  Deadline deadline;
};

// All rows in the order of the points (those of `done` too); `told` gets each new row as it is ready, one at
// a time.
[[nodiscard]] std::vector<SweepRow> run_sweep(const Sweep& sweep, const SweepOptions& options,
                                              const std::function<void(const SweepRow&)>& told);

// One line of the results file, and back. Lines of other studies, and a last one that is cut off, give
// nothing.
[[nodiscard]] Value to_value(const SweepRow& row, const Sweep& sweep);
[[nodiscard]] std::vector<SweepRow> read_sweep_rows(std::string_view text, const Sweep& sweep);

}  // namespace nest::report
