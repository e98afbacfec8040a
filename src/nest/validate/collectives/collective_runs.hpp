// The collective model against published measurements.
//
//   const CollectiveRuns runs = check_collectives(read_collective_rows(file, text));
//   runs.all.median   -> 0.06                      fractions of the measured time
//   to_value(runs)    -> {"rows": 102, "usable": .., "skipped": .., "median_abs_error": .., ..}
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "nest/base/document/error_summary.hpp"
#include "nest/base/document/value.hpp"
#include "nest/base/units.hpp"
#include "nest/estimate/collectives/fabric.hpp"
#include "nest/validate/collectives/collective_rows.hpp"

namespace nest::validate {

// Smaller messages are launch overhead more than network: they are scored when asked only.
inline constexpr Bytes kScoredMessage{1'000'000};
// Above this, bandwidth counts more than steps: strata by members and by collective have these messages only.
inline constexpr Bytes kStratumMessage{16'000'000};

struct CollectiveResult {
  std::string id;
  std::string source;
  std::string stratum;  // collective and hardware
  CollectiveKind kind = CollectiveKind::none;
  std::int32_t members = 0;
  Bytes message;
  Seconds measured;
  Seconds predicted;
  Seconds ideal;       // with ideal constants
  bool usable = true;  // false: below kScoredMessage
  std::string why_skipped;

  [[nodiscard]] bool scored() const { return usable && why_skipped.empty(); }
  [[nodiscard]] double error() const { return predicted.value / measured.value - 1; }
};

struct CollectiveRuns {
  std::vector<CollectiveResult> rows;
  ErrorSummary all;
  ErrorSummary constant;  // a single share of the ideal rate, the best one, for every row
  // By collective and hardware; then "2 members above 16 MB", ..; then "all-gather above 16 MB", ..
  std::vector<ErrorSummary> strata;
  std::int64_t pairs = 0;  // rows with the same collective and size: is the one said to be faster the faster?
  std::int64_t right = 0;
  double regret = 0;  // mean loss, over all pairs, of trusting the model
};

struct CollectiveCheckOptions {
  bool all = false;  // score small messages too
  // The constants for a row's cluster; by default those of data/fabrics.yaml.
  std::function<FabricConstants(const CollectiveCase&)> constants;
};
[[nodiscard]] CollectiveRuns check_collectives(std::span<const CollectiveRow> rows,
                                               const CollectiveCheckOptions& options = {});

// Summaries over results of any origin.
[[nodiscard]] CollectiveRuns score_collectives(std::vector<CollectiveResult> results);

[[nodiscard]] Value to_value(const CollectiveRuns& runs);

}  // namespace nest::validate
