// Words for the rows of model_details(), which stand in two files: attention_details.cpp and layer_details.cpp.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string>
#include <string_view>

#include "nest/frameworks/common/model_details.hpp"

namespace nest::frameworks {

[[nodiscard]] std::span<const ModelDetail> attention_details();
[[nodiscard]] std::span<const ModelDetail> layer_details();

[[nodiscard]] std::string short_real(double value);
[[nodiscard]] std::string_view word_of_norm(NormKind kind);
// The row's number, where the model states it.
[[nodiscard]] std::string plain_number(const ModelSpec& spec, std::string_view name);

// "in 36 of 48 layers", "in all layers"; "" where none has it.
template <class Predicate>
[[nodiscard]] std::string layers_text(const ModelSpec& spec, Predicate has) {
  const std::vector<bool> layers = layers_with(decoder_of(spec), has);
  const auto with = std::count(layers.begin(), layers.end(), true);
  if (with == 0) return "";
  return with == static_cast<std::ptrdiff_t>(layers.size())
             ? "in all layers"
             : fmt::format("in {} of {} layers", with, layers.size());
}

}  // namespace nest::frameworks
