// The stages of a plan as a few rows, whatever their number: neighbours with as many layers and the same
// choices share a row, and what is still too many is cut in the middle.
//
//   stages  layers          recompute  per micro-batch  memory
//   0       0-10            selective           218 ms  76.8 GiB        #########. 96 %
//   1-6     11-70, 10 each  selective           216 ms  43.8-70 GiB     ########.. 88 %
//   7       71-81           selective           242 ms  42.3 GiB        #####..... 53 %
#pragma once

#include <string>
#include <vector>

#include "nest/plan/plan.hpp"

namespace nest::report {

struct StageRow {
  std::string stages;
  std::string layers;
  std::string strategy;
  std::string recompute;
  std::string time;
  std::string memory;
  double share = 0;  // of a device's memory, of the fullest of them
};

// Of a plan with results.
[[nodiscard]] std::vector<StageRow> stage_rows(const Plan& plan, std::size_t most = 10);

// A bar of so many characters, a share of them '#'.
[[nodiscard]] std::string text_bar(double share, std::size_t width);

// "216-218 ms" of "216 ms" and "218 ms"; both in full where their units differ.
[[nodiscard]] std::string text_range(const std::string& low, const std::string& high);

}  // namespace nest::report
