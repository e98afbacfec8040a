#include "nest/frameworks/torchtitan/titan_flavors.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "nest/plan/frameworks/framework_releases.hpp"

namespace nest::frameworks {
namespace {

constexpr std::int64_t kLlama = 128256;
constexpr std::int64_t kQwen = 151936;

// The first function of a module is what others begin with.
constexpr std::array kFlavors{
    TitanFlavor{"llama3", "8B", "llama3_8b", "", {32, 4096, 32, 8, 14336, kLlama}},
    TitanFlavor{"llama3", "1B", "", "main", {16, 2048, 32, 8, 8192, kLlama, 0, 0, 0, 0, 0, true}},
    TitanFlavor{"llama3", "3B", "", "main", {28, 3072, 24, 8, 8192, kLlama, 0, 0, 0, 0, 0, true}},
    TitanFlavor{"llama3", "70B", "llama3_70b", "", {80, 8192, 64, 8, 28672, kLlama}},
    TitanFlavor{"llama3", "405B", "llama3_405b", "", {126, 16384, 128, 8, 53248, kLlama}},
    TitanFlavor{"qwen3", "14B", "qwen3_14b", "", {40, 5120, 40, 8, 17408, kQwen}},
    TitanFlavor{"qwen3", "0.6B", "qwen3_0_6b", "", {28, 1024, 16, 8, 3072, kQwen, 0, 0, 0, 0, 0, true}},
    TitanFlavor{"qwen3", "1.7B", "qwen3_1_7b", "", {28, 2048, 16, 8, 6144, kQwen, 0, 0, 0, 0, 0, true}},
    TitanFlavor{"qwen3", "4B", "", "", {36, 2560, 32, 8, 9728, kQwen, 0, 0, 0, 0, 0, true}},
    TitanFlavor{"qwen3", "8B", "", "", {36, 4096, 32, 8, 12288, kQwen}},
    TitanFlavor{"qwen3", "32B", "qwen3_32b", "", {64, 5120, 64, 8, 25600, kQwen}},
    TitanFlavor{"qwen3", "30B-A3B", "qwen3_30b_a3b", "", {48, 2048, 32, 4, 0, kQwen, 128, 8, 768}},
    TitanFlavor{"qwen3", "235B-A22B", "", "", {94, 4096, 64, 4, 0, kQwen, 128, 8, 1536}},
    TitanFlavor{"deepseek_v3",
                "671B",
                "deepseek_v3_671b",
                "",
                {61, 7168, 128, 128, 18432, 129280, 256, 8, 2048, 1536, 512}},
    TitanFlavor{
        "deepseek_v3", "16B", "deepseek_v3_16b", "", {27, 2048, 16, 16, 10944, 102400, 64, 6, 1408, 0, 512}},
    TitanFlavor{"deepseek_v3", "236B", "", "", {60, 5120, 128, 128, 12288, 102400, 160, 6, 1536, 1536, 512}},
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

std::string_view config_beside(const TitanFlavor& flavor) {
  if (!flavor.config.empty()) return flavor.config;
  return std::find_if(kFlavors.begin(), kFlavors.end(),
                      [&](const TitanFlavor& f) { return f.module == flavor.module && !f.config.empty(); })
      ->config;
}

}  // namespace nest::frameworks
