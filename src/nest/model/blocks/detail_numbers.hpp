// Values of a model that no size shows, by name: one row for each that a family's file may state (data/families,
// `details`), with the value that changes nothing.
//
//   number_of(zoo_model("gemma2-9b").details, "attention_cap") == 50
#pragma once

#include <span>
#include <string_view>

#include "nest/model/blocks/details.hpp"

namespace nest::model {

struct DetailNumber {
  std::string_view name;
  double neutral = 0;
};

[[nodiscard]] std::span<const DetailNumber> detail_numbers();
[[nodiscard]] const DetailNumber* find_detail_number(std::string_view name);

// The neutral value where the model does not state it. The name must be one of the table.
[[nodiscard]] double number_of(const ModelDetails& details, std::string_view name);
[[nodiscard]] bool states(const ModelDetails& details, std::string_view name);

}  // namespace nest::model
