// Lists of dtypes for random instances, of dice of their own.
//
//   Instance instance = random_instance(seed, 300);
//   draw_states(seed, most_with_states(300), instance);
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "nest/question/space_options.hpp"
#include "nest/solve/twin/test_instances.hpp"

namespace nest::test {

[[nodiscard]] inline std::string spell_states(const SearchSpace& s) {
  std::string text;
  for (const char* name : {"gradient-dtype", "reduce-dtype", "optimizer-dtype", "master-weights", "offload"})
    text += std::string(text.empty() ? "" : ", ") + name + " " + spell(*find_space_option(name), s);
  return text;
}

// With lists of dtypes, whose plans are as many for each combination.
[[nodiscard]] inline std::int64_t most_with_states(std::int64_t most_plans) {
  constexpr std::int64_t kMost = 20'000;
  return std::max(most_plans, std::min(8 * most_plans, kMost));
}

// Muon, where there are matrices to be seen.
inline void draw_muon(unsigned seed, Instance& made) {
  Dice dice(seed + 6'000'011);
  if (made.inputs.profile() != nullptr || !dice.once_in(3)) return;
  made.training.optimizer = Optimizer::muon;
  made.text += "optimizer muon\n";
}

// The optimizer in host memory, with links, memories and hosts of all kinds: of dice of their own.
inline void draw_offload(unsigned seed, Instance& made) {
  Dice dice(seed + 7'000'003);
  if (!dice.once_in(3)) return;
  ClusterParts parts = made.inputs.cluster.parts();
  Accelerator& chip = parts.accelerator;
  if (dice.once_in(2)) chip.host_link = BytesPerSecond{dice.one_of<double>({1e9, 25e9, 225e9})};
  if (dice.once_in(2)) chip.host_update = dice.one_of<double>({1e7, 1e9, 1e12});
  // Enough for some stages of small models, and not for all.
  if (dice.once_in(2)) chip.host_memory = Bytes{dice.pick(1, 40) * chip.memory.value / 20};
  made.inputs.cluster = Cluster(std::move(parts));
  const std::vector<Offload> kinds{
      {.optimizer = true}, {.activations = true}, {.optimizer = true, .activations = true}};
  if (!dice.once_in(3)) made.space.offload.emplace_back();
  made.space.offload.push_back(dice.one_of(kinds));
  if (dice.once_in(4)) made.space.offload = {{}, kinds[0], kinds[1], kinds[2]};
}

// Dtypes of gradients, reductions and optimizer, in lists or one of them, of dice of their own; only where the space is
// then no larger than asked for.
inline void draw_states(unsigned seed, std::int64_t most_plans, Instance& made) {
  draw_muon(seed, made);
  draw_offload(seed, made);
  if (count_plans(made.inputs, made.training, made.space, most_plans) > most_plans)
    made.space.offload.clear();
  Dice dice(seed + 5'000'011);
  if (!dice.once_in(3)) {
    if (!made.space.offload.empty()) made.text += nest::test::spell_states(made.space) + "\n";
    return;
  }
  const SearchSpace before = made.space;
  const auto list = [&](std::vector<StateDType>& out, std::vector<StateDType> from) {
    if (dice.once_in(2)) return;
    for (std::int64_t more = dice.once_in(3) ? 1 : 2; more > 0; --more) {
      const auto at = from.begin() + dice.pick(0, static_cast<std::int64_t>(from.size()) - 1);
      out.push_back(*at);
      from.erase(at);
    }
  };
  constexpr auto kFp32 = StateDType::fp32;
  constexpr auto kBf16 = StateDType::bf16;
  SearchSpace& space = made.space;
  list(space.gradient_dtypes, {kFp32, kBf16, StateDType::fp16});
  list(space.reduce_dtypes, {kFp32, kBf16});
  list(space.optimizer_dtypes, {kFp32, kBf16, StateDType::fp8});
  if (dice.once_in(2)) space.master_weights = {true, false};
  if (dice.once_in(4)) made.training.states.moments = kBf16;
  const auto many = [&] { return count_plans(made.inputs, made.training, space, most_plans) > most_plans; };
  if (many()) space.gradient_dtypes.clear();
  if (many()) space.reduce_dtypes.clear();
  if (many()) space.master_weights.clear();
  if (many()) space = before;
  made.text += nest::test::spell_states(made.space) + "\n";
}

}  // namespace nest::test
