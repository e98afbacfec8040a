#include "nest/recipe/precision.hpp"

#include <algorithm>
#include <array>

namespace nest::recipe {
namespace {

// Gathers: tensor-wise weights travel in 8 bits. Those with scales for each block need them along rows and along
// columns, so that 16-bit weights are gathered and cast where they arrive (Megatron-Core 0.16).
constexpr std::array<PrecisionFacts, 6> kPrecisions{{
    {Precision::bf16, "bf16", false, 2, false, 2},
    {Precision::fp16, "fp16", false, 2, false, 2},
    {Precision::fp8, "fp8", true, 1, true, 1},
    {Precision::fp8_block, "fp8-block", true, 1 + 4.0 / 128, false, 2},
    {Precision::mxfp8, "mxfp8", true, 1 + 1.0 / 32, false, 2},
    {Precision::nvfp4, "nvfp4", true, 0.5 + 1.0 / 16, true, 2},
}};

}  // namespace

std::span<const PrecisionFacts> precisions() {
  return kPrecisions;
}

const PrecisionFacts& facts_of(Precision precision) {
  return kPrecisions[static_cast<std::size_t>(precision)];
}

std::string_view name_of(Precision precision) {
  return facts_of(precision).name;
}

std::optional<Precision> find_precision(std::string_view name) {
  const auto* const at = std::find_if(kPrecisions.begin(), kPrecisions.end(),
                                      [&](const PrecisionFacts& f) { return f.name == name; });
  if (at == kPrecisions.end()) return std::nullopt;
  return at->precision;
}

const std::vector<std::string>& precision_names() {
  static const std::vector<std::string> kNames = [] {
    std::vector<std::string> names;
    names.reserve(kPrecisions.size());
    for (const PrecisionFacts& f : kPrecisions) names.emplace_back(f.name);
    return names;
  }();
  return kNames;
}

const std::string& precision_words() {
  static const std::string kWords = [] {
    std::string all;
    for (std::size_t i = 0; i < kPrecisions.size(); ++i) {
      all += i == 0 ? "" : i + 1 == kPrecisions.size() ? " or " : ", ";
      all += kPrecisions[i].name;
    }
    return all;
  }();
  return kWords;
}

}  // namespace nest::recipe
