#include "nest/model/blocks/detail_numbers.hpp"

#include <algorithm>
#include <array>

namespace nest::model {
namespace {

constexpr std::array kNumbers{
    DetailNumber{"local_rotary_base"},   // of layers with a window; 0: that of the others
    DetailNumber{"attention_cap"},       // scores stay below it: cap * tanh(score / cap)
    DetailNumber{"logit_cap"},           // the same of logits
    DetailNumber{"attention_scale"},     // of scores; 0: one over the root of a head's width
    DetailNumber{"embedding_scale", 1},  // of what comes out of the token table
    DetailNumber{"residual_scale", 1},   // of what a branch adds
    DetailNumber{"logit_scale", 1},      //
    DetailNumber{"temperature_scale"},   // queries without rotary positions grow with the logarithm of theirs
    DetailNumber{"temperature_floor"},   // counted in such steps
    DetailNumber{"activation_limit"},    // gates and values of experts are cut there
    DetailNumber{"activation_slope", 1},  // of the sigmoid of a gate: x * sigmoid(slope * x)
    DetailNumber{"activation_offset"},    // is added to the values beside a gate
    DetailNumber{"weights_on_input"},     // the router's weight is a factor of what an expert reads
    DetailNumber{"squared_relu"},         // the square of the activation relu
    DetailNumber{"projection_clip"},      // queries, keys and values are cut there
    DetailNumber{"delta_kernel"},         // positions of the convolution before a delta rule
    DetailNumber{"delta_key_heads"},      //
    DetailNumber{"delta_key_dim"},        //
    DetailNumber{"delta_value_heads"},    //
    DetailNumber{"delta_value_dim"},      //
};

}  // namespace

std::span<const DetailNumber> detail_numbers() {
  return kNumbers;
}

const DetailNumber* find_detail_number(std::string_view name) {
  const auto* const at = std::ranges::find(kNumbers, name, &DetailNumber::name);
  return at == kNumbers.end() ? nullptr : &*at;
}

double number_of(const ModelDetails& details, std::string_view name) {
  const auto at = details.numbers.find(name);
  return at != details.numbers.end() ? at->second : find_detail_number(name)->neutral;
}

bool states(const ModelDetails& details, std::string_view name) {
  return number_of(details, name) != find_detail_number(name)->neutral;
}

}  // namespace nest::model
