#include "nest/plan/plan.hpp"

#include <algorithm>
#include <array>

namespace nest::plan {
namespace {

constexpr std::array<std::string_view, 3> kPipelineModels{"1f1b", "sum-max", "paper"};
constexpr std::array<std::string_view, 5> kStatuses{"optimal", "feasible", "infeasible", "limit",
                                                    "disagreement"};

template <class Enum, std::size_t N>
std::optional<Enum> find_word(const std::array<std::string_view, N>& words, std::string_view name) {
  const auto at = std::find(words.begin(), words.end(), name);
  if (at == words.end()) return std::nullopt;
  return static_cast<Enum>(at - words.begin());
}

}  // namespace

std::string_view name_of(PipelineModel model) {
  return kPipelineModels[static_cast<std::size_t>(model)];
}
std::optional<PipelineModel> find_pipeline_model(std::string_view name) {
  return find_word<PipelineModel>(kPipelineModels, name);
}
std::string_view name_of(PlanStatus status) {
  return kStatuses[static_cast<std::size_t>(status)];
}
std::optional<PlanStatus> find_plan_status(std::string_view name) {
  return find_word<PlanStatus>(kStatuses, name);
}

}  // namespace nest::plan
