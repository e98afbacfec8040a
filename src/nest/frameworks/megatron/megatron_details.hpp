// What is no shape as flags of Megatron-LM: rotary positions, norms' epsilon, windows, routers. Without them another
// model would be trained.
//
//   --rotary-base 500000
//   --use-rope-scaling
//   --rope-scaling-factor 8
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "nest/frameworks/common/flags.hpp"
#include "nest/model/blocks/spec.hpp"
#include "nest/plan/frameworks/framework_releases.hpp"

namespace nest::frameworks {

// Whether a release of Megatron-LM is `first` or a newer one.
[[nodiscard]] bool is_since(const Release& release, std::string_view first);

// Positions and norms.
void add_positions(const ModelSpec& spec, const Release& release, FlagSection& flags,
                   std::vector<std::string>& lost);
// Windows, which ring attention does not have.
void add_windows(const StackSpec& stack, const Release& release, bool ring, FlagSection& flags,
                 std::vector<std::string>& lost);
// How experts are chosen and balanced.
void add_router(const RouterDetails& router, const ExpertsSpec& experts, FlagSection& flags);

// "([0]*3+[1]*58)": which of the layers have something.
[[nodiscard]] std::string layer_pattern(const std::vector<bool>& layers);

}  // namespace nest::frameworks
