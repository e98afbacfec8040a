// Intra-operator parallelism: which way each operator of a layer is split over the t devices of one mesh
// axis, so that computing and moving tensors between the layouts takes least. (The other axis of the mesh
// always splits the batch: what is called `column` here is Alpa's "both", rows on one axis and columns on the
// other.) By dynamic programming over the operators in their order; what is remembered are the ways of those
// operators whose results are still to be used.
//
//   const ShardChoice best = solve_sharding(problem);
//   best.ways   -> norm: row, qkv: column, attention: feature, output: contract, add: row
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "nest/base/units.hpp"
#include "nest/solve/baselines/alpa/alpa_mesh.hpp"

namespace nest::solve::alpa {

// Of a tensor over the axis.
enum class Layout : std::uint8_t {
  whole,     // on every device
  rows,      // tokens or sequences split
  features,  // heads, hidden or inner features split
  partial,   // every device has a summand
};

enum class Spec : std::uint8_t {
  replicated,  // every device does the whole
  row,         // rows of the activations split; weights whole, their gradients summed over the axis
  column,      // output features split, of products: weights split, the input's gradient is partial
  contract,    // the partner of column: input features split, weights split, the result is partial
  feature,     // all tensors by features: attention by heads, element-wise operators
};
[[nodiscard]] std::string_view name_of(Spec spec);

// A tensor goes forward in one layout, its gradient comes back in one.
struct Flow {
  Layout forward = Layout::whole;
  Layout gradient = Layout::whole;

  bool operator==(const Flow&) const = default;
};

struct Way {
  Spec spec = Spec::replicated;
  std::vector<Flow> inputs;  // forward: as needed, gradient: as made
  Flow output;               // forward: as made, gradient: as needed
  Seconds time;              // both passes of one micro-batch, its share of the gradients' sums included
};

struct Use {
  std::size_t from = 0;  // the operator that makes it, an earlier one
  double bytes = 0;      // of the whole tensor
};

struct ShardOperator {
  std::vector<Use> inputs;
  std::vector<Way> ways;  // at least one
};

struct ShardProblem {
  MeshAxis axis;
  double forward_passes = 1;  // 2 where the backward pass runs the forward pass again
  std::vector<ShardOperator> operators;
};

struct ShardChoice {
  Seconds time;
  std::vector<std::size_t> ways;  // of each operator
  std::int64_t transitions = 0;
};

// What a tensor takes from one layout to another, one way.
[[nodiscard]] Seconds reshard(const MeshAxis& axis, Layout from, Layout to, double bytes);
// What a choice takes: operators and all that lies between them.
[[nodiscard]] Seconds time_of(const ShardProblem& problem, const std::vector<std::size_t>& ways);

[[nodiscard]] ShardChoice solve_sharding(const ShardProblem& problem);

}  // namespace nest::solve::alpa
