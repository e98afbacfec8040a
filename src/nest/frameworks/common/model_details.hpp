// What a config.json says of a model besides sizes, one row for each thing: exports write it in the target's words or
// name it as left out. The targets' words are tables of their own (megatron/megatron_details, maxtext/maxtext_details);
// where a target brings the model itself, the rows are compared with those of its model.
//
//   find_model_detail("attention_cap")->value(zoo_model("gemma2-9b")) == "50"
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nest/model/blocks/spec.hpp"

namespace nest::frameworks {

struct ModelDetail {
  std::string_view key;
  std::string_view name;                        // "the soft cap of attention's scores"
  std::string (*value)(const ModelSpec& spec);  // in short words; "" where the model has none of it
};

[[nodiscard]] std::span<const ModelDetail> model_details();
[[nodiscard]] const ModelDetail* find_model_detail(std::string_view key);

// "left out: the soft cap of attention's scores, 50"
[[nodiscard]] std::string left_out(const ModelDetail& detail, const ModelSpec& spec);

// Sentences about the rows in which `own` differs from `theirs`, a model of equal sizes that `who` brings along:
// "torchtitan's model has other values: the norms' epsilon, 1e-05 in place of 1e-06".
[[nodiscard]] std::vector<std::string> differing_details(const ModelSpec& own, const ModelSpec& theirs,
                                                         std::string_view who);

// The stack that is the decoder, and its first block with attention; none where there is no such block.
[[nodiscard]] const StackSpec& decoder_of(const ModelSpec& spec);
[[nodiscard]] const BlockSpec* attending_block(const StackSpec& stack);
[[nodiscard]] const ExpertsSpec* experts_of(const StackSpec& stack);

// Of each block of the stack, whether it has something.
template <class Predicate>
[[nodiscard]] std::vector<bool> layers_with(const StackSpec& stack, Predicate has) {
  std::vector<bool> layers;
  layers.reserve(stack.blocks.size());
  for (const BlockSpec& block : stack.blocks) layers.push_back(has(block));
  return layers;
}
[[nodiscard]] bool attends(const BlockSpec& block);  // block.attention is used

}  // namespace nest::frameworks
