#include "nest/question/state_choices.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace nest::question {
namespace {

// What a list allows, in its order; where it is empty, what there is.
template <class T>
std::vector<std::optional<T>> values_of(const std::vector<T>& listed, const std::optional<T>& own) {
  if (listed.empty()) return {own};
  return {listed.begin(), listed.end()};
}

template <class T>
std::vector<T> list_of(const std::optional<T>& own) {
  return own ? std::vector<T>{*own} : std::vector<T>();
}

bool lists_none(const SearchSpace& space) {
  return space.gradient_dtypes.empty() && space.reduce_dtypes.empty() && space.optimizer_dtypes.empty() &&
         space.master_weights.empty() && space.offload.empty();
}

}  // namespace

std::vector<States> state_values(const PlanInputs& inputs, const Training& training,
                                 const SearchSpace& space) {
  if (lists_none(space)) return {training.states};
  std::vector<Offload> offloads = space.offload;
  if (offloads.empty()) offloads.push_back(training.states.offload);
  std::vector<States> all;
  for (const auto& gradients : values_of(space.gradient_dtypes, training.states.gradients)) {
    for (const auto& reduction : values_of(space.reduce_dtypes, training.states.reduction)) {
      for (const auto& moments : values_of(space.optimizer_dtypes, training.states.moments)) {
        for (const auto& master : values_of(space.master_weights, training.states.master_weights)) {
          for (const Offload& offload : offloads)
            all.push_back({gradients, reduction, moments, master, offload});
        }
      }
    }
  }
  // Its matrices are orthogonalized, for which hosts are too slow.
  if (training.optimizer == Optimizer::muon)
    std::erase_if(all, [](const States& states) { return states.offload.optimizer; });
  if (space.rules != nullptr) {
    std::erase_if(all, [&](const States& states) {
      Training own = training;
      own.states = states;
      return space.rules->refusal(inputs, own) != nullptr;
    });
  }
  if (all.empty()) return all;
  const auto recipe = [&](const States& states) { return with_states(inputs.recipe, states); };
  const auto usual = std::find_if(all.begin(), all.end(),
                                  [&](const States& states) { return recipe(states) == inputs.recipe; });
  if (usual != all.end()) std::rotate(all.begin(), usual, usual + 1);
  // Few bytes make short steps: what is then known leaves little to look for in the others.
  const auto rank = [&](const States& states) {
    return std::pair(state_bytes(recipe(states)), states.number());
  };
  std::sort(all.begin() + 1, all.end(), [&](const States& a, const States& b) { return rank(a) < rank(b); });
  return all;
}

void put_states(const States& states, SearchSpace& space) {
  space.gradient_dtypes = list_of(states.gradients);
  space.reduce_dtypes = list_of(states.reduction);
  space.optimizer_dtypes = list_of(states.moments);
  space.master_weights = list_of(states.master_weights);
  space.offload.clear();
  if (states.offload.any()) space.offload.push_back(states.offload);
}

PlanQuestion with_only(PlanQuestion question, const States& states) {
  question.training.states = states;
  put_states(states, question.space);
  return question;
}

PlanQuestion settled(PlanQuestion question, const Plan& taken) {
  const States& states = taken.training.states;
  if (!question.batches.empty()) {
    const std::int64_t batch = taken.training.global_batch;
    question.batches.clear();
    question.asked.batches.clear();
    question.training.global_batch = batch;
    question.asked.global_batch = batch;
  }
  if (!states.any() && question.space.offload.empty()) return question;
  put_states(states, question.asked.choices);
  return with_only(std::move(question), states);
}

}  // namespace nest::question
