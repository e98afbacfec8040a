#include "nest/frameworks/common/model_details.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "nest/frameworks/common/detail_text.hpp"
#include "nest/model/blocks/detail_numbers.hpp"

namespace nest::frameworks {

std::string short_real(double value) {
  return fmt::format("{:.12g}", value);
}

std::string_view word_of_norm(NormKind kind) {
  switch (kind) {
    case NormKind::rms:
      return "RMS";
    case NormKind::layer:
      return "layer norm";
    case NormKind::layer_weight:
      return "layer norm without bias";
    case NormKind::bare:
      return "without parameters";
  }
  return "";
}

std::string plain_number(const ModelSpec& spec, std::string_view name) {
  return states(spec.details, name) ? fmt::format("{:.6g}", number_of(spec.details, name)) : "";
}

std::span<const ModelDetail> model_details() {
  static const std::vector<ModelDetail> kAll = [] {
    std::vector<ModelDetail> all(attention_details().begin(), attention_details().end());
    all.insert(all.end(), layer_details().begin(), layer_details().end());
    return all;
  }();
  return kAll;
}

const ModelDetail* find_model_detail(std::string_view key) {
  const auto all = model_details();
  const auto at = std::ranges::find(all, key, &ModelDetail::key);
  return at == all.end() ? nullptr : &*at;
}

std::string left_out(const ModelDetail& detail, const ModelSpec& spec) {
  return fmt::format("left out: {}, {}", detail.name, detail.value(spec));
}

std::vector<std::string> differing_details(const ModelSpec& own, const ModelSpec& theirs,
                                           std::string_view who) {
  std::vector<std::string> out;
  for (const ModelDetail& detail : model_details()) {
    const std::string mine = detail.value(own);
    const std::string other = detail.value(theirs);
    if (mine == other) continue;
    out.push_back(fmt::format("{}: {} has {}, the model {}", detail.name, who, other.empty() ? "none" : other,
                              mine.empty() ? "none" : mine));
  }
  return out;
}

const StackSpec& decoder_of(const ModelSpec& spec) {
  return spec.stacks.back();
}

const BlockSpec* attending_block(const StackSpec& stack) {
  const auto at = std::find_if(stack.blocks.begin(), stack.blocks.end(), attends);
  return at == stack.blocks.end() ? nullptr : &*at;
}

const ExpertsSpec* experts_of(const StackSpec& stack) {
  const auto at =
      std::find_if(stack.blocks.begin(), stack.blocks.end(), [](const BlockSpec& b) { return b.experts; });
  return at == stack.blocks.end() ? nullptr : &*at->experts;
}

bool attends(const BlockSpec& block) {
  return block.attention.heads > 0;
}

}  // namespace nest::frameworks
