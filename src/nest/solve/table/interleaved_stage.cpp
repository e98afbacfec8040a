#include "nest/solve/table/interleaved_stage.hpp"

#include <algorithm>

#include "nest/price/layers/pass_work.hpp"
#include "nest/strategies/strategy.hpp"

namespace nest::solve {
namespace {

std::vector<LayerId> ids(std::int32_t first, std::int32_t last) {
  std::vector<LayerId> list;
  for (std::int32_t i = first; i < last; ++i) list.emplace_back(i);
  return list;
}

double backward_of(const LayerTerms& t, Schedule schedule) {
  const double alone = schedule_of(schedule).pairs_passes ? t.of(Term::backward_alone) : 0;
  return backward_work(t) + t.of(Term::backward_offload) + alone;
}

}  // namespace

std::int32_t StageContents::chunk(std::int32_t first, std::int32_t last, Beside beside) {
  const auto [at, made] = ranges_.try_emplace({first, last, beside}, 0);
  if (!made) return at->second;
  const auto inside = [&](std::int32_t layer) {
    return layer > 0 && static_cast<std::size_t>(layer) < graph_->layers();
  };
  const auto before = [&](std::int32_t layer) {
    return inside(layer) ? graph_->crossing_before(LayerId(layer)) : Bytes{0};
  };
  const Bytes returning = !beside.after && inside(last) ? graph_->returning_before(LayerId(last)) : Bytes{0};
  // What a device makes for itself goes nowhere.
  StageClass own = sets_->class_of(ids(first, last), beside.before ? Bytes{0} : before(first),
                                   beside.after ? Bytes{0} : before(last), returning);
  const auto same = std::find_if(chunks_.begin(), chunks_.end(), [&](const StageClass& c) {
    return c.kinds == own.kinds && c.before == own.before && c.after == own.after &&
           c.returning == own.returning;
  });
  at->second = static_cast<std::int32_t>(same - chunks_.begin());
  if (same == chunks_.end()) chunks_.push_back(std::move(own));
  return at->second;
}

const std::vector<std::int32_t>& StageContents::of_split(const std::vector<std::int32_t>& split,
                                                         Schedule schedule, std::size_t stages) {
  const auto [at, made] = splits_.try_emplace({&split, schedule_of(schedule).path});
  if (!made) return at->second;
  const std::size_t chunks = (split.size() - 1) / stages;
  const auto same_stage = [&](std::size_t part, std::size_t other, std::size_t stage) {
    return part < split.size() - 1 && other < split.size() - 1 &&
           place_of_part(schedule, stages, other).stage == stage;
  };
  for (std::size_t i = 0; i < stages; ++i) {
    std::vector<std::int32_t> key;
    key.reserve(chunks);
    for (std::size_t c = 0; c < chunks; ++c) {
      const std::size_t part = part_of(schedule, stages, {i, c});
      key.push_back(chunk(split[part], split[part + 1],
                          {part > 0 && same_stage(part, part - 1, i), same_stage(part, part + 1, i)}));
    }
    const auto [known, fresh] = known_.try_emplace(key, static_cast<std::int32_t>(contents_.size()));
    if (fresh) {
      std::vector<LayerId> all;
      StageContent content;
      for (std::size_t c = 0; c < chunks; ++c) {
        const std::size_t part = part_of(schedule, stages, {i, c});
        const std::vector<LayerId> own = ids(split[part], split[part + 1]);
        all.insert(all.end(), own.begin(), own.end());
        content.chunks.push_back(chunks_[static_cast<std::size_t>(key[c])]);
      }
      content.whole = sets_->class_of(all, Bytes{0}, Bytes{0}, Bytes{0});
      contents_.push_back(std::move(content));
    }
    at->second.push_back(known->second);
  }
  return at->second;
}

StageVariants::StageVariants(const StageSetting& setting, const Place& place, const InterleavedPlace& where,
                             const StageContent& content)
    : setting_(&setting),
      place_(&place),
      where_(where),
      content_(&content),
      tied_(content.whole.tied_copied / static_cast<double>(place.strategy.tensor)),
      at_once_(hides_in_pairs(setting.schedule, place.strategy)) {
  const StageClass& whole = content.whole;
  parameters_ = stage_terms(*setting.sets, whole, place, {RecomputePolicy::none, 0});
  if (at_once_) {
    LayerTerms both;
    for (const StageClass& chunk : content.chunks)
      add_chunk(stage_terms(*setting.sets, chunk, place, {RecomputePolicy::none, 0}), true, both);
    parameters_.largest_parameters = both.largest_parameters;
    parameters_.largest_gathered = both.largest_gathered;
  }
  setting.coster->add_frozen_copy(whole.tied_frozen / static_cast<double>(place.strategy.tensor),
                                  parameters_);
  if (setting.zero.resharding().kind == Resharding::Kind::first) {
    std::int64_t left = setting.zero.resharding().number;
    LayerTerms all;
    for (const StageClass& chunk : content.chunks) {
      first_.push_back(first_terms(*setting.sets, chunk, place, left));
      all += first_.back();
    }
    first_.push_back(all);
  }
  const StageMemory m =
      setting.coster->memory(parameters_, *place.network, setting.zero, tied_, Bytes{0},
                             {setting.shape.stages, first_.empty() ? nullptr : &first_.back()});
  const Bytes fresh = setting.coster->fresh(m.gradients, setting.shape.micro_batches);
  fixed_ = m.weights + m.gradients - fresh + m.optimizer;
  host_room_ = m.host_capacity - m.host;
  offloads_ = setting.coster->recipe().offload.activations;
  update_ = setting.coster->update(parameters_, *place.network, setting.zero, tied_) + fresh;
  choices_ = setting.recompute->plain_of_stage(whole.recomputable);
}

std::vector<StageVariant>& StageVariants::all() {
  if (variants_.empty()) make(choices_);
  return variants_;
}

void StageVariants::complete() {
  if (complete_) return;
  if (variants_.empty()) make(choices_);
  make(setting_->recompute->sets_of_stage(content_->whole.recomputable));
  complete_ = true;
}

void StageVariants::make(const std::vector<Recompute>& choices) {
  const std::size_t first = variants_.size();
  variants_.reserve(first + choices.size());
  for (const Recompute& recompute : choices) variants_.emplace_back().recompute = recompute;
  weigh(first);
  for (std::size_t i = first + 1; i < variants_.size(); ++i) {
    for (std::size_t k = i; k > first && variants_[k].order < variants_[k - 1].order; --k)
      std::swap(variants_[k], variants_[k - 1]);
  }
}

StageVariants::Rung StageVariants::whole(const StageClass& chunk, const LayerPolicy& policy) const {
  Rung out;
  double stash = 0;
  double host = 0;
  for (std::size_t kind = 0; kind < chunk.counts.size(); ++kind) {
    if (chunk.counts[kind] == 0) continue;
    const LayerTerms& t = terms(policy, static_cast<std::uint16_t>(kind));
    stash += chunk.counts[kind] * t.of(Term::stash);
    if (offloads_) host += chunk.counts[kind] * t.of(Term::host_stash);
    out.work += chunk.counts[kind] * backward_of(t, setting_->schedule);
    out.transient = std::max(out.transient, t.transient);
  }
  out.stash = round_up_bytes(stash);
  if (offloads_) out.host_stash = round_up_bytes(host);
  return out;
}

// Each rung is the one below with one more layer recomputed. Layers stash whole bytes, so that sums of them
// are exact in any order.
std::vector<StageVariants::Rung> StageVariants::ladder(const StageClass& chunk) const {
  std::vector<Rung> rungs{whole(chunk, RecomputePolicy::none)};
  std::vector<std::uint16_t> kinds;  // of the layers that recompute, in order
  double kept = 0;                   // transient of the layers that never do
  for (const std::uint16_t kind : chunk.kinds) {
    if (setting_->sets->recomputes(kind)) {
      kinds.push_back(kind);
    } else {
      kept = std::max(kept, terms(RecomputePolicy::none, kind).transient);
    }
  }
  double stash = static_cast<double>(rungs.front().stash.value);
  double host = static_cast<double>(rungs.front().host_stash.value);
  for (const std::uint16_t kind : kinds) {
    const LayerTerms& none = terms(RecomputePolicy::none, kind);
    const LayerTerms& full = terms(RecomputePolicy::full, kind);
    Rung next = rungs.back();
    next.work += backward_of(full, setting_->schedule) - backward_of(none, setting_->schedule);
    stash += full.of(Term::stash) - none.of(Term::stash);
    next.stash = round_up_bytes(stash);
    host += full.of(Term::host_stash) - none.of(Term::host_stash);
    if (offloads_) next.host_stash = round_up_bytes(host);
    rungs.push_back(next);
  }
  double most = kept;
  for (std::size_t j = 0; j < kinds.size(); ++j) {
    rungs[j].transient = most;
    most = std::max(most, terms(RecomputePolicy::full, kinds[j]).transient);
  }
  rungs.back().transient = most;
  most = 0;
  for (std::size_t j = kinds.size(); j-- > 0;) {
    most = std::max(most, terms(RecomputePolicy::none, kinds[j]).transient);
    rungs[j].transient = std::max(rungs[j].transient, most);
  }
  return rungs;
}

Bytes StageVariants::buffers(const StageClass& chunk) const {
  const Bytes widest = setting_->micro_batch_scale * std::max(chunk.before, chunk.returning);
  return setting_->coster->recipe().stage_buffers * boundary_bytes(widest, place_->strategy);
}

Bytes StageVariants::workspace(const LayerTerms& terms) const {
  const Zero zero = setting_->any_zero ? Zero(0) : setting_->zero;
  return setting_->coster
      ->memory(terms, *place_->network, zero, tied_, Bytes{0},
               {setting_->shape.stages, first_.empty() ? nullptr : &first_.back()})
      .workspace;
}

void StageVariants::weigh(std::size_t first) {
  const std::vector<StageClass>& chunks = content_->chunks;
  const std::span<StageVariant> fresh = std::span(variants_).subspan(first);
  const bool parts = std::ranges::any_of(fresh, [](const StageVariant& v) { return v.recompute.layers > 0; });
  std::vector<std::vector<Rung>> ladders;
  std::vector<Bytes> buffers;
  for (const StageClass& chunk : chunks) {
    if (parts) ladders.push_back(ladder(chunk));
    buffers.push_back(this->buffers(chunk));
  }
  LayerTerms own = parameters_;
  double known = -1;  // transient that `workspace` is of
  Bytes workspace;
  work_.reserve(variants_.size() * chunks.size());
  stashes_.reserve(variants_.size() * chunks.size());
  for (StageVariant& variant : fresh) {
    variant.first = work_.size();
    own.transient = 0;
    std::int64_t left = variant.recompute.layers;
    for (std::size_t c = 0; c < chunks.size(); ++c) {
      Rung rung;
      if (variant.recompute.layers == 0) {
        rung = whole(chunks[c], variant.recompute.chosen());
      } else {
        // The stage's first layers, so its first chunks'.
        const std::int64_t here = std::min(left, chunks[c].recomputable);
        rung = ladders[c][static_cast<std::size_t>(here)];
        left -= here;
      }
      variant.order += rung.work;
      own.transient = at_once_ ? own.transient + rung.transient : std::max(own.transient, rung.transient);
      work_.push_back(rung.work);
      stashes_.push_back(rung.stash + buffers[c]);
      if (offloads_) host_stashes_.push_back(rung.host_stash);
    }
    if (own.transient != known) {
      workspace = this->workspace(own);
      known = own.transient;
    }
    variant.workspace = workspace;
    const auto [least, most] =
        std::minmax_element(stashes_.begin() + static_cast<std::ptrdiff_t>(variant.first), stashes_.end());
    variant.least_stash = *least;
    variant.greatest_stash = *most;
  }
}

bool StageVariants::fits(const StageVariant& variant, std::int64_t stage, Bytes capacity) const {
  if (!fits_host(variant, stage)) return false;
  const auto total = [&](Bytes held) { return fixed_ + std::max(held + variant.workspace, update_); };
  // As many chunks of the smallest or of the largest stash settle most cases.
  const std::int64_t count = in_flight(setting_->schedule, setting_->shape, stage);
  if (total(variant.least_stash * count) > capacity) return false;
  if (total(variant.greatest_stash * count) <= capacity) return true;
  return need(variant, stage) <= capacity;
}

Bytes StageVariants::need(std::int64_t stage, std::span<const Bytes> stashes, Bytes workspace) const {
  const Bytes held = peak_stash(setting_->schedule, setting_->shape, stage, stashes);
  return fixed_ + std::max(held + workspace, update_);
}

bool StageVariants::fits_host(const StageVariant& variant, std::int64_t stage) const {
  if (host_room_ < Bytes{0}) return false;
  if (!offloads_) return true;
  const auto own = std::span(host_stashes_).subspan(variant.first, content_->chunks.size());
  return peak_stash(setting_->schedule, setting_->shape, stage, own) <= host_room_;
}

Bytes StageVariants::need(const StageVariant& variant, std::int64_t stage) const {
  if (!fits_host(variant, stage)) return kNowhereToLie;
  return need(stage, stashes(variant), variant.workspace);
}

Bytes StageVariants::least_need(std::int64_t stage) const {
  LayerTerms own = parameters_;
  own.transient = 0;
  std::vector<Bytes> stashes;
  stashes.reserve(content_->chunks.size());
  for (const StageClass& chunk : content_->chunks) {
    const LayerTerms least = least_terms(*setting_->sets, chunk, *place_);
    stashes.push_back(round_up_bytes(least.of(Term::stash)) + buffers(chunk));
    own.transient = at_once_ ? own.transient + least.transient : std::max(own.transient, least.transient);
  }
  return need(stage, stashes, workspace(own));
}

void StageVariants::price(StageVariant& variant) const {
  if (variant.priced) return;
  const StageCoster& coster = *setting_->coster;
  const StageNetwork& network = *place_->network;
  const std::vector<StageClass>& chunks = content_->chunks;
  LayerTerms whole;
  std::int64_t left = variant.recompute.layers;
  variant.cost.chunks.resize(chunks.size());
  for (std::size_t c = 0; c < chunks.size(); ++c) {
    Recompute own = variant.recompute;
    if (own.layers > 0) {
      // The stage's first layers, so its first chunks'.
      if (left == 0) {
        own = {RecomputePolicy::none, 0};
      } else if (left >= chunks[c].recomputable) {
        own = {RecomputePolicy::full, 0};
      } else {
        own.layers = left;
      }
      left -= std::min(left, chunks[c].recomputable);
    }
    const LayerTerms t = stage_terms(*setting_->sets, chunks[c], *place_, own);
    add_chunk(t, at_once_, whole);
    ChunkCost& chunk = variant.cost.chunks[c];
    coster.chunk(t, network, setting_->zero, setting_->schedule,
                 {setting_->shape.stages, first_.empty() ? nullptr : &first_[c]}, chunk);
    const auto bytes = [&](Bytes all) {
      return boundary_bytes(setting_->micro_batch_scale * all, place_->strategy);
    };
    const bool back = schedule_of(setting_->schedule).path == ChunkPath::turns && c % 2 == 1;
    const Shapes& input = back ? *where_.next : *where_.previous;
    const Shapes& gradients = back ? *where_.previous : *where_.next;
    chunk.forward_receive = coster.receive(bytes(chunks[c].before), input, chunk.least_forward_work(),
                                           setting_->schedule, &chunk.forward_hidden);
    chunk.backward_receive =
        coster.receive(bytes(chunks[c].returning), gradients, chunk.least_backward_work(), setting_->schedule,
                       &chunk.backward_hidden);
    variant.work.push_back(chunk.backward_work().value);
  }
  add_passes(variant.cost.chunks, setting_->schedule, variant.passes);
  const StageStep step{.zero = setting_->zero,
                       .first = first_.empty() ? nullptr : &first_.back(),
                       .tied = tied_,
                       .shared = content_->whole.tied_summed / static_cast<double>(place_->strategy.tensor),
                       .ends = setting_->ends,
                       .shape = setting_->shape,
                       .schedule = setting_->schedule};
  coster.step(whole, network, step, variant.cost);
  const ChunkCost& front = variant.cost.chunks.front();
  if (!where_.first) variant.hidden += front.forward_hidden.value;
  if (!where_.last) variant.hidden += front.backward_hidden.value;
  variant.priced = true;
}

}  // namespace nest::solve
