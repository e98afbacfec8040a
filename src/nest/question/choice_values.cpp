#include "nest/question/choice_values.hpp"

#include <algorithm>
#include <optional>

#include "nest/base/error.hpp"
#include "nest/model/blocks/build.hpp"
#include "nest/plan/schedules/schedule.hpp"
#include "nest/strategies/sequence.hpp"

namespace nest::question {
namespace {

// Micro-batches of this many sequences are always tried, larger ones while half of one has fewer tokens than
// this: from there on a device computes no faster, and its activations only grow. At 4,096 tokens both are one.
constexpr std::int64_t kUsualMicroBatch = 16;
constexpr std::int64_t kManyTokens = 65'536;

// Tokens from which context parallelism is worth a look.
constexpr std::int64_t kLongSequence = 16'384;

std::int64_t experts_of(const ModelSpec& spec) {
  std::int64_t most = 0;
  for (const StackSpec& stack : spec.stacks) {
    for (const auto& block : stack.blocks) {
      if (block.experts) most = std::max(most, block.experts->experts);
    }
  }
  return most;
}

// Positions of the model's longest input: its tokens, or the patches or frames that it always has.
std::int64_t longest_input(const ModelSpec& spec, const Training& training) {
  std::int64_t most = 1;
  for (const StackSpec& stack : spec.stacks)
    most = std::max(most, stack.sequence > 0 ? stack.sequence : training.sequence);
  return most;
}

std::int64_t innermost_devices(const Cluster& cluster) {
  const DeviceTree& tree = cluster.tree();
  std::int64_t most = 1;
  for (std::int32_t d = 0; d < tree.domains(LevelId(0)); ++d) {
    most = std::max<std::int64_t>(most, tree.devices_in(LevelId(0), d));
    if (tree.regular(LevelId(0))) break;
  }
  return most;
}

// The model at one sequence of this length; none where it takes none so long.
std::optional<Model> model_of(const PlanInputs& inputs, const Training& training) {
  try {
    return build_model(std::get<ModelSpec>(inputs.source),
                       {.sequence = training.sequence, .contents = training.contents, .mtp = training.mtp});
  } catch (const InputError&) {
    return std::nullopt;
  }
}

// A way to run context parallelism, and with hybrid the ranks of one all-to-all.
struct ContextWay {
  ContextMethod method = ContextMethod::ring;
  std::int64_t inner = 1;

  void set(Strategy& strategy) const {
    strategy.context_method = method;
    strategy.context_inner = inner;
  }
};

std::vector<ContextWay> context_ways(const PlanInputs& inputs, const SearchSpace& space, std::int64_t tensor,
                                     std::int64_t context) {
  if (context == 1 || space.context_methods.empty()) return {ContextWay{}};
  std::vector<ContextWay> ways;
  for (const ContextMethod method : space.context_methods) {
    if (method != ContextMethod::hybrid) {
      ways.push_back({method, 1});
      continue;
    }
    for (const std::int64_t inner : inner_context_values(inputs, space, tensor, context))
      ways.push_back({method, inner});
  }
  return ways;
}

void add(std::vector<Strategy>& all, const Strategy& strategy, std::int64_t devices) {
  const auto fits = [&](std::int64_t a, std::int64_t b) { return a <= devices && b <= devices / a; };
  if (!fits(strategy.tensor, strategy.context) || !fits(strategy.expert_tensor_degree(), strategy.expert))
    return;
  if (strategy.cell() > devices || std::find(all.begin(), all.end(), strategy) != all.end()) return;
  all.push_back(strategy);
}

// With every way to exchange tokens with experts, where they are spread.
void add_exchanges(std::vector<Strategy>& all, Strategy strategy, const Recipe& recipe,
                   const SearchSpace& space, std::int64_t devices) {
  const std::vector<Dispatcher> dispatchers =
      space.dispatchers.empty() ? std::vector{recipe.dispatcher} : space.dispatchers;
  std::vector<bool> overlaps = space.expert_overlap;
  if (overlaps.empty()) {
    for (const Schedule schedule : schedule_values(space))
      overlaps.push_back(usual_expert_overlap(schedule, recipe));
    if (overlaps.empty()) overlaps.push_back(recipe.expert_overlap);
  }
  for (const Dispatcher dispatcher : dispatchers) {
    for (const bool overlap : overlaps) {
      strategy.dispatcher = strategy.expert > 1 ? dispatcher : Dispatcher::alltoall;
      strategy.expert_overlap = strategy.expert > 1 && overlap;
      add(all, strategy, devices);
    }
  }
}

std::vector<Strategy> profile_strategies(const PlanInputs& inputs, const SearchSpace& space) {
  const LayerProfile& profile = *inputs.profile();
  const std::int64_t devices = inputs.cluster.devices();
  std::vector<Strategy> all;
  for (const ProfileStrategy& own : profile.strategies) {
    if (!space.tensor.has(own.tensor) || !space.context.has(own.context) || !space.expert.has(own.expert))
      continue;
    std::vector<bool> sequence{own.tensor > 1 && own.sequence_parallel};
    if (own.tensor > 1 && !space.sequence_parallel.empty()) sequence = space.sequence_parallel;
    const std::vector<std::int64_t> usual{own.tensor};
    for (const bool s : sequence) {
      for (const ContextWay& way : context_ways(inputs, space, own.tensor, own.context)) {
        for (const std::int64_t x :
             space.expert_tensor.open() ? usual : space.expert_tensor.values(devices)) {
          Strategy strategy;
          strategy.tensor = own.tensor;
          strategy.sequence_parallel = s;
          strategy.context = own.context;
          way.set(strategy);
          strategy.expert = own.expert;
          strategy.expert_tensor = x;
          add(all, strategy, devices);
        }
      }
    }
  }
  return all;
}

}  // namespace

std::vector<std::int64_t> divisors(std::int64_t n) {
  std::vector<std::int64_t> all;
  for (std::int64_t d = 1; d * d <= n; ++d) {
    if (n % d != 0) continue;
    all.push_back(d);
    if (d != n / d) all.push_back(n / d);
  }
  std::sort(all.begin(), all.end());
  return all;
}

std::vector<std::int64_t> inner_context_values(const PlanInputs& inputs, const SearchSpace& space,
                                               std::int64_t tensor, std::int64_t context) {
  std::vector<std::int64_t> all = divisors(context);
  const std::int64_t node = innermost_devices(inputs.cluster);
  std::erase_if(all, [&](std::int64_t inner) {
    if (inner == 1 || inner == context) return true;
    return space.context_inner.open() ? tensor * inner > node : !space.context_inner.has(inner);
  });
  return all;
}

std::vector<std::int64_t> micro_batch_values(const PlanInputs& inputs, const Training& training,
                                             const SearchSpace& space) {
  std::vector<std::int64_t> wanted;
  if (inputs.profile() != nullptr) {
    wanted = {inputs.profile()->micro_batch};
    std::erase_if(wanted, [&](std::int64_t b) { return !space.micro_batch.has(b); });
  } else if (!space.micro_batch.open()) {
    wanted = space.micro_batch.values(training.global_batch);
  } else {
    const std::int64_t tokens = longest_input(std::get<ModelSpec>(inputs.source), training);
    for (std::int64_t b = 1; b <= training.global_batch; b *= 2) {
      if (b > kUsualMicroBatch && b / 2 * tokens >= kManyTokens) break;
      wanted.push_back(b);
    }
  }
  std::erase_if(wanted, [&](std::int64_t b) { return training.global_batch % b != 0; });
  return wanted;
}

std::vector<Strategy> strategy_values(const PlanInputs& inputs, const Training& training,
                                      const SearchSpace& space) {
  if (inputs.profile() != nullptr) return profile_strategies(inputs, space);
  const std::int64_t devices = inputs.cluster.devices();
  const auto or_open = [&](const Choice& choice, std::vector<std::int64_t> usual) {
    return choice.open() ? std::move(usual) : choice.values(devices);
  };
  const std::int64_t experts = experts_of(std::get<ModelSpec>(inputs.source));
  const std::vector<std::int64_t> tensors =
      or_open(space.tensor, divisors(innermost_devices(inputs.cluster)));
  const std::vector<std::int64_t> contexts =
      or_open(space.context, training.sequence >= kLongSequence ? std::vector<std::int64_t>{1, 2, 4, 8, 16}
                                                                : std::vector<std::int64_t>{1});
  const std::vector<std::int64_t> spread =
      or_open(space.expert, experts > 0 ? divisors(experts) : std::vector<std::int64_t>{1});
  const std::optional<Model> model =
      space.sequence_parallel.empty() ? model_of(inputs, training) : std::nullopt;
  std::vector<Strategy> all;
  for (const std::int64_t t : tensors) {
    for (const std::int64_t c : contexts) {
      std::vector<bool> sequences{false};
      if (t > 1 && !space.sequence_parallel.empty()) {
        sequences = space.sequence_parallel;
      } else if (t > 1) {
        sequences = {!model || divides_positions(*model, {.tensor = t, .context = c})};
      }
      for (const bool sequence : sequences) {
        for (const ContextWay& way : context_ways(inputs, space, t, c)) {
          for (const std::int64_t e : spread) {
            const std::vector<std::int64_t> usual =
                experts > 0 ? std::vector<std::int64_t>{1, t} : std::vector{t};
            for (const std::int64_t x : or_open(space.expert_tensor, usual)) {
              Strategy strategy;
              strategy.tensor = t;
              strategy.sequence_parallel = sequence;
              strategy.context = c;
              way.set(strategy);
              strategy.expert = e;
              strategy.expert_tensor = x;
              add_exchanges(all, strategy, inputs.recipe, space, devices);
            }
          }
        }
      }
    }
  }
  return all;
}

// Layer profiles know no exchanges.
bool go_together(const Strategy& strategy, Schedule schedule, const PlanInputs& inputs,
                 const SearchSpace& space) {
  return strategy.expert == 1 || inputs.profile() != nullptr || !space.expert_overlap.empty() ||
         strategy.expert_overlap == usual_expert_overlap(schedule, inputs.recipe);
}

std::vector<std::int64_t> copies_values(const Training& training, const SearchSpace& space,
                                        std::int64_t micro_batch, const Strategy& strategy,
                                        std::int64_t most) {
  const std::int64_t together = micro_batch * strategy.side();
  if (training.global_batch % together != 0) return {};
  std::vector<std::int64_t> all = divisors(training.global_batch / together);
  std::erase_if(all, [&](std::int64_t q) { return q > most || !space.data.has(q * strategy.side()); });
  return all;
}

std::vector<std::int64_t> inner_values(const SearchSpace& space, std::int64_t copies) {
  std::vector<std::int64_t> all = divisors(copies);
  std::erase_if(all, [&](std::int64_t inner) { return !space.data_inner.has(inner); });
  return all;
}

namespace {

bool by_fsdp(const SearchSpace& space, const Strategy& strategy) {
  return space.rules != nullptr && space.rules->keeps_gathered(strategy);
}

std::vector<Resharding> resharding_values(const SearchSpace& space, const Strategy& strategy,
                                          std::int64_t pipeline) {
  constexpr Resharding kAlways{};
  constexpr Resharding kNever{Resharding::Kind::never, 0};
  if (!space.reshardings.empty()) return space.reshardings;
  if (!by_fsdp(space, strategy)) return {kAlways};
  return pipeline > 1 ? std::vector{kNever} : std::vector{kAlways, kNever};
}

}  // namespace

std::vector<Zero> zero_values(const SearchSpace& space, const Strategy& strategy, std::int64_t ranks,
                              std::int64_t pipeline) {
  std::vector<Zero> all;
  for (const Zero zero : space.zero.values(Zero::kMost, 0)) {
    if (space.zero.open() && zero.shards_anything() && ranks == 1) continue;
    // What keeps parameters whole in FSDP is ZeRO 3 that does not reshard.
    const bool whole = zero.shards_gradients() && !zero.shards_parameters();
    if (space.zero.open() && whole && by_fsdp(space, strategy)) continue;
    if (!zero.shards_parameters()) {
      all.push_back(zero);
      continue;
    }
    for (const Resharding& resharding : resharding_values(space, strategy, pipeline))
      all.emplace_back(zero.number(), resharding);
  }
  return all;
}

Zero usual_zero(const SearchSpace& space, Zero zero, const Strategy& strategy, std::int64_t pipeline) {
  const std::vector<Resharding> values = resharding_values(space, strategy, pipeline);
  const bool whole = zero.shards_gradients() && !zero.shards_parameters();
  if (whole && space.zero.open() && by_fsdp(space, strategy)) return {Zero::kMost, values.back()};
  return zero.shards_parameters() ? Zero{zero.number(), values.front()} : zero;
}

std::vector<std::int64_t> interleave_values(const SearchSpace& space) {
  constexpr std::int64_t kMost = 1024;
  return space.interleave.open() ? std::vector<std::int64_t>{1, 2, 3, 4, 6, 8}
                                 : space.interleave.values(kMost);
}

std::vector<Schedule> schedule_values(const SearchSpace& space) {
  std::vector<Schedule> all = space.schedules;
  if (all.empty()) all = default_schedules();
  if (space.rules != nullptr && !space.rules->schedules.empty()) {
    std::erase_if(all, [&](Schedule s) { return !space.rules->has(s); });
  }
  return all;
}

}  // namespace nest::question
