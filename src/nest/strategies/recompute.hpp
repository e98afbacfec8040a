// Recomputation: what a layer keeps between its forward and backward pass, what it runs again, and what that
// needs for a while.
//
//   none       every operator's keeps
//   selective  the attention core (with its context collectives) runs again from queries, keys and values;
//              its result stays, because the output projection keeps it (Megatron's core_attn);
//              a block without a core, such as a state space's, keeps everything
//              or, by choice, every second product, all scans and all element-wise work (torchtitan's per-operator
//              policy): what came in, attention's results and the other products' results stay
//   full       only what came into the layer stays; the whole forward pass runs again, collectives included
//   modules    a set of modules runs again (recipe/recompute_modules.hpp); a block without any of them keeps everything.
//              What came into the layer stays in any case, so that no set keeps less than full recomputation
//
// Every block can recompute, whatever it is made of, and so can modules for multi-token prediction: frameworks
// put torch.utils.checkpoint around them. Embeddings, projectors and heads keep what they keep.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "nest/base/units.hpp"
#include "nest/recipe/recipe.hpp"
#include "nest/recipe/recompute_modules.hpp"
#include "nest/strategies/sharded_layer.hpp"

namespace nest::strategies {

enum class RecomputePolicy { none, selective, full, modules };

[[nodiscard]] std::string_view name_of(RecomputePolicy policy);
[[nodiscard]] std::optional<RecomputePolicy> find_policy(std::string_view name);

// The choice for one layer: the key of everything that is known of it.
struct LayerPolicy {
  constexpr LayerPolicy() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): few have modules
  constexpr LayerPolicy(RecomputePolicy what, RecomputeModules which = {}) : policy(what), modules(which) {}

  RecomputePolicy policy = RecomputePolicy::none;
  RecomputeModules modules{};  // with RecomputePolicy::modules

  auto operator<=>(const LayerPolicy&) const = default;
};

// The choice for one stage.
struct Recompute {
  RecomputePolicy policy = RecomputePolicy::none;
  std::int64_t layers =
      0;  // with full and modules: only so many of the stage's layers that can recompute, the first ones; 0 = all
  RecomputeModules modules{};  // with RecomputePolicy::modules

  bool operator==(const Recompute&) const = default;
  // Of the stage's i-th layer that can recompute, from 0.
  [[nodiscard]] LayerPolicy of_layer(std::int64_t i) const {
    return layers > 0 && i >= layers ? LayerPolicy{} : chosen();
  }
  // Of the layers that it is chosen for.
  [[nodiscard]] LayerPolicy chosen() const { return {policy, modules}; }
};

[[nodiscard]] std::string spell(const Recompute& recompute);  // "full on 2 layers"

// What selective recomputation repeats.
struct Selective {
  Selective() = default;
  Selective(SelectiveRecompute what)
      : kind(what) {}  // NOLINT(google-explicit-constructor): most choose no modules
  explicit Selective(const Recipe& recipe)
      : kind(recipe.selective_recompute), modules(recipe.recompute_modules), early_stop(recipe.early_stop) {}

  SelectiveRecompute kind = SelectiveRecompute::core_attention;
  RecomputeModules modules;
  bool early_stop = false;  // of full recomputation: what leads to nothing that is kept is not run again

  [[nodiscard]] RecomputeModules repeated() const {
    return kind == SelectiveRecompute::modules ? modules : RecomputeModules{RecomputeModule::core_attn};
  }
};

struct RecomputeCost {
  Bytes stash;                         // kept per micro-batch in flight
  std::vector<std::size_t> operators;  // run again in the backward pass, in order
  std::vector<double> shares;          // of each of them, where not all of it runs again; else empty
  Bytes transient;                     // held besides the stash while this layer's backward pass runs
};

[[nodiscard]] bool can_recompute(const LayerType& layer);
[[nodiscard]] RecomputeCost recompute_cost(const ShardedLayer& layer, const LayerPolicy& policy,
                                           const Selective& selective = {},
                                           Precision precision = Precision::bf16);

}  // namespace nest::strategies
