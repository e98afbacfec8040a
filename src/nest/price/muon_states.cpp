#include "nest/price/muon_states.hpp"

#include <algorithm>

namespace nest::price {
namespace {

constexpr double kHalf = 2;  // bytes of a value that is sent

struct Held {
  double parameters;
  double matrix_parameters;
  double matrices;
  double orthogonal;
};

// Adds what one device has of one group; the bytes that it sends.
double add(const Held& all, std::int64_t shards, Zero zero, MuonStates& out) {
  const double rest = all.parameters - all.matrix_parameters;
  if (!zero.shards_optimizer()) {
    out.others += rest;
    out.matrices += all.matrix_parameters;
    out.orthogonal += all.orthogonal;
    return 0;
  }
  const double even = 1 / static_cast<double>(shards);
  // The mean matrix stands for the one that a rank has at least.
  const double whole = std::max(even, 1 / std::max(1.0, all.matrices));
  const bool cut = zero.shards_gradients();
  out.others += even * rest;
  out.matrices += (cut ? even : whole) * all.matrix_parameters;
  out.orthogonal += whole * all.orthogonal;
  return cut && shards > 1 ? kHalf * even * all.matrix_parameters : 0;
}

}  // namespace

MuonStates muon_states(const LayerTerms& t, const StageNetwork& network, Zero zero, double tied) {
  MuonStates out;
  out.dense_bytes = add({t.of(Term::dense_parameters) + tied, t.of(Term::matrix_dense),
                         t.of(Term::matrices_dense), t.of(Term::orthogonal_dense)},
                        network.dense.shards, zero, out);
  out.expert_bytes = add({t.of(Term::expert_parameters), t.of(Term::matrix_expert),
                          t.of(Term::matrices_expert), t.of(Term::orthogonal_expert)},
                         network.expert.shards, zero, out);
  return out;
}

}  // namespace nest::price
