// The YAML of `accelerate config` as a plan: FSDP, DeepSpeed, plain copies, and the mesh of parallelism_config.
// Keys of the groups are read with and without their prefix. Model, sequence and batch come from options, a
// DeepSpeed file from beside.
//
//   const OpenPlan open = import_accelerate({.file = "fsdp.yaml", .text = text, .model = "llama3.1-8b"}, warnings);
#pragma once

#include "nest/base/error.hpp"
#include "nest/frameworks/common/import_question.hpp"

namespace nest::frameworks {

[[nodiscard]] OpenPlan import_accelerate(const ImportQuestion& question, Warnings& warnings);

}  // namespace nest::frameworks
