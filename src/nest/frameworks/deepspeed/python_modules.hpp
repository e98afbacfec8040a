// Python of a DeepSpeed export: what ds_config.json cannot say.
//
//   nest_pipeline.py   a PipelineModule with the plan's stages, whose own partition methods cannot make them
//   nest_ulysses.py    the mesh of data and context ranks, and Ulysses' attention for models of Transformers
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "nest/frameworks/common/export_facts.hpp"

namespace nest::frameworks {

// For plans with several stages.
[[nodiscard]] std::string pipeline_module(const ExportFacts& facts);
// For plans with context ranks, which have one stage.
[[nodiscard]] std::string ulysses_module(const ExportFacts& facts);

// Stage i has the layers from bound i up to bound i + 1.
[[nodiscard]] std::vector<std::int64_t> stage_bounds(const ExportFacts& facts);

}  // namespace nest::frameworks
