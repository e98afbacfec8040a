#include "nest/solve/table/fill.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "nest/solve/table/completions.hpp"

namespace nest::solve {
namespace {

constexpr std::size_t kBeamOptions = 2;  // recomputations of a stage that a beam search looks at

struct BoundOf {
  double span = 0;       // of the stage and all after it; at least its own passes of all micro-batches
  bool delayed = false;  // weight gradients end last, nothing hides behind other stages
  bool first = false;    // no stage comes before it
  double pipeline = 0;   // V of the stages so far
  bool in_sum = true;  // V is longer by what the first stage is longer; not so where only the longest counts
};

// Longer passes on the real network hide more of what comes after them, but they are part of the pipeline
// too: V >= sum_{k<i} (f_k + b_k) + V_i for every stage i, where V_i is the span of it and all after it (with
// ZB-H1 sum_{k<i} f_k + m u_i), so that
//   V + R_i - sum_{k<i} b_k        >=  sum_{k<i} f_k + V_i + R_i
//   V + o_i + G_i - sum_{k<i} f_k  >=  sum_{k<i} b_k + V_i + o_i + G_i
// whose right sides grow with all passes: V_i grows by no less than a pass of its stage, which hides less of
// R_i and G_i than it is longer. Labels are these sums; the first stage's R and G come on top of V itself.
StepLabel bound_end(const StepLabel& after, const StageEnd& own, const BoundOf& of) {
  StepLabel next = after.with(own);
  const double update = own.optimizer + own.gather;
  next.reduce = of.delayed ? std::max(own.reduce, after.reduce)
                           : std::max(of.span + own.reduce, after.reduce + own.hides_gathers);
  next.finish = std::max(of.span + update, after.finish + own.hides_reduces);
  if (!of.first) return next;
  double total = of.pipeline + next.optimizer;
  if (of.in_sum) {
    const double reduced = std::max(0.0, of.delayed ? next.reduce : own.reduce);
    total = of.pipeline + reduced + std::max(next.optimizer, update);
  }
  if (!of.delayed) total = std::max(total, next.reduce + next.optimizer);
  total = std::max(total, next.finish);
  next.reduce = total - of.pipeline - next.optimizer;
  next.finish = 0;
  return next;
}

}  // namespace

StageEnd end_of(const StageOption& option, std::size_t stage, std::int64_t stages, bool delayed) {
  return {option.hidden.value,
          shared_reduce(option.alone.value, option.reduce.value, stage, static_cast<std::size_t>(stages)),
          option.gather.value,
          option.optimizer.value,
          option.slow_down.value,
          option.norm.value,
          option.f.value,
          delayed ? 0 : option.b.value};
}

std::vector<Floor> layer_floors(const StageOptions& options) {
  const LayerSets& sets = *options.setting().sets;
  std::vector<Floor> floors(sets.size());
  for (std::size_t state = 0; state < floors.size(); ++state) {
    const auto outside = sets.outside(static_cast<std::int32_t>(state));
    for (std::size_t kind = 0; kind < outside.size(); ++kind) {
      floors[state].f += outside[kind] * options.least_forward(kind);
      floors[state].b += outside[kind] * options.least_backward(kind);
    }
  }
  return floors;
}

bool Filler::Label::covers(const Label& o) const {
  return pipeline[0] <= o.pipeline[0] && pipeline[1] <= o.pipeline[1] && pipeline[2] <= o.pipeline[2] &&
         end.covers(o.end);
}

// What sticks out of the label can hide behind the passes of stages that are still to come, but these make
// the pipeline longer by as much: with X >= before.b and V(X) - X that does not fall,
//   V(X) + max(0, R - X) >= V(before.b) + max(0, R - before.b),
// and likewise for gathers. That holds where longer passes make the pipeline longer by no less (`in_sum`).
Seconds Filler::label_bound(const FillQuestion& question, Schedule schedule, const Label& label,
                            std::int64_t s, std::int32_t state) const {
  const StepLabel& end = label.end;
  const Floor& before = floors_[static_cast<std::size_t>(state)];
  const PipelineShape& shape = question.pipeline;
  double pipeline = pipeline_bound(shape, label.pipeline, s, before.f, before.b).value;
  if (s == shape.stages) return Seconds{pipeline + end.total()};
  const Completion rest =
      question.completions != nullptr ? question.completions->of(shape.stages - s, state) : Completion{};
  const bool delayed = schedule_of(schedule).splits_backward;
  const bool in_sum = shape.form != &pipeline_form(schedule, PipelineModel::paper);
  // The longest stage works for all micro-batches; what sticks out may hide behind others that are longer.
  const double work = static_cast<double>(shape.micro_batches) * rest.pass;
  if (in_sum && !delayed) {
    const double whole = shape.form->whole(shape, label.pipeline[0] + before.f.value, before.b.value,
                                           {rest.pass - rest.longest, rest.longest});
    if (whole > work) pipeline = std::max(pipeline, whole);
  }
  const double optimizer = std::max(end.optimizer, rest.optimizer);
  double total = std::max(pipeline, work) + optimizer;
  if (in_sum && delayed) {
    total += std::max(0.0, end.reduce);
  } else if (in_sum) {
    const double reduce = question.bound ? 0 : end.reduce - before.b.value;
    const double finish = question.bound ? 0 : end.finish - before.f.value;
    total = std::max(
        total, pipeline + std::max({0.0, reduce, rest.reduce}) + std::max({optimizer, finish, rest.finish}));
  }
  if (question.bound) {  // labels are those of bound_end()
    if (!delayed) total = std::max(total, end.reduce + before.f.value + optimizer);
    total = std::max(total, end.finish + (delayed ? 0 : before.b.value));
  }
  return Seconds{total + end.hidden + rest.hidden + std::max(end.slow_down, rest.slow_down) +
                 std::max(end.norm, rest.norm)};
}

void Filler::Label::melt(const Label& o) {
  for (std::size_t i = 0; i < pipeline.size(); ++i) pipeline[i] = std::min(pipeline[i], o.pipeline[i]);
  end.melt(o.end);
  bound = std::min(bound, o.bound);
}

// Where there are too many: a new label melts into the one with the nearest pipeline, or takes the place of
// the least promising.
void Filler::insert_limited(std::vector<Label>& labels, const Label& label, FillCounts& counts) {
  constexpr std::size_t kMost = 8;
  insert(labels, label, counts);
  if (labels.size() <= kMost) return;
  const Label last = labels.back();
  labels.pop_back();
  if (limit_ == LabelLimit::beam) {
    const auto worst = std::max_element(labels.begin(), labels.end(),
                                        [](const Label& a, const Label& b) { return a.bound < b.bound; });
    if (last.bound < worst->bound) *worst = last;
    return;
  }
  const auto distance = [&](const Label& l) {
    return std::abs(l.pipeline[0] - last.pipeline[0]) + std::abs(l.pipeline[1] - last.pipeline[1]) +
           std::abs(l.end.reduce - last.end.reduce) + std::abs(l.end.finish - last.end.finish);
  };
  const auto nearest = std::min_element(labels.begin(), labels.end(), [&](const Label& a, const Label& b) {
    return distance(a) < distance(b);
  });
  Label melted = *nearest;
  melted.melt(last);
  labels.erase(nearest);
  insert(labels, melted, counts);
}

void Filler::prepare(const StageOptions& options, std::size_t states, std::size_t stages) {
  if (cells_.size() < (stages + 1) * states) cells_.resize((stages + 1) * states);
  for (std::size_t i = 0; i < (stages + 1) * states; ++i) cells_[i].clear();
  states_ = states;
  floors_ = layer_floors(options);
}

void Filler::insert(std::vector<Label>& labels, const Label& label, FillCounts& counts) {
  if (prunings_.dominance) {
    counts.compared += static_cast<std::int64_t>(labels.size());
    for (std::size_t i = 0; i < labels.size(); ++i) {
      if (!labels[i].covers(label)) continue;
      // What covers one label often covers the next: look there sooner.
      std::swap(labels[i], labels[i / 2]);
      return;
    }
    std::size_t kept = 0;
    for (std::size_t i = 0; i < labels.size(); ++i) {
      if (label.covers(labels[i])) continue;
      if (kept != i) labels[kept] = labels[i];
      ++kept;
    }
    labels.resize(kept);
  }
  labels.push_back(label);
  ++counts.labels;
}

// From every label of a state with s - 1 stages.
void Filler::add_stage(const Filling& filling, std::int64_t s, std::int32_t state) {
  const auto& [options, question, threshold, counts, memory, counted] = filling;
  const std::vector<Label>& labels =
      cells_[static_cast<std::size_t>(s - 1) * states_ + static_cast<std::size_t>(state)];
  if (labels.empty()) return;
  const StageSetting& setting = options.setting();
  const LayerSets& sets = *setting.sets;
  const std::int64_t p = question.pipeline.stages;
  const auto m = static_cast<double>(question.pipeline.micro_batches);
  const auto stage = static_cast<std::size_t>(p - s);
  const std::int64_t in_flight_most = in_flight(setting.schedule, setting.shape, p - s);
  const bool delayed = schedule_of(setting.schedule).splits_backward;
  const bool in_sum = question.pipeline.form != &pipeline_form(setting.schedule, PipelineModel::paper);
  const auto moves = sets.moves(state);
  const auto all_layers = static_cast<std::int64_t>(sets.layers());
  for (std::size_t at = s == p ? moves.size() - 1 : 0; at < moves.size(); ++at) {
    const Move& move = moves[at];
    counts.look();
    if (all_layers - sets.placed(move.to) < p - s) {
      if (sets.chain()) break;
      continue;
    }
    if (s < p && move.to == sets.all()) break;
    const StageClass& own = sets.classes()[static_cast<std::size_t>(move.stage_class)];
    if (!ties_allow(question, stage, own.splits_tied)) continue;
    const Floor& before = floors_[static_cast<std::size_t>(move.to)];
    if (prunings_.stage_bound) {
      const Floor& with = floors_[static_cast<std::size_t>(state)];
      const Seconds u = with.f + with.b - before.f - before.b;
      if (m * u * kRounding > threshold) {
        if (sets.chain()) break;
        continue;
      }
    }
    if (question.completions != nullptr && !question.completions->of(p - s, move.to).possible()) continue;
    bool too_heavy = true;  // whatever the recomputation
    std::vector<Label>& out =
        cells_[static_cast<std::size_t>(s) * states_ + static_cast<std::size_t>(move.to)];
    const std::size_t had = out.size();
    const std::size_t kept = out.capacity();
    for (const std::size_t place : question.places[stage]) {
      std::vector<StageOption>& choices = options.first_of(place, move.stage_class);
      if (choices.empty()) too_heavy = false;
      // Backward work beyond which nothing is gained: an option with so much hides every reduction.
      Seconds enough = Seconds::most();
      std::size_t tried = 0;
      for (std::size_t o = 0;; ++o) {
        if (o > 0 && choices[o - 1].layers_b >= enough * kRounding) break;  // so are all after it
        if (o == choices.size()) {
          if (options.least_total(place, move.stage_class, in_flight_most) > question.capacity) break;
          if (!options.complete(place, move.stage_class)) break;
        }
        StageOption& choice = choices[o];
        if (choice.fixed <= question.capacity) too_heavy = false;
        if (choice.total(in_flight_most) > question.capacity) continue;
        if (choice.layers_b >= enough * kRounding) break;  // so are all after it
        if (limit_ == LabelLimit::beam && ++tried > kBeamOptions) break;
        if (!choice.priced) options.price(place, own, choice);
        if (choice.work_b >= enough * kRounding) continue;
        const StageEnd stage_end = end_of(choice, stage, p, delayed);
        const StagePass pass{choice.f.value, choice.b.value, choice.weight.value};
        const double passes = m * (choice.f + choice.b).value;
        BoundOf bound_of{passes, delayed, s == p, 0, in_sum};
        bool hidden_all = true;  // more backward work cannot hide more
        for (std::size_t l = 0; l < labels.size(); ++l) {
          ++counts.work;
          const Label& after = labels[l];
          Label next;
          next.pipeline = extended(question.pipeline, after.pipeline, pass, s);
          if (question.bound) {
            bound_of.pipeline = pipeline_total(question.pipeline, next.pipeline).value;
            if (in_sum && !delayed) bound_of.span = std::max(passes, bound_of.pipeline);
            next.end = bound_end(after.end, stage_end, bound_of);
          } else {
            next.end = after.end.with(stage_end);
          }
          const double reduce_floor = delayed ? 0 : before.b.value;
          hidden_all = hidden_all && (delayed || question.bound || next.end.reduce <= reduce_floor);
          if (prunings_.floors && !question.bound) {
            next.end.reduce = std::max(next.end.reduce, reduce_floor);
            next.end.finish = std::max(next.end.finish, next.end.optimizer + before.f.value);
          }
          next.bound = label_bound(question, setting.schedule, next, s, move.to);
          if (prunings_.label_bound && next.bound * kRounding > threshold) continue;
          next.state = state;
          next.label = static_cast<std::int32_t>(l);
          next.place = static_cast<std::int32_t>(place);
          next.option = static_cast<std::int32_t>(o);
          next.stage_class = move.stage_class;
          if (s == p) {  // of complete plans one is enough
            if (out.empty()) out.push_back(next);
            if (next.bound < out.front().bound) out.front() = next;
          } else if (limit_ == LabelLimit::none) {
            insert(out, next, counts);
          } else {
            insert_limited(out, next, counts);
          }
        }
        if (prunings_.option_order && options.ordered() && hidden_all)
          enough = std::min(enough, choice.work_b);
      }
    }
    kept_ += static_cast<std::int64_t>(out.capacity() - kept);
    const std::int64_t made = options.memory() - std::exchange(counted, options.memory());
    memory.change(made + (static_cast<std::int64_t>(out.size()) - static_cast<std::int64_t>(had)) *
                             static_cast<std::int64_t>(sizeof(Label)));
    // A copy of a weight may go where a longer stage has its owner too.
    if (prunings_.memory_order && too_heavy && sets.chain() && !own.splits_tied) break;
  }
}

Filled Filler::trace(StageOptions& options, const FillQuestion& question, const Label& last) const {
  Filled filled;
  filled.step = pipeline_total(question.pipeline, last.pipeline) + Seconds{last.end.total()};
  Label label = last;
  std::int32_t to = options.setting().sets->all();
  for (std::int64_t s = question.pipeline.stages; s >= 1; --s) {
    const auto place = static_cast<std::size_t>(label.place);
    // The option was made when its label was, so that no others have to be.
    const StageOption& option =
        options.first_of(place, label.stage_class)[static_cast<std::size_t>(label.option)];
    const LayerSets& sets = *options.setting().sets;
    filled.stages.push_back({label.state, to, place, option.recompute,
                             sets.classes()[static_cast<std::size_t>(label.stage_class)].splits_tied});
    to = label.state;
    if (s > 1) {
      label = cells_[static_cast<std::size_t>(s - 1) * states_ + static_cast<std::size_t>(to)]
                    [static_cast<std::size_t>(label.label)];
    }
  }
  return filled;
}

std::optional<Filled> Filler::fill(StageOptions& options, const FillQuestion& question, Seconds threshold,
                                   FillCounts& counts, LabelLimit limit) {
  limit_ = limit;
  const LayerSets& sets = *options.setting().sets;
  const std::int64_t p = question.pipeline.stages;
  if (p > static_cast<std::int64_t>(sets.layers())) return std::nullopt;
  if (counts.memory != nullptr && kept_ * static_cast<std::int64_t>(sizeof(Label)) > counts.memory->kept())
    forget();
  MemoryShare memory(counts.memory);
  try {
    memory.change(p * static_cast<std::int64_t>(sets.size() * sizeof(std::vector<Label>)));
    prepare(options, sets.size(), static_cast<std::size_t>(p));
    if (question.completions != nullptr && prunings_.label_bound &&
        label_bound(question, options.setting().schedule, {}, 0, 0) * kRounding > threshold)
      return std::nullopt;
    cells_[0].push_back({});
    std::int64_t counted = 0;
    const Filling filling{options, question, threshold, counts, memory, counted};
    for (std::int64_t s = 1; s <= p; ++s) {
      for (std::size_t state = 0; state < states_; ++state)
        add_stage(filling, s, static_cast<std::int32_t>(state));
    }
  } catch (const TableTooLarge&) {
    forget();
    counts.too_large = true;
    throw Stopped{};
  }
  const std::vector<Label>& last =
      cells_[static_cast<std::size_t>(p) * states_ + static_cast<std::size_t>(sets.all())];
  if (last.empty()) return std::nullopt;
  return trace(options, question, last.front());
}

}  // namespace nest::solve
