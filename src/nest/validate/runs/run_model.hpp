// The model of a published run, from the shape that its row states. Names decide the family only:
//
//   Mixtral, Qwen, DeepSeek, ...   the zoo's model of that name and width, with the row's layers and vocabulary
//   GPT, BLOOM, MPT                layer norms, biases, learned positions, a plain gelu, head tied to the table
//   MaxText 22B                    by size: gated or plain, heads of 128 or hidden / heads, what comes nearest
//   everything else                Llama: rms norms, rotary positions, swiglu, no biases
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "nest/model/blocks/spec.hpp"
#include "nest/validate/runs/run_rows.hpp"

namespace nest::validate {

struct RunModel {
  std::optional<ModelSpec> spec;
  std::string why_not;  // where there is none
};

[[nodiscard]] RunModel run_model(const RunRow& row);

// Of all matrices that a token goes through, the head included: what FLOP counts multiply by 2.
[[nodiscard]] std::int64_t active_matmul_parameters(const ModelSpec& spec);

}  // namespace nest::validate
