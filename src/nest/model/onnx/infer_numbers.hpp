// Contents of small values that follow from contents: the sizes with which exporters compute shapes.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "nest/model/onnx/infer.hpp"

namespace nest::model {

// Fills in what the node makes, where it is computed from known numbers. Its shapes are there already.
void compute_numbers(const InferStep& step, OnnxShapes& values);

// One number from one number of each input, element by element; none for operators that are no such.
[[nodiscard]] std::optional<double> combine_numbers(std::string_view op, const std::vector<double>& numbers);

}  // namespace nest::model
