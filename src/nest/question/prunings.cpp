#include "nest/question/prunings.hpp"

#include <array>

namespace nest::question {
namespace {

struct Row {
  std::string_view name;
  bool Prunings::* member;
};

constexpr std::array kRows{
    Row{"dominance", &Prunings::dominance},
    Row{"floors", &Prunings::floors},
    Row{"label-bound", &Prunings::label_bound},
    Row{"stage-bound", &Prunings::stage_bound},
    Row{"memory-order", &Prunings::memory_order},
    Row{"option-order", &Prunings::option_order},
    Row{"group-bound", &Prunings::group_bound},
    Row{"relaxed-bound", &Prunings::relaxed_bound},
    Row{"network-bound", &Prunings::network_bound},
    Row{"same-network", &Prunings::same_network},
    Row{"split-bound", &Prunings::split_bound},
    Row{"dive", &Prunings::dive},
    Row{"memory-bound", &Prunings::memory_bound},
    Row{"melted-bound", &Prunings::melted_bound},
    Row{"completions", &Prunings::completions},
    Row{"put-off", &Prunings::put_off},
    Row{"beam", &Prunings::beam},
};

}  // namespace

const std::vector<std::string>& pruning_names() {
  static const std::vector<std::string> kNames = [] {
    std::vector<std::string> names;
    names.reserve(kRows.size());
    for (const Row& row : kRows) names.emplace_back(row.name);
    return names;
  }();
  return kNames;
}

bool* find_pruning(Prunings& prunings, std::string_view name) {
  for (const Row& row : kRows) {
    if (row.name == name) return &(prunings.*row.member);
  }
  return nullptr;
}

}  // namespace nest::question
