// What nest validate prints: rows, skipped rows by reason, summaries.
#pragma once

#include <string>

#include "nest/validate/collectives/collective_runs.hpp"
#include "nest/validate/validate_memory.hpp"
#include "nest/validate/validate_runs.hpp"
#include "terminal.hpp"

namespace nest::cli {

[[nodiscard]] std::string validation_text(const CollectiveRuns& runs, const Terminal& terminal);
[[nodiscard]] std::string validation_text(const RunValidation& runs, const Terminal& terminal);
[[nodiscard]] std::string validation_text(const MemoryValidation& memory, const Terminal& terminal);

}  // namespace nest::cli
