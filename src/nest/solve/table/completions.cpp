#include "nest/solve/table/completions.hpp"

#include <algorithm>

namespace nest::solve {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr Completion kImpossible{kInfinite, kInfinite, kInfinite, kInfinite,
                                 kInfinite, kInfinite, kInfinite, kInfinite};

void melt(Completion& into, const Completion& other) {
  for (double Completion::* part :
       {&Completion::pass, &Completion::longest, &Completion::reduce, &Completion::finish,
        &Completion::hidden, &Completion::optimizer, &Completion::slow_down, &Completion::norm})
    into.*part = std::min(into.*part, other.*part);
}

// A stage with these in front of it.
Completion before(const StageEnd& end, const StageOption& option, const Floor& own, const Floor& others,
                  const Completion& rest) {
  const double f = option.f.value;
  const double b = option.b.value;
  return {std::max(rest.pass, f + b),
          std::max({rest.longest, f, b}),
          std::max(rest.reduce, end.reduce + (b - own.b.value) - others.b.value),
          std::max(rest.finish, end.optimizer + end.gather + (f - own.f.value) - others.f.value),
          rest.hidden + end.hidden,
          std::max(rest.optimizer, end.optimizer),
          std::max(rest.slow_down, end.slow_down),
          std::max(rest.norm, end.norm)};
}

}  // namespace

Completions::Completions(StageOptions& options, const FillQuestion& question, const Prunings& prunings,
                         Seconds threshold, FillCounts& counts)
    : states_(options.setting().sets->size()) {
  const StageSetting& setting = options.setting();
  const LayerSets& sets = *setting.sets;
  const std::int64_t p = question.pipeline.stages;
  const auto m = static_cast<double>(question.pipeline.micro_batches);
  const auto layers = static_cast<std::int64_t>(sets.layers());
  const bool delayed = schedule_of(setting.schedule).splits_backward;
  const std::vector<Floor> floors = layer_floors(options);
  known_.assign(static_cast<std::size_t>(p + 1) * states_, kImpossible);
  known_[static_cast<std::size_t>(sets.all())] = {};
  for (std::int64_t k = 1; k <= p; ++k) {
    const auto stage = static_cast<std::size_t>(k - 1);
    for (std::int32_t state = 0; state < sets.all(); ++state) {
      if (sets.placed(state) < p - k || (state == 0) != (k == p)) continue;
      Completion& out = known_[static_cast<std::size_t>(k) * states_ + static_cast<std::size_t>(state)];
      const Floor& with = floors[static_cast<std::size_t>(state)];
      const auto moves = sets.moves(state);
      counts.look();
      for (std::size_t at = k == 1 ? moves.size() - 1 : 0; at < moves.size(); ++at) {
        const Move& move = moves[at];
        if (layers - sets.placed(move.to) < k - 1 || (k > 1 && move.to == sets.all())) {
          if (sets.chain()) break;
          continue;
        }
        const Floor& others = floors[static_cast<std::size_t>(move.to)];
        const Floor own{with.f - others.f, with.b - others.b};
        if (prunings.stage_bound && m * (own.f + own.b) * kRounding > threshold) {
          if (sets.chain()) break;
          continue;
        }
        const Completion& rest = of(k - 1, move.to);
        if (!rest.possible()) continue;
        const StageClass& stage_class = sets.classes()[static_cast<std::size_t>(move.stage_class)];
        if (!ties_allow(question, stage, stage_class.splits_tied)) continue;
        for (const std::size_t place : question.places[stage]) {
          // More recomputation makes passes longer by no less than it hides of anything: the first is enough.
          std::vector<StageOption>* choices = &options.first_of(place, move.stage_class);
          const bool first =
              options.ordered() && !choices->empty() && choices->front().fixed <= question.capacity;
          if (!first) choices = &options.of(place, move.stage_class);
          for (StageOption& choice : *choices) {
            ++counts.work;
            if (choice.fixed > question.capacity) continue;
            if (!choice.priced) options.price(place, stage_class, choice);
            melt(out, before(end_of(choice, stage, p, delayed), choice, own, others, rest));
            if (first) break;
          }
        }
      }
    }
  }
}

}  // namespace nest::solve
