// What products of weights are computed in, as a table: a new precision is one row of precision.cpp. The names
// are those of the command line, of recipes and of plans.
//
//   facts_of(Precision::mxfp8).operand_bytes   -> 1.03125: 8 bits a value and 8 for each 32
//   find_precision("nvfp4")                    -> Precision::nvfp4
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace nest::recipe {

enum class Precision {
  bf16,
  fp16,
  fp8,        // one scale for each tensor, taken from its largest value
  fp8_block,  // one scale for each 128 values of activations, and each 128 x 128 of weights
  mxfp8,      // one scale of 8 bits for each 32 values
  nvfp4,      // 4 bits a value, one scale of 8 bits for each 16 values
};

struct PrecisionFacts {
  Precision precision;
  std::string_view name;
  bool low;  // products take operands of 8 bits or fewer, which are cast from 16 bits
  double
      operand_bytes;  // of one value as products read it and as it is kept for the backward pass, with scales
  bool whole_scale;   // one scale for the whole tensor: its largest value is looked for in a pass of its own,
                      // unless the pass that made the tensor finds it
  double gather_bytes;  // of a weight that is held in this precision, as ZeRO gathers it
};

[[nodiscard]] std::span<const PrecisionFacts> precisions();
[[nodiscard]] const PrecisionFacts& facts_of(Precision precision);
[[nodiscard]] std::string_view name_of(Precision precision);
[[nodiscard]] std::optional<Precision> find_precision(std::string_view name);
[[nodiscard]] inline bool is_low(Precision precision) {
  return facts_of(precision).low;
}
[[nodiscard]] const std::vector<std::string>& precision_names();
// "bf16, fp16, fp8, fp8-block, mxfp8 or nvfp4"
[[nodiscard]] const std::string& precision_words();

}  // namespace nest::recipe
