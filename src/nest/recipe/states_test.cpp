#include "nest/recipe/states.hpp"

#include <gtest/gtest.h>

#include <set>

namespace nest::recipe {
namespace {

std::vector<std::optional<StateDType>> some_dtype(const StateKey& key) {
  std::vector<std::optional<StateDType>> all{std::nullopt};
  for (const StateDType dtype : dtypes_of(key)) all.emplace_back(dtype);
  return all;
}

TEST(States, WhatIsNotSaidIsTheRecipes) {
  const Recipe megatron = named_recipe("megatron");
  EXPECT_EQ(with_states(megatron, {}), megatron);
  EXPECT_EQ(with_states(named_recipe("plain"), states_of(megatron)).gradient_dtype, StateDType::fp32);
  const Recipe changed = with_states(megatron, {.moments = StateDType::fp8, .master_weights = false});
  EXPECT_EQ(changed.gradient_dtype, megatron.gradient_dtype);
  EXPECT_EQ(changed.reduce_dtype, megatron.reduce_dtype);
  EXPECT_EQ(changed.optimizer_bytes_per_parameter(), 2);  // two moments of one byte
  EXPECT_EQ(states_of(changed).moments, StateDType::fp8);
}

// Megatron: gradients and reductions of 4 bytes, two moments and a copy of the weights of 4 each.
TEST(States, BytesOfAParameter) {
  EXPECT_EQ(state_bytes(named_recipe("megatron")), 4 + 4 + 2 * 4 + 4);
  EXPECT_EQ(state_bytes(with_states(named_recipe("megatron"), {.reduction = StateDType::bf16})),
            4 + 2 + 2 * 4 + 4);
}

// States, weights as the host updates them, and gradients.
TEST(States, BytesOfAParameterInHostMemory) {
  const Recipe megatron = with_states(named_recipe("megatron"), {.offload = {.optimizer = true}});
  EXPECT_TRUE(megatron.offload.optimizer);
  EXPECT_FALSE(with_states(megatron, {}).offload.any());
  EXPECT_EQ(megatron.host_bytes_per_parameter(), 2 * 4 + 4 + 4);
  EXPECT_EQ(with_states(megatron, {.master_weights = false}).host_bytes_per_parameter(), 2 * 4 + 2 + 4);
}

TEST(States, EachCombinationHasANumber) {
  std::set<std::size_t> seen;
  const auto keys = state_keys();
  for (const auto gradients : some_dtype(keys[0])) {
    for (const auto reduction : some_dtype(keys[1])) {
      for (const auto moments : some_dtype(keys[2])) {
        for (const auto master : {std::optional<bool>(), std::optional(false), std::optional(true)}) {
          for (const Offload offload :
               {Offload{}, Offload{true, false}, Offload{false, true}, Offload{true, true}}) {
            const States states{gradients, reduction, moments, master, offload};
            EXPECT_EQ(states.number() > 0, states.any());
            EXPECT_LT(states.number(), kStateNumbers);
            EXPECT_TRUE(seen.insert(states.number()).second);
          }
        }
      }
    }
  }
  EXPECT_EQ(seen.size(), 4U * 4 * 5 * 3 * 4);
}

TEST(States, AreSpelled) {
  EXPECT_EQ(spell(States{}), "");
  EXPECT_EQ(spell(States{StateDType::bf16, StateDType::fp32, StateDType::fp8, false}),
            "gradients bf16, reductions fp32, optimizer states fp8, no master weights");
  EXPECT_EQ(spell(States{.master_weights = true}), "master weights");
  EXPECT_EQ(spell(States{.moments = StateDType::bf16, .offload = {.optimizer = true}}),
            "optimizer states bf16, optimizer in host memory");
}

TEST(States, OnlyMomentsAreOfEightBits) {
  for (const StateKey& key : state_keys()) {
    const std::vector<std::string> names = dtype_names(key);
    EXPECT_EQ(names.size(), key.key == "optimizer_dtype" ? 4U : 3U);
    for (const std::string& name : names) EXPECT_EQ(name_of(*find_state_dtype(name)), name);
  }
  EXPECT_FALSE(find_state_dtype("int8"));
}

}  // namespace
}  // namespace nest::recipe
