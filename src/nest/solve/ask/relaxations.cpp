#include "nest/solve/ask/relaxations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include "nest/base/error.hpp"
#include "nest/base/numbers.hpp"
#include "nest/plan/changed_inputs.hpp"
#include "nest/plan/text/spell_plan.hpp"
#include "nest/price/price.hpp"
#include "nest/solve/ask/counted.hpp"

namespace nest::solve {
namespace {

constexpr double kSame = 1e-6;       // relative: steps that differ by less are equal
constexpr double kPrecision = 1.02;  // of the factor that bisection finds
constexpr int kMostRivals = 4;       // plans that were found to be faster, one after the other
constexpr std::array<std::string_view, 3> kKinds{"bandwidth", "memory", "margin"};

// Two digits, away from 1: what is written must be enough.
double readable(double factor) {
  const bool more = factor > 1;
  const double unit = std::pow(10.0, std::floor(std::log10(factor)) - 1);
  return (more ? std::ceil(factor / unit - 1e-9) : std::floor(factor / unit + 1e-9)) * unit;
}

class Relaxer {
 public:
  Relaxer(const PlanQuestion& question, const WhyNot& answer, const Plan& best, const RelaxOptions& options,
          const SearchFunction& searching)
      : question_(question), answer_(answer), best_(best), options_(options), searching_(searching) {
    question_.options.top = 1;
    question_.options.runners_up = 0;
    question_.options.gap = 0;
    question_.options.deadline = question.options.deadline.within(options.limit);
  }

  [[nodiscard]] Relaxations relax() {
    const bool fits = !answer_.found.plans.empty() && answer_.found.status != PlanStatus::infeasible;
    const bool as_good = fits && no_worse(value(answer_.found.plans.front()), value(best_));
    if (answer_.found.status == PlanStatus::limit || as_good ||
        question_.options.objective == Objective::devices)
      return out_;
    // More memory does nothing for a plan that fits as it is.
    if (!(fits && answer_.given)) {
      margin(fits);
      memory(fits);
    }
    if (fits) {
      for (std::size_t l = 0; l < question_.inputs.cluster.levels().size(); ++l)
        bandwidth(LevelId{static_cast<std::int32_t>(l)});
    }
    const auto far = [](const Relaxation& r) {
      return std::tuple(std::abs(std::log(r.factor)), r.kind, std::string_view(r.level));
    };
    std::sort(out_.all.begin(), out_.all.end(),
              [&](const Relaxation& a, const Relaxation& b) { return far(a) < far(b); });
    out_.stopped = out_.stopped || over();
    return std::move(out_);
  }

 private:
  // What the choice or the plan takes with other inputs, and the best plan there is then.
  struct Race {
    std::optional<Plan> own;
    SearchResult free;
  };

  // What the objective counts.
  [[nodiscard]] double value(const Plan& plan) const {
    return counted(question_.options.objective, plan, question_.inputs.cluster);
  }
  [[nodiscard]] static bool no_worse(double own, double other) { return own <= other * (1 + kSame); }
  [[nodiscard]] bool won(const Race& race) const {
    return race.own &&
           (race.free.plans.empty() || no_worse(value(*race.own), value(race.free.plans.front())));
  }

  [[nodiscard]] bool over() const { return question_.options.deadline.over(); }

  [[nodiscard]] static std::optional<Plan> priced(const Plan& plan, const PlanQuestion& question) {
    try {
      const PricedPlan price = Pricer(question.inputs, question.options.price_options()).price(plan);
      if (price.status != PriceStatus::feasible) return std::nullopt;
      return with_results(plan, price);
    } catch (const InputError&) {
      return std::nullopt;
    }
  }

  SearchResult look(const PlanQuestion& question) {
    if (over()) return {.status = PlanStatus::limit};
    SearchResult found = searching_(question);
    out_.stopped = out_.stopped || found.status == PlanStatus::limit;
    return found;
  }

  [[nodiscard]] PlanQuestion with_inputs(PlanInputs inputs) const {
    PlanQuestion changed = question_;
    changed.inputs = std::move(inputs);
    return changed;
  }

  Race race(const PlanQuestion& changed) {
    Race out;
    if (answer_.given) {
      out.own = priced(answer_.found.plans.front(), changed);
    } else {
      SearchResult own = look(with_choice(changed, answer_.choice));
      if (!own.plans.empty()) out.own = std::move(own.plans.front());
    }
    if (out.own) out.free = look(changed);
    // A search that found nothing in time says nothing.
    if (out.free.plans.empty()) out.own.reset();
    return out;
  }

  // How much better the plan is than each of its rivals, at least; none where it cannot run.
  [[nodiscard]] std::optional<double> lead(const std::vector<Plan>& rivals,
                                           const PlanQuestion& changed) const {
    const auto own = priced(answer_.found.plans.front(), changed);
    if (!own) return std::nullopt;
    double least = std::numeric_limits<double>::infinity();
    for (const Plan& rival : rivals) {
      if (const auto theirs = priced(rival, changed))
        least = std::min(least, value(*theirs) / value(*own) - 1);
    }
    return least;
  }

  // The factor nearest to 1 between 1 and `most` with which the plan is no slower than its rivals.
  [[nodiscard]] std::optional<double> crossing(LevelId level, double most,
                                               const std::vector<Plan>& rivals) const {
    const auto leads = [&](double factor) {
      const auto by = lead(rivals, with_inputs(with_bandwidth(question_.inputs, level, factor)));
      return by && *by >= 0;
    };
    if (!leads(most)) return std::nullopt;
    double near = 1;
    double far = most;
    while (std::max(far / near, near / far) > kPrecision && !over()) {
      const double middle = std::sqrt(near * far);
      (leads(middle) ? far : near) = middle;
    }
    return readable(far);
  }

  void bandwidth(LevelId level) {
    const Level& own = question_.inputs.cluster.level(level);
    out_.bandwidth = true;
    for (const double most : {kMostBandwidth, 1 / kMostBandwidth}) {
      if (over()) return;
      if (options_.asking)
        options_.asking(fmt::format("{} bandwidth at level '{}'", most > 1 ? "more" : "less", own.name));
      std::vector<Plan> rivals{best_};
      for (int i = 0; i < kMostRivals; ++i) {
        const auto factor = crossing(level, most, rivals);
        if (!factor) break;
        Race found = race(with_inputs(with_bandwidth(question_.inputs, level, *factor)));
        if (won(found)) {
          const auto rate = format(own.bandwidth * *factor);
          keep({.kind = RelaxationKind::bandwidth,
                .change = fmt::format("{:.2g} times the bandwidth at level '{}' ({} in place of {})", *factor,
                                      own.name, rate, format(own.bandwidth)),
                .level = own.name,
                .factor = *factor},
               found);
          return;
        }
        if (!found.own || found.free.plans.empty()) break;
        rivals.push_back(std::move(found.free.plans.front()));
      }
    }
  }

  // Bytes that the fullest device needs of what does not fit; 0 where it is forbidden, whatever the memory.
  [[nodiscard]] double needs() const {
    const SearchResult& found = answer_.found;
    if (!answer_.given)
      return static_cast<double>(found.least_memory.value) * (1 - question_.options.memory_margin);
    double most = 0;
    if (found.plans.empty()) return most;
    for (const Stage& stage : found.plans.front().stages)
      most = std::max(most, static_cast<double>(stage.memory.value().total().value));
    return most;
  }

  // The largest margin with which it fits first; where something else is then faster, less of it down to none.
  void margin(bool fits) {
    constexpr double kGrain = 1000;  // a tenth of a percent, rounded down: what is written must be enough
    const double has = question_.options.memory_margin;
    const auto capacity = static_cast<double>(question_.inputs.cluster.device_memory().value);
    const double from = fits ? has : 1 - needs() / capacity;
    if (has <= 0 || from < 0 || (!fits && needs() == 0)) return;
    out_.margin = true;
    double before = has;
    for (const double part : {fits ? 0.75 : 1.0, 0.5, 0.25, 0.0}) {
      const double less = std::floor(from * part * kGrain) / kGrain;
      if (less >= before) continue;
      before = less;
      if (over()) return;
      if (options_.asking) options_.asking(fmt::format("a margin of {} of the memory", format_percent(less)));
      PlanQuestion changed = question_;
      changed.options.memory_margin = less;
      changed.asked.memory_margin = less;  // what with_choice makes the question of
      const Race found = race(changed);
      if (!won(found)) continue;
      const std::string fitting = spell_fitting(*found.own->predicted);
      keep({.kind = RelaxationKind::margin,
            .change = fmt::format("{} in place of {} ({}{})",
                                  less > 0 ? fmt::format("a margin of {} of the memory", format_percent(less))
                                           : "no margin of memory",
                                  format_percent(has),
                                  less > 0 ? fmt::format("--memory-margin {:.1f}%", 100 * less) : "--risky",
                                  fitting.empty() ? "" : "; it fits with " + fitting),
            .factor = (1 - less) / (1 - has),
            .margin = less},
           found);
      return;
    }
  }

  // The least memory with which it fits first; where something else is then faster, more.
  void memory(bool fits) {
    const Bytes has = question_.inputs.cluster.device_memory();
    Bytes from = has;
    // A device of that size keeps its share of it free.
    if (!fits) from = round_up_bytes(needs() / (1 - question_.options.memory_margin));
    if (from.value == 0) return;  // it is forbidden, whatever the memory
    out_.memory = true;
    for (const double times : {fits ? 1.125 : 1.0, 1.25, 1.5, kMostMemory}) {
      const Bytes enough = round_up(static_cast<double>(from.value) * times);
      const double factor = static_cast<double>(enough.value) / static_cast<double>(has.value);
      if (over()) return;
      if (options_.asking) options_.asking(format_memory(enough) + " of memory");
      const Race found = race(with_inputs(with_memory(question_.inputs, enough)));
      if (won(found)) {
        keep({.kind = RelaxationKind::memory,
              .change = fmt::format("{} of memory in place of {}", format_memory(enough), format_memory(has)),
              .factor = factor},
             found);
        return;
      }
      if (answer_.given && found.own) return;  // it fits, and more does nothing for it
    }
  }

  // Whole GiB: "92 GiB" must be enough where it is written.
  static Bytes round_up(double bytes) {
    constexpr std::int64_t kGib = std::int64_t{1} << 30;
    return Bytes{static_cast<std::int64_t>(std::ceil(bytes / kGib)) * kGib};
  }

  void keep(Relaxation relaxation, const Race& found) {
    relaxation.step = found.own->predicted->step;
    relaxation.proved = found.free.status == PlanStatus::optimal;
    out_.all.push_back(std::move(relaxation));
  }

  PlanQuestion question_;
  const WhyNot& answer_;
  const Plan& best_;
  const RelaxOptions& options_;
  const SearchFunction& searching_;
  Relaxations out_;
};

}  // namespace

std::string_view name_of(RelaxationKind kind) {
  return kKinds[static_cast<std::size_t>(kind)];
}

Relaxations relaxations(const PlanQuestion& question, const WhyNot& answer, const Plan& best,
                        const RelaxOptions& options, const SearchFunction& searching) {
  Relaxations found = Relaxer(question, answer, best, options, searching).relax();
  found.objective = question.options.objective;
  return found;
}

}  // namespace nest::solve
