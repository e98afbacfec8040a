#include "nest/recipe/module_text.hpp"

#include <vector>

#include "nest/base/closest.hpp"

namespace nest::recipe {

ReadModules read_modules(std::string_view text, char between) {
  ReadModules out;
  while (true) {
    const std::size_t end = text.find(between);
    const std::string_view word = text.substr(0, end);
    const auto module = find_module(word);
    if (!module) {
      const std::vector<std::string> known(kRecomputeModules.begin(), kRecomputeModules.end());
      const std::string guess = did_you_mean(word, known);
      out.problem = "there is no module '" + std::string(word) + "'; " +
                    (guess.empty() ? "there are " + all_modules() : guess);
      return out;
    }
    out.modules.add(*module);
    if (end == std::string_view::npos) return out;
    text.remove_prefix(end + 1);
  }
}

std::string all_modules() {
  return spell(RecomputeModules::of_bits((1U << kMostModules) - 1), ", ");
}

}  // namespace nest::recipe
