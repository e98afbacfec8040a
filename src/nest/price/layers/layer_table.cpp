#include "nest/price/layers/layer_table.hpp"

#include <algorithm>
#include <bit>
#include <initializer_list>
#include <utility>

#include "nest/estimate/kernels/optimizer_time.hpp"
#include "nest/price/layers/pass_work.hpp"

namespace nest::price {
namespace {

// What is left of a collective of which a share hides behind compute, and slows it down. `compute` shrinks by
// what it hides.
double exposed(double time, double traffic, double share, double& compute, const Overlap& overlap) {
  const double hidden = std::min(share * time, std::max(0.0, compute));
  compute -= hidden;
  return time - hidden + slowed(hidden, time, traffic, overlap);
}

struct Exchanges {
  double forward;
  double backward;
};

// What shared experts and the compute of another micro-batch leave of the exchanges with experts. Where a forward
// pass runs beside a backward pass of another micro-batch, layer by layer, rows go out while the other pass is in its
// experts, and come back while it is in the rest of its layer. What hides takes its multiprocessors from the compute.
Exchanges exposed_exchanges(const LayerCost& cost, const Recipe& recipe, bool beside_another) {
  const auto left = [&](double time, const ExpertExchanges& own, double shared, double experts, double rest) {
    double out = own.out.value;
    double back = own.back.value;
    double hidden = recipe.shared_overlap ? std::min(out + back, shared) : 0;
    if (beside_another) {
      out -= std::min(out, hidden);
      hidden += std::min(out, std::max(0.0, experts)) + std::min(back, std::max(0.0, rest));
    }
    hidden = std::min(hidden, time);
    return time - hidden + cost.exchange_share * hidden;
  };
  const double backward = cost.backward.value - cost.backward_wait.value;
  const double forward = cost.forward.value - cost.forward_wait.value;
  return {left(cost.forward_collectives.expert.value, cost.forward_exchanges, cost.shared_forward.value,
               cost.experts_backward.value, backward - cost.experts_backward.value),
          left(cost.backward_collectives.expert.value, cost.backward_exchanges, cost.shared_backward.value,
               cost.experts_forward.value, forward - cost.experts_forward.value)};
}

// SplitMix64: bits that look random and are the same everywhere.
std::uint64_t random_bits(std::uint64_t n) {
  n = (n + 1) * 0x9e3779b97f4a7c15ULL;
  n = (n ^ (n >> 30)) * 0xbf58476d1ce4e5b9ULL;
  n = (n ^ (n >> 27)) * 0x94d049bb133111ebULL;
  return n ^ (n >> 31);
}

}  // namespace

double slowed(double hidden, double time, double traffic, const Overlap& overlap) {
  if (hidden <= 0) return 0;
  return hidden * (overlap.slow_down + overlap.memory_bound * std::min(1.0, traffic / time));
}

LayerTerms& LayerTerms::operator+=(const LayerTerms& other) {
  for (std::size_t i = 0; i < kTerms; ++i) sums[i] += other.sums[i];
  transient = std::max(transient, other.transient);
  largest_parameters = std::max(largest_parameters, other.largest_parameters);
  largest_gathered = std::max(largest_gathered, other.largest_gathered);
  return *this;
}

LayerTerms LayerTerms::gathered_without(const LayerTerms& part) const {
  LayerTerms rest;
  for (const Term term :
       {Term::layers, Term::dense_parameters, Term::expert_parameters, Term::low_parameters,
        Term::gathered_dense, Term::gathered_expert, Term::regathered_dense, Term::regathered_expert})
    rest.of(term) = std::max(0.0, of(term) - part.of(term));
  return rest;
}

namespace {

void add_frozen(const LayerCost& cost, const Recipe& recipe, LayerTerms& t) {
  const auto bytes = [](const FrozenWeights& w, double wide, double low) {
    return static_cast<double>(w.wide) * wide + static_cast<double>(w.low) * low + w.packed_bytes;
  };
  const auto held = static_cast<double>(recipe.weight_bytes_per_parameter());
  const double low = held + recipe.low_bytes_per_parameter();
  t.of(Term::frozen_dense) = bytes(cost.frozen_dense, held, low);
  t.of(Term::frozen_expert) = bytes(cost.frozen_experts, held, low);
  const double wide_gather = recipe.gather_bytes_per_parameter(false);
  const double low_gather = recipe.gather_bytes_per_parameter(true);
  t.of(Term::gathered_dense) = bytes(cost.frozen_dense, wide_gather, low_gather);
  t.of(Term::gathered_expert) = bytes(cost.frozen_experts, wide_gather, low_gather);
  if (cost.has_backward) {
    t.of(Term::regathered_dense) = t.of(Term::gathered_dense);
    t.of(Term::regathered_expert) = t.of(Term::gathered_expert);
  }
  t.largest_gathered = t.of(Term::gathered_dense) + t.of(Term::gathered_expert) +
                       static_cast<double>(cost.parameters()) * wide_gather;
}

// What exchanges show where no pass runs beside theirs, over what they show where one does. Kernels that are issued
// meanwhile (`hides`) take from all collectives together.
struct Shown {
  Exchanges alone;
  Exchanges beside;
};

void add_alone(const LayerCost& cost, const Shown& exchanges, bool hides, LayerTerms& t) {
  const auto more = [&](double Exchanges::* pass, Seconds wait, Term tensor, Term context) {
    const double others = t.of(tensor) + t.of(context) - (hides ? wait.value : 0);
    return std::max(
        0.0, std::max(0.0, others + exchanges.alone.*pass) - std::max(0.0, others + exchanges.beside.*pass));
  };
  t.of(Term::forward_alone) =
      more(&Exchanges::forward, cost.forward_wait, Term::forward_tensor, Term::forward_context);
  t.of(Term::backward_alone) =
      more(&Exchanges::backward, cost.backward_wait, Term::backward_tensor, Term::backward_context);
}

}  // namespace

LayerTerms layer_terms(const LayerCost& cost, const Recipe& recipe, const Accelerator& accelerator) {
  LayerTerms t;
  const Overlap& o = recipe.overlap;
  const double own = cost.backward.value - cost.recompute.value;
  const double weight = std::min(own, cost.backward_weight.value);
  const double accumulation = gradient_accumulation(cost.parameters(), recipe, accelerator).value;
  t.of(Term::forward) = cost.forward.value;
  t.of(Term::backward_input) = own - weight;
  t.of(Term::backward_weight) = weight + accumulation;
  t.of(Term::recompute) = cost.recompute.value;
  double beside_forward = cost.forward.value;
  t.of(Term::forward_tensor) = exposed(cost.forward_collectives.tensor.value,
                                       cost.forward_traffic.tensor.value, o.tensor, beside_forward, o);
  // Backward: first what frameworks put beside products of weight gradients.
  const double tensor = cost.backward_collectives.tensor.value;
  const double beside = std::min(o.tensor_backward * tensor, weight);
  double beside_backward = cost.backward.value - beside;
  const double traffic = cost.backward_traffic.tensor.value;
  const double left_traffic = tensor > 0 ? traffic * (1 - beside / tensor) : 0;
  t.of(Term::backward_tensor) = exposed(tensor - beside, left_traffic, o.tensor, beside_backward, o) +
                                slowed(beside, tensor, traffic, o);
  const Exchanges single = exposed_exchanges(cost, recipe, false);
  const Exchanges alone{
      exposed(single.forward, cost.forward_traffic.expert.value, o.expert, beside_forward, o),
      exposed(single.backward, cost.backward_traffic.expert.value, o.expert, beside_backward, o)};
  const Exchanges shown = cost.overlaps_experts ? exposed_exchanges(cost, recipe, true) : alone;
  t.of(Term::forward_expert) = shown.forward;
  t.of(Term::backward_expert) = shown.backward;
  t.of(Term::forward_context) = exposed_context(cost, Direction::forward, o.context).value;
  t.of(Term::backward_context) = exposed_context(cost, Direction::backward, o.context).value;
  // Kernels are issued while collectives run, too: what a layer waits for them counts as hidden communication, unless
  // the recipe hides nothing at all.
  const bool hides = o.hides_anything();
  const auto during = [&](double wait, std::initializer_list<Term> collectives) {
    for (const Term term : collectives) {
      const double hidden = hides ? std::min(wait, t.of(term)) : 0;
      t.of(term) -= hidden;
      wait -= hidden;
    }
  };
  if (cost.overlaps_experts) add_alone(cost, {alone, shown}, hides, t);
  during(cost.forward_wait.value, {Term::forward_tensor, Term::forward_expert, Term::forward_context});
  during(cost.backward_wait.value, {Term::backward_tensor, Term::backward_expert, Term::backward_context});
  t.of(Term::dense_parameters) = static_cast<double>(cost.dense_parameters);
  t.of(Term::expert_parameters) = static_cast<double>(cost.expert_parameters);
  t.of(Term::partial_parameters) = static_cast<double>(cost.partial_parameters);
  t.of(Term::low_parameters) = static_cast<double>(cost.low_parameters);
  t.of(Term::stash) = static_cast<double>(cost.stash.value);
  t.of(Term::layers) = 1;
  t.transient = static_cast<double>(cost.transient.value);
  t.largest_parameters = static_cast<double>(cost.parameters());
  if (cost.frozen_dense.any() || cost.frozen_experts.any()) add_frozen(cost, recipe, t);
  return t;
}

LayerTerms layer_terms(const ProfileLayer& layer, const LayerProfile& profile, bool full, Bytes incoming) {
  LayerTerms t;
  const double weight = layer.backward_weight.value_or(Seconds{layer.backward.value / 2}).value;
  const auto parameters = [&](Bytes bytes) {
    return static_cast<double>(bytes.value) / static_cast<double>(profile.parameter_dtype_bytes);
  };
  t.of(Term::forward) = layer.forward.value;
  t.of(Term::backward_input) = layer.backward.value - std::min(weight, layer.backward.value);
  t.of(Term::backward_weight) = std::min(weight, layer.backward.value);
  t.of(Term::recompute) = full ? layer.forward.value : 0;
  t.of(Term::dense_parameters) = parameters(layer.parameters - layer.expert_parameters);
  t.of(Term::expert_parameters) = parameters(layer.expert_parameters);
  t.of(Term::stash) = static_cast<double>(full ? incoming.value : layer.activations.value);
  t.of(Term::layers) = 1;
  t.transient = static_cast<double>(layer.workspace.value + (full ? layer.activations.value : 0));
  t.largest_parameters = parameters(layer.parameters);
  return t;
}

void offload_activations(const HostShare& host, LayerTerms& t) {
  const double stash = t.of(Term::stash);
  const double copy = stash / host.link.value;
  t.of(Term::forward_offload) = std::max(0.0, copy - forward_work(t));
  t.of(Term::backward_offload) = std::max(0.0, copy - backward_work(t));
  t.of(Term::host_stash) = stash;
  t.of(Term::stash) = 0;
  t.transient += 2 * stash;
}

LayerTable::LayerTable(std::vector<LayerTerms> layers) : layers_(std::move(layers)) {
  signature_.push_back(0);
  const auto frozen = [](const LayerTerms& t) {
    return std::any_of(t.sums.begin() + kTrainedTerms, t.sums.end(), [](double sum) { return sum > 0; });
  };
  if (std::ranges::any_of(layers_, frozen)) terms_ = kTerms;
  std::vector<std::size_t> kind_of;
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const auto known =
        std::find_if(kinds_.begin(), kinds_.end(), [&](std::size_t k) { return layers_[k] == layers_[i]; });
    kind_of.push_back(static_cast<std::size_t>(known - kinds_.begin()));
    if (known == kinds_.end()) kinds_.push_back(i);
    signature_.push_back(signature_.back() + random_bits(kind_of.back()));
  }
  if (kinds_.size() <= kMostKinds) {
    counts_.resize((layers_.size() + 1) * kinds_.size());
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      for (std::size_t k = 0; k < kinds_.size(); ++k)
        counts_[(i + 1) * kinds_.size() + k] = counts_[i * kinds_.size() + k] + (kind_of[i] == k ? 1 : 0);
    }
  }
  std::vector<Most> level;
  level.reserve(layers_.size());
  for (const LayerTerms& t : layers_)
    level.push_back({t.transient, t.largest_parameters, t.largest_gathered});
  most_.push_back(std::move(level));
  for (std::size_t span = 2; span <= layers_.size(); span *= 2) {
    const std::vector<Most>& below = most_.back();
    std::vector<Most> next;
    for (std::size_t i = 0; i + span <= layers_.size(); ++i) {
      const Most& a = below[i];
      const Most& b = below[i + span / 2];
      next.push_back(most_of(a, b));
    }
    most_.push_back(std::move(next));
  }
}

LayerTerms LayerTable::range(std::size_t first, std::size_t last) const {
  LayerTerms t;
  if (first >= last) return t;
  if (counts_.empty()) {
    for (std::size_t i = first; i < last; ++i) {
      for (std::size_t k = 0; k < terms_; ++k) t.sums[k] += layers_[i].sums[k];
    }
  } else {
    const std::size_t n = kinds_.size();
    for (std::size_t kind = 0; kind < n; ++kind) {
      const std::int32_t count = counts_[last * n + kind] - counts_[first * n + kind];
      if (count == 0) continue;
      const LayerTerms& one = layers_[kinds_[kind]];
      for (std::size_t k = 0; k < terms_; ++k) t.sums[k] += count * one.sums[k];
    }
  }
  const auto level = static_cast<std::size_t>(std::bit_width(last - first) - 1);
  const Most& a = most_[level][first];
  const Most& b = most_[level][last - (std::size_t{1} << level)];
  const Most most = most_of(a, b);
  t.transient = most.transient;
  t.largest_parameters = most.parameters;
  t.largest_gathered = most.gathered;
  return t;
}

}  // namespace nest::price
