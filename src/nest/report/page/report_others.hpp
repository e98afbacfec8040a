// The other plans that a plan file tells of: in the words of the file, as much of them as a table shows. The strict
// optimum is the first where a simpler plan stands in its place; near ties are marked.
//
//   [{"step_s", "micro_batch", "devices", "parallelism": {"tensor": 8, "pipeline": 4, "zero": 1, "recompute": "full"},
//     "strict": true, "near_tie": true, "loses_most_by": {"name", "change_s"}}]
#pragma once

#include "nest/base/document/document.hpp"
#include "nest/base/document/value.hpp"

namespace nest::report {

// Of "strict" and "runners_up", else of the whole plans under "alternatives"; empty where the file has none of them.
[[nodiscard]] Value other_plans(const Document& plan_file);

}  // namespace nest::report
