// For tests of this room: a made-up run that is fully stated, and tables of published runs.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include "nest/validate/runs/run_rows.hpp"

namespace nest::validate {

// A small table that is always there (tests/data).
inline std::string small_file(const std::string& name) {
  return NEST_SOURCE_DIR "/tests/data/" + name;
}

// A large table, read in addition: "" where the folder of NEST_SHARED (by default the folder `shared` beside
// the repository) does not have it.
inline std::string shared_file(const std::string& name) {
  const char* folder = std::getenv("NEST_SHARED");
  const auto file = std::filesystem::path(folder ? folder : NEST_SOURCE_DIR "/../shared") / name;
  return std::filesystem::exists(file) ? file.string() : "";
}

// A Llama-like model on two nodes, measured at one second a step.
inline RunRow made_up_run() {
  RunRow r;
  r.id = "made-up";
  r.source = "lab/runs table";
  r.model = "Llama tiny";
  r.layers = 8;
  r.hidden = 2048;
  r.heads = 16;
  r.kv_heads = 8;
  r.ffn = 5632;
  r.vocab = 32000;
  r.sequence = 4096;
  r.global_batch = 64;
  r.micro_batch = 2;
  r.accelerator = "h100-sxm";
  r.devices = 16;
  r.devices_per_node = 8;
  r.intra_gb_per_s = 450;
  r.inter_gb_per_s = 50;
  r.tensor = 2;
  r.context = 1;
  r.pipeline = 2;
  r.data = 4;
  r.zero = 1;
  r.framework = "megatron";
  r.precision = "bf16";
  r.precision_class = "16bit";
  r.recompute_policy = "none";
  r.flash = true;
  r.metric = "iteration_s";
  r.measured = 1;
  return r;
}

}  // namespace nest::validate
