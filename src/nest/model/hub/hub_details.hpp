// The details of a model (see blocks/details.hpp) from a config.json: alternative spellings, class defaults of
// Transformers 5.16. Values that are no numbers are passed over, because no shape depends on them.
#pragma once

#include <string_view>

#include "nest/base/document/reader.hpp"
#include "nest/model/blocks/details.hpp"

namespace nest::model {

// What a config.json means when it leaves a key out; 0 where the class has no such thing.
struct DetailDefaults {
  double norm_epsilon = 0;
  double rotary_base = 0;
  double rotary_share = 1;
  double balance_loss = 0;
  bool normalized = true;
  std::int64_t groups = 0;
  std::int64_t group_top_k = 0;
  double scale = 1;
  bool sigmoid = false;
  bool balance_bias = false;
};
[[nodiscard]] ModelDetails read_details(Reader& r, const DetailDefaults& defaults);

// `type` is the model_type.
[[nodiscard]] ModelDetails read_details(Reader& r, std::string_view type);

}  // namespace nest::model
