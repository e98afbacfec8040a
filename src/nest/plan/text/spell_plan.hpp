// A plan's choices in words, for sentences and tables:
//
//   tensor 4, sequence parallel, pipeline 8 (interleaved, 2 chunks), data 32, ZeRO 1
#pragma once

#include <span>
#include <string>

#include "nest/plan/plan.hpp"

namespace nest::plan {

[[nodiscard]] std::string spell_degrees(const Plan& plan);

// One phrase for all stages: "selective", "full on 2 layers"; where they differ, each with its number of
// stages: "none (2 stages), full (1 stage)".
[[nodiscard]] std::string spell_recompute(std::span<const Stage> stages);

// What is trained, where not all of the model is: "trained: lora:16; frozen weights in 4 bits"; else empty.
[[nodiscard]] std::string spell_tuning(const Tuning& tuning);

// What one step trains: "global batch 1,024 of 8,192 tokens; bf16, adam; trained: lora:16".
[[nodiscard]] std::string spell_training(const Training& training);

// How likely a plan fits in memory: "83 %", or "97 % or more" where measured runs are too few to tell; empty where
// nothing is known.
[[nodiscard]] std::string spell_fitting(const Prediction& predicted);

// "compute" of "compute_s": what a part of the breakdown is called.
[[nodiscard]] std::string spell_term(const char* key);
// "activations" of "activations_bytes": what a part of a stage's memory is called.
[[nodiscard]] std::string spell_memory(const char* key);

}  // namespace nest::plan
