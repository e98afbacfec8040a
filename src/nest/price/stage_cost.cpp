#include "nest/price/stage_cost.hpp"

#include <algorithm>
#include <cmath>

#include "nest/estimate/kernels/optimizer_time.hpp"
#include "nest/estimate/kernels/slowest_rank.hpp"
#include "nest/price/held_parameters.hpp"

namespace nest::price {
namespace {

using Group = StepCollective::Group;

// What is left of communication that `compute` hides a share of. It comes in n equal parts: the first of a
// gather has nothing to hide behind, and the last of a reduction has nothing left.
double unhidden(double communication, double share, double compute, double parts) {
  if (share <= 0) return communication;
  const double hidden =
      std::min({share * communication, compute * (parts - 1) / parts, communication * (parts - 1) / parts});
  return communication - std::max(0.0, hidden);
}

// NOLINTBEGIN(bugprone-return-const-ref-from-parameter): both are members that outlive the call
const Shapes& either(const Shapes& alone, const Shapes& all) {
  return alone.empty() ? all : alone;
}
// NOLINTEND(bugprone-return-const-ref-from-parameter)

constexpr double kSixteenBits = 2;  // bytes of a gradient as products write it

}  // namespace

Recipe recipe_for(Recipe recipe, const Training& training) {
  if (training.optimizer != recipe.optimizer) recipe.momentum = false;
  recipe.optimizer = training.optimizer;
  recipe.precision = training.precision;
  return with_states(std::move(recipe), training.states);
}

double gather_bytes(const LayerTerms& t, const Recipe& recipe) {
  const double all = t.of(Term::dense_parameters) + t.of(Term::expert_parameters);
  const double low = all > 0 ? t.of(Term::low_parameters) / all : 0;
  return low * recipe.gather_bytes_per_parameter(true) + (1 - low) * recipe.gather_bytes_per_parameter(false);
}

Seconds saved_in_pair(const ChunkCost& forward, const ChunkCost& backward) {
  return std::min(forward.forward_beside, backward.backward_input + backward.backward_weight) +
         std::min(backward.backward_beside, forward.forward);
}

void add_chunk(const LayerTerms& chunk, bool at_once, LayerTerms& stage) {
  const LayerTerms before = stage;
  stage += chunk;
  if (!at_once) return;
  for (double LayerTerms::* most :
       {&LayerTerms::transient, &LayerTerms::largest_parameters, &LayerTerms::largest_gathered})
    stage.*most = before.*most + chunk.*most;
}

void add_passes(const std::vector<ChunkCost>& chunks, Schedule schedule, std::vector<StagePass>& out) {
  const bool pairs = schedule_of(schedule).pairs_passes;
  for (std::size_t c = 0; c < chunks.size(); ++c) {
    const ChunkCost& own = chunks[c];
    const ChunkCost& other = chunks[chunks.size() - 1 - c];
    const Seconds pair = pairs ? own.f() + other.b() - saved_in_pair(own, other) : Seconds{};
    out.push_back({own.f().value, own.b().value, own.backward_weight.value, pair.value});
  }
}

Seconds StageCost::f() const {
  Seconds sum;
  for (const ChunkCost& c : chunks) sum += c.f();
  return sum;
}

Seconds StageCost::b() const {
  Seconds sum;
  for (const ChunkCost& c : chunks) sum += c.b();
  return sum;
}

Seconds StageCost::saved() const {
  Seconds sum;
  for (std::size_t c = 0; c < chunks.size(); ++c) {
    if (chunks[c].paired > 0)
      sum += chunks[c].paired * saved_in_pair(chunks[c], chunks[chunks.size() - 1 - c]);
  }
  return sum;
}

StageTime StageCost::time() const {
  StageTime t;
  for (const ChunkCost& c : chunks) {
    t.forward += c.forward;
    t.backward += c.backward_input + c.backward_weight;
    t.recompute += c.recompute;
    t.tensor += c.forward_collectives.tensor + c.backward_collectives.tensor;
    t.expert += c.forward_collectives.expert + c.backward_collectives.expert;
    t.context += c.forward_collectives.context + c.backward_collectives.context;
    t.pipeline += c.forward_receive + c.backward_receive;
    t.zero += c.forward_zero + c.backward_zero;
    t.offload += c.forward_offload + c.backward_offload;
  }
  t.expert -= saved();
  return t;
}

double send_overlap(const Overlap& overlap, Schedule schedule) {
  return schedule_of(schedule).hides_chunk_sends ? std::max(overlap.pipeline, overlap.interleaved_sends)
                                                 : overlap.pipeline;
}

double StageCoster::waiting(std::int64_t devices) const {
  return recipe_.jitter > 0 ? 1 + recipe_.jitter * slowest_rank(devices) : 1;
}

double StageCoster::memory_time(CollectiveKind kind, double bytes) const {
  return memory_passes(kind) * bytes / rates_.bandwidth;
}

double StageCoster::time(CollectiveKind kind, double bytes, const Shapes& shapes) const {
  if (bytes <= 0) return 0;
  return slowest(kind, round_up_bytes(bytes), shapes, *collectives_).value;
}

void StageCoster::chunk(const LayerTerms& t, const StageNetwork& network, Zero zero, Schedule schedule,
                        ChunkCost& out) const {
  out.forward = Seconds{t.of(Term::forward)};
  out.backward_input = Seconds{t.of(Term::backward_input)};
  out.backward_weight = Seconds{t.of(Term::backward_weight)};
  out.recompute = Seconds{t.of(Term::recompute)};
  out.forward_collectives = {Seconds{t.of(Term::forward_tensor)}, Seconds{t.of(Term::forward_expert)},
                             Seconds{t.of(Term::forward_context)}};
  out.backward_collectives = {Seconds{t.of(Term::backward_tensor)}, Seconds{t.of(Term::backward_expert)},
                              Seconds{t.of(Term::backward_context)}};
  // Under other schedules some pass of the same layers always runs beside.
  const bool pairs = schedule_of(schedule).pairs_passes;
  out.forward_beside = Seconds{pairs ? t.of(Term::forward_alone) : 0};
  out.backward_beside = Seconds{pairs ? t.of(Term::backward_alone) : 0};
  out.forward_collectives.expert += out.forward_beside;
  out.backward_collectives.expert += out.backward_beside;
  out.stash = round_up_bytes(t.of(Term::stash));
  out.host_stash = Bytes{0};
  out.host_copy = out.forward_offload = out.backward_offload = Seconds{};
  if (recipe_.offload.activations) {
    out.host_stash = round_up_bytes(t.of(Term::host_stash));
    out.host_copy = Seconds{t.of(Term::host_stash) / host_.link.value};
    out.forward_offload = Seconds{t.of(Term::forward_offload)};
    out.backward_offload = Seconds{t.of(Term::backward_offload)};
  }
  out.forward_zero = out.backward_zero = Seconds{};
  if (!zero.reduces_every_micro_batch()) return;
  const Recipe& recipe = recipe_;
  const Overlap& overlap = recipe.overlap;
  const double layers = std::max(1.0, t.of(Term::layers));
  const double dense = t.of(Term::dense_parameters) / layers;
  const double expert = t.of(Term::expert_parameters) / layers;
  // Bytes of frozen weights come on top, of all layers together.
  const auto traffic = [&](CollectiveKind kind, double bytes, double frozen) {
    return memory_time(kind, layers * (dense + expert) * bytes + frozen);
  };
  const auto all_layers = [&](CollectiveKind kind, double bytes, double frozen_dense, double frozen_expert) {
    return recipe.zero_time * layers *
           (time(kind, dense * bytes + frozen_dense / layers, network.dense.inner) +
            time(kind, expert * bytes + frozen_expert / layers, network.expert.inner));
  };
  const double gathered = zero.gathers_every_pass() ? gather_bytes(t, recipe) : 0;
  const auto scattered = static_cast<double>(size_of(recipe.reduce_dtype));
  const bool gathers = zero.gathers_every_pass();
  const auto frozen = [&](Term term) { return gathers ? t.of(term) : 0; };
  const double gather = all_layers(CollectiveKind::all_gather, gathered, frozen(Term::gathered_dense),
                                   frozen(Term::gathered_expert));
  const double regather = all_layers(CollectiveKind::all_gather, gathered, frozen(Term::regathered_dense),
                                     frozen(Term::regathered_expert));
  const double scatter = all_layers(CollectiveKind::reduce_scatter, scattered, 0, 0);
  const double gather_traffic = traffic(CollectiveKind::all_gather, gathered,
                                        frozen(Term::gathered_dense) + frozen(Term::gathered_expert));
  const double regather_traffic = traffic(CollectiveKind::all_gather, gathered,
                                          frozen(Term::regathered_dense) + frozen(Term::regathered_expert));
  const double forward = unhidden(gather, overlap.prefetch, out.forward.value, layers);
  // In the backward pass both share the time of the compute.
  const double backward_gather = unhidden(regather, overlap.prefetch, out.backward_compute().value, layers);
  const double left = std::max(0.0, out.backward_compute().value - (regather - backward_gather));
  const double reduce = unhidden(scatter, overlap.gradient_reduce, left, layers);
  out.forward_zero = Seconds{forward + slowed(gather - forward, gather, gather_traffic, overlap)};
  out.backward_zero = Seconds{
      backward_gather + reduce + slowed(regather - backward_gather, regather, regather_traffic, overlap) +
      slowed(scatter - reduce, scatter, traffic(CollectiveKind::reduce_scatter, scattered, 0), overlap)};
  if (!recipe.copied_shards || !zero.gathers_every_pass()) return;
  // Only what is gathered is copied.
  const auto copied = [&](double parameters, const ParameterGroup& group) {
    return time(CollectiveKind::all_gather, parameters * gathered, group.inner) > 0 ? layers * parameters : 0;
  };
  const double each = (copied(dense, network.dense) + copied(expert, network.expert)) / rates_.bandwidth;
  out.forward_zero += Seconds{2 * gathered * each};
  out.backward_zero += Seconds{(2 * gathered + kSixteenBits + scattered) * each};
  const auto copied_frozen = [&](Term dense_bytes, Term expert_bytes) {
    double bytes = 0;
    for (const auto& [own, group] :
         {std::pair{t.of(dense_bytes), &network.dense}, {t.of(expert_bytes), &network.expert}})
      bytes += time(CollectiveKind::all_gather, own / layers, group->inner) > 0 ? own : 0;
    return Seconds{2 * bytes / rates_.bandwidth};
  };
  out.forward_zero += copied_frozen(Term::gathered_dense, Term::gathered_expert);
  out.backward_zero += copied_frozen(Term::regathered_dense, Term::regathered_expert);
}

Seconds StageCoster::receive(Bytes bytes, const Shapes& from, Seconds beside, Schedule schedule,
                             Seconds* hidden_part) const {
  const double send = time(CollectiveKind::send, static_cast<double>(bytes.value), from);
  const Overlap& overlap = recipe_.overlap;
  const double hidden = std::min(send_overlap(overlap, schedule) * send, beside.value);
  if (hidden_part != nullptr) *hidden_part = Seconds{hidden};
  const double traffic = memory_time(CollectiveKind::send, static_cast<double>(bytes.value));
  return Seconds{send - hidden + slowed(hidden, send, traffic, overlap)};
}

void StageCoster::step(const LayerTerms& t, const StageNetwork& network, const StageStep& step,
                       StageCost& out) const {
  const auto [zero, tied, shared, ends, shape, schedule] = step;
  const Recipe& recipe = recipe_;
  const Overlap& overlap = recipe.overlap;
  out.reduces.clear();
  out.gathers.clear();
  double reduce = 0;
  double alone = 0;
  double gather = 0;
  double reduce_traffic = 0;
  double gather_traffic = 0;
  const auto add = [&](std::vector<StepCollective>& list, CollectiveKind kind, Group group, double bytes,
                       const Shapes& shapes) {
    const double seconds = time(kind, bytes, shapes);
    if (seconds > 0) {
      list.push_back({kind, group, round_up_bytes(bytes), Seconds{seconds}});
      (&list == &out.reduces ? reduce_traffic : gather_traffic) += memory_time(kind, bytes);
    }
    return seconds;
  };
  const auto bytes_each = static_cast<double>(size_of(recipe.reduce_dtype));
  const auto both = [&](double parameters, const ParameterGroup& group, Group whole, Group inner,
                        Group outer) {
    const double bytes = parameters * bytes_each;
    if (!zero.shards_anything()) {
      reduce += add(out.reduces, CollectiveKind::all_reduce, whole, bytes, group.whole);
      alone += time(CollectiveKind::all_reduce, bytes, either(group.whole_alone, group.whole));
      return;
    }
    if (zero.scatters_at_step_end()) {
      reduce += add(out.reduces, CollectiveKind::reduce_scatter, inner, bytes, group.inner);
      alone += time(CollectiveKind::reduce_scatter, bytes, either(group.inner_alone, group.inner));
    }
    if (group.shards < group.members) {
      reduce += add(out.reduces, CollectiveKind::all_reduce, outer, sharded(bytes, group), group.outer);
      alone +=
          time(CollectiveKind::all_reduce, sharded(bytes, group), either(group.outer_alone, group.outer));
    }
    if (zero.gathers_at_step_end()) {
      const double gathered = parameters * gather_bytes(t, recipe);
      if (recipe.gather_by_broadcast) {
        const auto ranks = static_cast<double>(group.shards);
        const Seconds all{ranks * time(CollectiveKind::broadcast, gathered / ranks, group.inner)};
        if (all.value > 0)
          out.gathers.push_back({CollectiveKind::broadcast, inner, round_up_bytes(gathered), all});
        gather += all.value;
      } else {
        gather += add(out.gathers, CollectiveKind::all_gather, inner, gathered, group.inner);
      }
    }
  };
  const double dense = t.of(Term::dense_parameters) + tied;
  const double expert = t.of(Term::expert_parameters);
  both(dense, network.dense, Group::dense, Group::dense_inner, Group::dense_outer);
  both(expert, network.expert, Group::expert, Group::expert_inner, Group::expert_outer);
  // Norms under sequence parallelism, and heads that several ranks repeat: each rank has a part of the
  // gradient. Megatron-LM sums all of them at once over the tensor group, as they are held, when the rest is
  // reduced.
  double late = 0;
  const double partial = t.of(Term::partial_parameters) * static_cast<double>(size_of(recipe.gradient_dtype));
  if (partial > 0) {
    const Bytes bytes = round_up_bytes(partial);
    const Seconds sum = network.cell->time(
        {.forward = CollectiveKind::all_reduce, .group = GroupAxis::tensor, .forward_bytes = bytes},
        Direction::forward);
    if (sum.value > 0) out.reduces.push_back({CollectiveKind::all_reduce, Group::replicated, bytes, sum});
    late += sum.value;
  }
  // Copies of tied weights are summed after everything else is reduced, too: nothing hides either.
  if (ends != nullptr)
    late += add(out.reduces, CollectiveKind::all_reduce, Group::tied, shared * bytes_each, *ends);

  out.buckets = std::max<std::int64_t>(1, static_cast<std::int64_t>(std::llround(t.of(Term::layers))));
  // The first chunk's backward pass is the last to run. Other chunks' gradients are ready before.
  const ChunkCost& last = out.chunks.front();
  const auto rounds = static_cast<double>(passes_between_chunks(schedule, shape));
  const auto n = static_cast<double>(out.buckets);
  // Where weight gradients are tasks of their own, the last one finishes them.
  const Seconds last_pass =
      schedule_of(schedule).splits_backward ? last.backward_weight : last.backward_work();
  const double reduce_left = unhidden(reduce, overlap.gradient_reduce, (1 + rounds) * last_pass.value, n);
  const double alone_left = unhidden(alone, overlap.gradient_reduce, (1 + rounds) * last_pass.value, n);
  const double gather_left =
      unhidden(gather, overlap.parameter_gather, (1 + rounds) * last.forward_work().value, n);
  out.reduce = Seconds{reduce_left + late};
  out.reduce_alone = Seconds{alone_left + late};
  out.gather = Seconds{gather_left};
  out.slow_down = Seconds{slowed(reduce - reduce_left, reduce, reduce_traffic, overlap) +
                          slowed(gather - gather_left, gather, gather_traffic, overlap)};

  const double held = held_parameters(t, network, zero, tied);
  const auto parameters = static_cast<std::int64_t>(std::ceil(held));
  const auto gradients =
      static_cast<std::int64_t>(std::ceil(zero.shards_gradients() ? held : dense + expert));
  out.offload.reset();
  if (recipe.offload.optimizer) {
    out.offload = host_update(parameters, recipe, host_, rates_, gradients);
    out.optimizer = out.offload->total(out.buckets);
  } else {
    out.optimizer = recipe.optimizer == Optimizer::muon
                        ? muon_time(muon_states(t, network, zero, tied), network, gradients)
                        : optimizer_time(parameters, recipe, rates_, gradients);
  }
  out.update = update(t, network, zero, tied);
  out.norm = norm_time(parameters, recipe, rates_);
}

// Matrices travel to those who orthogonalize them and back.
Seconds StageCoster::muon_time(const MuonStates& states, const StageNetwork& network,
                               std::int64_t gradients) const {
  if (!recipe_.optimizer_time) return {};
  const auto whole = [](double parameters) { return static_cast<std::int64_t>(std::ceil(parameters)); };
  const double sent = time(CollectiveKind::all_to_all, states.dense_bytes, network.dense.inner) +
                      time(CollectiveKind::all_to_all, states.expert_bytes, network.expert.inner);
  return optimizer_time(whole(states.others), recipe_, rates_, gradients) +
         matrix_update_time(whole(states.matrices), recipe_, rates_) + Seconds{states.orthogonal + 2 * sent};
}

}  // namespace nest::price
