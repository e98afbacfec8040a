#include "nest/frameworks/torchtitan/titan_flavors.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "nest/model/zoo.hpp"
#include "nest/plan/frameworks/framework_releases.hpp"

namespace nest::frameworks {
namespace {

constexpr std::int64_t kLlama = 128256;
constexpr std::int64_t kQwen = 151936;

// The first function of a module is what others begin with.
constexpr std::array kFlavors{
    TitanFlavor{"llama3", "8B", "llama3_8b", "", {32, 4096, 32, 8, 14336, kLlama}, "llama3.1-8b"},
    TitanFlavor{
        "llama3", "1B", "", "main", {16, 2048, 32, 8, 8192, kLlama, 0, 0, 0, 0, 0, true}, "llama3.2-1b"},
    TitanFlavor{
        "llama3", "3B", "", "main", {28, 3072, 24, 8, 8192, kLlama, 0, 0, 0, 0, 0, true}, "llama3.2-3b"},
    TitanFlavor{"llama3", "70B", "llama3_70b", "", {80, 8192, 64, 8, 28672, kLlama}, "llama3.1-70b"},
    TitanFlavor{"llama3", "405B", "llama3_405b", "", {126, 16384, 128, 8, 53248, kLlama}, "llama3.1-405b"},
    TitanFlavor{"qwen3", "14B", "qwen3_14b", "", {40, 5120, 40, 8, 17408, kQwen}, "qwen3-14b"},
    TitanFlavor{
        "qwen3", "0.6B", "qwen3_0_6b", "", {28, 1024, 16, 8, 3072, kQwen, 0, 0, 0, 0, 0, true}, "qwen3-0.6b"},
    TitanFlavor{
        "qwen3", "1.7B", "qwen3_1_7b", "", {28, 2048, 16, 8, 6144, kQwen, 0, 0, 0, 0, 0, true}, "qwen3-1.7b"},
    TitanFlavor{"qwen3", "4B", "", "", {36, 2560, 32, 8, 9728, kQwen, 0, 0, 0, 0, 0, true}, "qwen3-4b"},
    TitanFlavor{"qwen3", "8B", "", "", {36, 4096, 32, 8, 12288, kQwen}, "qwen3-8b"},
    TitanFlavor{"qwen3", "32B", "qwen3_32b", "", {64, 5120, 64, 8, 25600, kQwen}, "qwen3-32b"},
    TitanFlavor{
        "qwen3", "30B-A3B", "qwen3_30b_a3b", "", {48, 2048, 32, 4, 0, kQwen, 128, 8, 768}, "qwen3-30b-a3b"},
    TitanFlavor{"qwen3", "235B-A22B", "", "", {94, 4096, 64, 4, 0, kQwen, 128, 8, 1536}, "qwen3-235b-a22b"},
    TitanFlavor{"deepseek_v3",
                "671B",
                "deepseek_v3_671b",
                "",
                {61, 7168, 128, 128, 18432, 129280, 256, 8, 2048, 1536, 512},
                "deepseek-v3"},
    TitanFlavor{"deepseek_v3",
                "16B",
                "deepseek_v3_16b",
                "",
                {27, 2048, 16, 16, 10944, 102400, 64, 6, 1408, 0, 512},
                "deepseek-v2-lite"},
    TitanFlavor{"deepseek_v3",
                "236B",
                "",
                "",
                {60, 5120, 128, 128, 12288, 102400, 160, 6, 1536, 1536, 512},
                "deepseek-v2"},
};

}  // namespace

std::span<const TitanFlavor> titan_flavors() {
  return kFlavors;
}

const TitanFlavor* find_flavor(const ModelSpec* spec, std::string_view release) {
  const std::optional<ModelShape> shape = model_shape(spec);
  if (!shape) return nullptr;
  const ReleaseTable& table = *find_releases("torchtitan");
  const auto at = std::find_if(kFlavors.begin(), kFlavors.end(), [&](const TitanFlavor& f) {
    return f.shape == *shape && table.within(*table.find(release), f.since, {});
  });
  return at == kFlavors.end() ? nullptr : &*at;
}

// From the registries of 0.2.2 and of main, which agree in this.
ModelSpec titan_model(const TitanFlavor& flavor) {
  ModelSpec spec = zoo_model(flavor.like);
  ModelDetails& d = spec.details;
  spec.mtp_layers = 0;
  // Experts are balanced by a bias alone.
  d.router.balance_loss = 0;
  d.router.balance_by_sequence = false;
  d.router.balance_bias = flavor.shape.experts > 0;
  if (flavor.module == "llama3") d.scaling->factor = 8;
  if (flavor.flavor == "235B-A22B") d.rotary_base = 5e6;
  if (flavor.module != "deepseek_v3") return spec;
  constexpr double kEpsilon = 1e-5;
  constexpr double kSmallOnes = 0.7;
  d.norm_epsilon = kEpsilon;
  d.scaling->mscale = d.scaling->mscale_all = flavor.flavor == "16B" ? kSmallOnes : 1;
  return spec;
}

std::string_view config_beside(const TitanFlavor& flavor) {
  if (!flavor.config.empty()) return flavor.config;
  return std::find_if(kFlavors.begin(), kFlavors.end(),
                      [&](const TitanFlavor& f) { return f.module == flavor.module && !f.config.empty(); })
      ->config;
}

}  // namespace nest::frameworks
