// What a what-if study found: its rows as CSV, the points that nothing beats, and sentences.
//
//   sweep_findings(sweep, rows)
//       -> {"cluster.levels.1.bandwidth: 2GB/s gives 99 % of the best throughput; more than that hardly helps"}
#pragma once

#include <string>
#include <vector>

#include "nest/report/sweep/sweep.hpp"

namespace nest::report {

[[nodiscard]] std::string sweep_csv(const Sweep& sweep, const std::vector<SweepRow>& rows);

// Points that nothing beats: none has as much throughput with as little of everything that one pays for
// (dearer() of the axes, and the cost of a trillion tokens where prices are known).
[[nodiscard]] std::vector<std::size_t> pareto_front(const Sweep& sweep, const std::vector<SweepRow>& rows);

// Where more of a numeric first axis (or less, if that is what costs) stops paying: for each combination of
// the other axes the cheapest value that has 99 % of the best throughput. Of axes that cost nothing, the best
// value. Where prices are known, where a trillion tokens cost least.
[[nodiscard]] std::vector<std::string> sweep_findings(const Sweep& sweep, const std::vector<SweepRow>& rows);

}  // namespace nest::report
