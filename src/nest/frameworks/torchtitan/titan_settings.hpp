// A plan as torchtitan's settings. v0.2.2 reads them from TOML; the main branch of 2026-08-21 (b5bcd76c6) has no
// files of settings any more, so that it gets a function for its config registry in Python:
//
//   [parallelism]                                  def plan():
//   tensor_parallel_degree = 8                         config = llama3_8b()
//                                                      config.parallelism.tensor_parallel_degree = 8
//
// docs/export.md has both. data/frameworks/torchtitan_options.csv lists the options of each release, and a test
// compares.
#pragma once

#include <string>

#include "nest/frameworks/common/export_facts.hpp"

namespace nest::frameworks {

// Whether torch refuses the plan's schedule with blocks as torchtitan 0.2.2 compiles them: the files of the release then
// leave them as they are. (The main branch compiles blocks in place, which it does not see.)
[[nodiscard]] bool refuses_compiled(const ExportFacts& facts);

[[nodiscard]] std::string titan_toml(const ExportFacts& facts);
// A module with one function, `plan`.
[[nodiscard]] std::string titan_python(const ExportFacts& facts);

}  // namespace nest::frameworks
