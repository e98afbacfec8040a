#include "nest/solve/baselines/manual/manual_strategies.hpp"

#include <algorithm>
#include <tuple>

#include "nest/question/choice_values.hpp"

namespace nest::solve {
namespace {

std::int64_t node_devices(const DeviceTree& tree) {
  std::int64_t most = 1;
  for (std::int32_t d = 0; d < tree.domains(LevelId(0)); ++d) {
    most = std::max<std::int64_t>(most, tree.devices_in(LevelId(0), d));
    if (tree.regular(LevelId(0))) break;
  }
  return most;
}

// What an expert prefers is less. NVIDIA's guide for mixtures of experts: expert parallelism within the fast
// domain before tensor parallelism, and hardly ever tensor parallelism of the experts themselves.
auto preference(const Strategy& s, bool experts, std::int64_t node) {
  const std::int64_t expert_tensor = experts ? s.expert_tensor_degree() : 0;
  return std::tuple(s.context, s.cell() > node, s.cell() > node ? s.cell() : 0, -s.expert, expert_tensor,
                    experts ? s.tensor : -s.tensor, !s.sequence_parallel, s.context_key());
}

}  // namespace

ManualStrategies manual_strategies(const PlanQuestion& question, const Training& training, CostBook& book) {
  ManualStrategies made;
  made.refusal = "no strategy of the space fits the devices";
  std::vector<Strategy> all = strategy_values(question.inputs, training, question.space);
  const std::vector<std::int64_t> batches = micro_batch_values(question.inputs, training, question.space);
  Training smallest = training;
  smallest.micro_batch = batches.empty() ? 1 : batches.front();
  bool refused = false;
  std::erase_if(all, [&](const Strategy& s) {
    const std::string& why = book.refusal(smallest, s);
    if (!why.empty() && !refused) made.refusal = why;
    refused = refused || !why.empty();
    return !why.empty();
  });
  if (all.empty()) return made;
  const bool experts = std::any_of(all.begin(), all.end(), [](const Strategy& s) { return s.expert > 1; });
  const std::int64_t node = node_devices(question.inputs.cluster.tree());
  std::sort(all.begin(), all.end(), [&](const Strategy& a, const Strategy& b) {
    return preference(a, experts, node) < preference(b, experts, node);
  });
  const Strategy& best = all.front();
  for (const Strategy& s : all) {
    // Of a mixture of experts: wider tensor parallelism as long as the cell stays within the node.
    const bool wider = experts && s.context == best.context && s.expert == best.expert &&
                       s.expert_tensor_degree() == best.expert_tensor_degree() &&
                       s.sequence_parallel == (s.tensor > 1) && (s.cell() <= node || s == best);
    (s == best || wider ? made.usual : made.others).push_back(s);
    const bool narrower = !experts && s.context == best.context && s.tensor < best.tensor &&
                          s.sequence_parallel == (s.tensor > 1);
    if (narrower) made.narrow.push_back(s);
  }
  std::reverse(made.narrow.begin(), made.narrow.end());
  return made;
}

}  // namespace nest::solve
