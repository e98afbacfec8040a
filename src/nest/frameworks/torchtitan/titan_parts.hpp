// How torchtitan cuts a model into the parts of a pipeline: by the names of modules that a file lists, or by its
// own rule, in which the embedding and the head count as layers.
//
//   titan_even_parts(4, 32, 1, 1)  ->  {9, 9, 8, 8} layers with embedding and head: 8, 9, 8, 7 blocks and so on
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "nest/base/document/value.hpp"

namespace nest::frameworks {

// Layers of every part, the embedding and the head among them. `first` and `last` are what the embedding and
// the head count as. Throws an InputError, with no file, where a part would be empty.
[[nodiscard]] std::vector<std::int64_t> titan_even_parts(std::int64_t parts, std::int64_t blocks,
                                                         std::int64_t first, std::int64_t last);

// The same of module_fqns_per_model_part. Throws where the names are not all layers in their order.
[[nodiscard]] std::vector<std::int64_t> titan_named_parts(const Value& names, std::int64_t blocks);

}  // namespace nest::frameworks
