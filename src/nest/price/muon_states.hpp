// What one device of a stage updates and holds under Muon: a part of the matrices, which it orthogonalizes, and a part of
// everything else, which is Adam's.
//
// ZeRO 1 deals out whole matrices to its ranks, as Megatron-LM's dist_muon does: a rank has its share of them, but one at
// least. ZeRO 2 and 3 cut the momentum as they cut gradients. There every matrix has a rank that orthogonalizes it, to which
// the others send their parts in 16 bits, and which sends the result back.
#pragma once

#include "nest/plan/zero.hpp"
#include "nest/price/layers/layer_table.hpp"
#include "nest/price/network/plan_network.hpp"

namespace nest::price {

struct MuonStates {
  double others = 0;      // parameters that Adam updates
  double matrices = 0;    // parameters of matrices whose momentum it holds
  double orthogonal = 0;  // seconds
  // Bytes of matrices that it sends to others, and that come back.
  double dense_bytes = 0;
  double expert_bytes = 0;
};

// `tied`: parameters of another stage's layers that the stage holds a copy of.
[[nodiscard]] MuonStates muon_states(const LayerTerms& terms, const StageNetwork& network, Zero zero,
                                     double tied);

}  // namespace nest::price
