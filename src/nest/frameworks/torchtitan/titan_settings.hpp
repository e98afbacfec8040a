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

[[nodiscard]] std::string titan_toml(const ExportFacts& facts);
// A module with one function, `plan`.
[[nodiscard]] std::string titan_python(const ExportFacts& facts);

}  // namespace nest::frameworks
