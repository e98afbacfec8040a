// Everything that the report's page shows of a plan, as one object (docs/formats/report.md): the plan's own
// keys with its devices in short, what it costs and why, one step of it simulated, and what it was made from.
//
//   const Value data = report_value(read_document("plan.json"), {.command = "nest report plan.json"});
//   {"nest": {..}, "status": "optimal", .., "title": "llama3.1-70b on h100-spine-leaf", "placement": {..},
//    "timeline": {..}, "traffic": {..}, "sensitivity": {..}, "alternatives": [..], "notes": [..]}
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "nest/base/document/document.hpp"
#include "nest/base/document/value.hpp"
#include "nest/base/error.hpp"
#include "nest/plan/plan.hpp"
#include "nest/price/price.hpp"

namespace nest::report {

struct ReportOptions {
  std::string title;    // empty: the model on the cluster
  std::string command;  // that made the report, to make it again
  PriceOptions price;
  std::size_t most_segments = 30'000;  // of the timeline: more are cut in the middle
  double most_passes = 2e6;            // plans with more are not simulated
  // Called before each part; throws where nobody wants the report any more.
  std::function<void()> go_on = [] {};
};

// A plan that is not priced yet, or not complete, is completed and priced. One that does not fit is shown
// with what does not; one that breaks a rule is an InputError.
[[nodiscard]] Value report_value(const Document& plan_file, const ReportOptions& options = {});

// Where the cells of a placed plan lie: {"used", "stages": [{"cell": 8, "starts": [0, 64, ..]}]}, a cell
// being `cell` devices from its start on. Cells whose devices are not in a row are lists, one after the
// other:
// {"cell": 2, "devices": [0, 8, 1, 9]}.
[[nodiscard]] Value placement_value(const Plan& placed);

}  // namespace nest::report
