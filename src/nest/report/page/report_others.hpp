// Other plans that a plan file tells of: what `nest plan` writes as "runners_up", or whole plans as
// "alternatives". What a report's table needs of each, checked.
//
//   [{"step_s": 8.71, "micro_batch": 1, "parallelism": {"tensor": 8, ..},
//     "loses_most_by": {"name", "change_s"}}]
#pragma once

#include "nest/base/document/document.hpp"
#include "nest/base/document/value.hpp"

namespace nest::report {

// In the file's order; an empty list where it tells of none. A broken entry is an InputError.
[[nodiscard]] Value other_plans(const Document& plan_file);

}  // namespace nest::report
