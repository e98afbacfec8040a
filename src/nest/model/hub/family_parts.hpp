// The lists of steps in a file of data/families, for one layer of one config.json:
//
//   parts:
//     gate:
//       - {linear: x, to: {g: {ffn: intermediate_size}}, bias: mlp_bias}
//       - {pass: g, kind: gelu}
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "nest/model/hub/family_fields.hpp"

namespace nest::model {

// The steps of the part of that name; `hidden` is the width of the stack.
[[nodiscard]] std::vector<StepSpec> steps_of(Fields& f, const std::string& part, std::int64_t hidden);

// The words that say of what kind a step is.
[[nodiscard]] bool is_step_kind(const std::string& word);
[[nodiscard]] std::vector<std::string> step_kinds();
[[nodiscard]] std::optional<Axis> axis_named(const std::string& name);

[[nodiscard]] NormKind norm_kind_of(Fields& f, const std::string& field);

}  // namespace nest::model
