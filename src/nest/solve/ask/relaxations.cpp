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
#include "nest/plan/changed_inputs.hpp"
#include "nest/price/price.hpp"

namespace nest::solve {
namespace {

constexpr double kSame = 1e-6;       // relative: steps that differ by less are equal
constexpr double kPrecision = 1.02;  // of the factor that bisection finds
constexpr int kMostRivals = 4;       // plans that were found to be faster, one after the other
constexpr std::array<std::string_view, 2> kKinds{"bandwidth", "memory"};

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
    if (answer_.found.status == PlanStatus::limit || (answer_.cost && fits && answer_.cost->value <= 0))
      return out_;
    if (fits) {
      for (std::size_t l = 0; l < question_.inputs.cluster.levels().size(); ++l)
        bandwidth(LevelId{static_cast<std::int32_t>(l)});
    }
    // More memory does nothing for a plan that fits as it is.
    if (!(fits && answer_.given)) memory(fits);
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
    std::optional<Seconds> own;
    SearchResult free;

    [[nodiscard]] bool won() const {
      return own &&
             (free.plans.empty() || own->value <= free.plans.front().predicted->step.value * (1 + kSame));
    }
  };

  [[nodiscard]] bool over() const { return question_.options.deadline.over(); }

  [[nodiscard]] std::optional<Seconds> priced(const Plan& plan, const PlanInputs& inputs) const {
    try {
      const PricedPlan price = Pricer(inputs, question_.options.price_options()).price(plan);
      if (price.status != PriceStatus::feasible) return std::nullopt;
      return price.predicted.step;
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

  Race race(const PlanInputs& inputs) {
    PlanQuestion changed = question_;
    changed.inputs = inputs;
    Race out;
    if (answer_.given) {
      out.own = priced(answer_.found.plans.front(), inputs);
    } else {
      const SearchResult own = look(with_choice(changed, answer_.choice));
      if (!own.plans.empty()) out.own = own.plans.front().predicted->step;
    }
    if (out.own) out.free = look(changed);
    // A search that found nothing in time says nothing.
    if (out.free.plans.empty()) out.own.reset();
    return out;
  }

  // How much faster the plan is than each of its rivals, at least; none where it cannot run.
  [[nodiscard]] std::optional<double> lead(const std::vector<Plan>& rivals, const PlanInputs& inputs) const {
    const auto own = priced(answer_.found.plans.front(), inputs);
    if (!own) return std::nullopt;
    double least = std::numeric_limits<double>::infinity();
    for (const Plan& rival : rivals) {
      if (const auto step = priced(rival, inputs)) least = std::min(least, step->value / own->value - 1);
    }
    return least;
  }

  // The factor nearest to 1 between 1 and `most` with which the plan is no slower than its rivals.
  [[nodiscard]] std::optional<double> crossing(LevelId level, double most,
                                               const std::vector<Plan>& rivals) const {
    const auto leads = [&](double factor) {
      const auto by = lead(rivals, with_bandwidth(question_.inputs, level, factor));
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
        Race found = race(with_bandwidth(question_.inputs, level, *factor));
        if (found.won()) {
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

  // The least memory with which it fits first; where something else is then faster, more.
  void memory(bool fits) {
    const Bytes has = question_.inputs.cluster.device_memory();
    Bytes from = has;
    if (!fits && answer_.given && !answer_.found.plans.empty()) {
      // A device of that size keeps its share of it free.
      for (const Stage& stage : answer_.found.plans.front().stages) {
        const auto total = static_cast<double>(stage.memory.value().total().value);
        from = std::max(from, round_up_bytes(total / (1 - question_.options.memory_margin)));
      }
    } else if (!fits) {
      from = answer_.found.least_memory;
    }
    if (from.value == 0) return;  // it is forbidden, whatever the memory
    out_.memory = true;
    for (const double times : {fits ? 1.125 : 1.0, 1.25, 1.5, kMostMemory}) {
      const Bytes enough = round_up(static_cast<double>(from.value) * times);
      const double factor = static_cast<double>(enough.value) / static_cast<double>(has.value);
      if (over()) return;
      if (options_.asking) options_.asking(format_memory(enough) + " of memory");
      const Race found = race(with_memory(question_.inputs, enough));
      if (found.won()) {
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
    relaxation.step = *found.own;
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
  return Relaxer(question, answer, best, options, searching).relax();
}

}  // namespace nest::solve
