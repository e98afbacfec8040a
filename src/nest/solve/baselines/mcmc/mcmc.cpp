#include "nest/solve/baselines/mcmc/mcmc.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "nest/base/error.hpp"
#include "nest/base/stopwatch.hpp"
#include "nest/solve/baselines/common/judge.hpp"
#include "nest/solve/baselines/mcmc/mcmc_moves.hpp"
#include "nest/solve/baselines/mcmc/mcmc_space.hpp"

namespace nest::solve {
namespace {

// At beta 100, a plan that is a hundredth slower is accepted once in e times.
constexpr double kFirstBeta = 3;
constexpr double kLastBeta = 3'000;
constexpr double kPenalty = 10;           // in steps, for each time that a device's memory is needed besides
constexpr double kPatience = 0.04;        // of the budget, without a better plan, until it starts again
constexpr std::int64_t kIdle = 2'000;     // moves in a row that lead nowhere: there is no other plan
constexpr std::int64_t kClockEvery = 32;  // evaluations
constexpr std::int64_t kTellEvery = 2'048;

// What the walk knows of one plan.
struct Visited {
  McmcState state;
  Seconds energy = Seconds::most();  // the step, with a penalty where it does not fit
  std::int64_t slowest = 0;          // stage
};

class Walk {
 public:
  Walk(const PlanQuestion& question, const BaselineOptions& options)
      : question_(question),
        options_(options),
        space_(question),
        moves_(space_),
        random_(options.seed),
        pricer_(pricer_of(question)) {
    time_limit_ = options.time_limit;
    const auto limit = question.options.deadline.left();
    if (limit && (!time_limit_ || *limit < *time_limit_)) time_limit_ = limit;
  }

  [[nodiscard]] BaselineResult result() {
    if (!space_.schedule()) {
      result_.reason = "it has no interleaved schedules, and the question leaves no other";
      return finished();
    }
    if (start()) anneal();
    if (best_) {
      space_.write(best_->state, plan_);
      judge(plan_, pricer_, result_);
    } else if (closest_) {
      space_.write(*closest_, plan_);
      judge(plan_, pricer_, result_);
      result_.reason = fmt::format("none of {} plans fits; the closest is {} over",
                                   format_digits(evaluations_), format_memory(least_over_));
    } else if (result_.reason.empty()) {
      result_.reason = "there is no plan that the question allows";
    }
    if (!best_ && question_.options.deadline.over()) result_.status = PlanStatus::limit;
    return finished();
  }

 private:
  [[nodiscard]] bool spent() {
    if (evaluations_ >= options_.evaluations) return true;
    if (time_limit_ && evaluations_ % kClockEvery == 0) time_share_ = watch_.elapsed() / *time_limit_;
    if (question_.options.progress && evaluations_ % kTellEvery == 0) tell();
    out_of_time_ = time_share_ >= 1 || question_.options.deadline.over();
    return out_of_time_;
  }

  void tell() const {
    SearchProgress told;
    told.elapsed = watch_.elapsed();
    told.plans = evaluations_;
    if (best_) told.best = best_->energy;  // no penalty: it fits
    question_.options.progress(told);
  }

  // How much of the budget is gone.
  [[nodiscard]] double progress() const {
    return std::max(time_share_,
                    static_cast<double>(evaluations_) / static_cast<double>(options_.evaluations));
  }

  // False where the plan is invalid.
  [[nodiscard]] bool evaluate(Visited& visited) {
    space_.write(visited.state, plan_);
    pricer_.price(plan_, priced_);
    ++evaluations_;
    if (priced_.status == PriceStatus::invalid) return false;
    double most_over = 0;
    double sum_over = 0;
    Bytes over;
    Seconds longest{-1};
    for (std::size_t i = 0; i < priced_.stages.size(); ++i) {
      const StageMemory& memory = priced_.stages[i].memory;
      if (!memory.fits()) {
        const Bytes more = memory.over();
        const double share = static_cast<double>(more.value) / static_cast<double>(memory.capacity.value);
        over = std::max(over, more);
        most_over = std::max(most_over, share);
        sum_over += share;
      }
      const Seconds time = priced_.stages[i].time().total();
      if (time > longest) {
        longest = time;
        visited.slowest = static_cast<std::int64_t>(i);
      }
    }
    const double far = most_over + sum_over / static_cast<double>(priced_.stages.size());
    visited.energy = priced_.predicted.step * (1 + kPenalty * far);
    if (priced_.status == PriceStatus::infeasible && !best_ && (!closest_ || over < least_over_)) {
      closest_ = visited.state;
      least_over_ = over;
    }
    if (priced_.status == PriceStatus::feasible && (!best_ || visited.energy < best_->energy)) {
      best_ = visited;
      last_gain_ = evaluations_;
      result_.curve.push_back({evaluations_, watch_.elapsed(), priced_.predicted.step});
    }
    return true;
  }

  bool start() {
    const bool started = space_.starts([&](const McmcState& state) {
      if (spent()) return true;
      now_.state = state;
      return evaluate(now_);
    });
    if (now_.energy == Seconds::most()) {
      if (evaluations_ > 0) {
        result_.reason =
            fmt::format("none of {} plans is valid: {}", format_digits(evaluations_), priced_.reason);
      } else if (started) {
        result_.reason = "its budget leaves no time for a single plan";
      }
      return false;
    }
    const McmcState& s = now_.state;
    result_.notes.push_back(
        fmt::format("it starts from {} cop{} of {} stage{}, {} device{} a cell{}", s.copies,
                    s.copies == 1 ? "y" : "ies", s.pipeline, s.pipeline == 1 ? "" : "s", s.strategy.cell(),
                    s.strategy.cell() == 1 ? "" : "s", best_ ? "" : ", which does not fit"));
    lowest_ = now_;
    return true;
  }

  void anneal() {
    const auto patience = std::max<std::int64_t>(
        100, static_cast<std::int64_t>(kPatience * static_cast<double>(options_.evaluations)));
    Visited next;
    for (std::int64_t idle = 0; !spent() && idle < kIdle;) {
      if (evaluations_ - std::max(last_gain_, last_restart_) > patience) restart();
      ++idle;
      if (!moves_.propose(now_.state, now_.slowest, random_, next.state)) continue;
      idle = 0;
      ++tries_;
      if (!evaluate(next) || !accept(next.energy)) continue;
      ++accepted_;
      std::swap(now_, next);
      if (now_.energy < lowest_.energy) {
        lowest_ = now_;
        if (!best_) last_gain_ = evaluations_;
      }
    }
  }

  [[nodiscard]] bool accept(Seconds energy) {
    if (energy <= now_.energy) return true;
    const double beta = kFirstBeta * std::pow(kLastBeta / kFirstBeta, progress());
    return random_.unit() < std::exp(-beta * (energy / now_.energy - 1));
  }

  void restart() {
    now_ = best_ ? *best_ : lowest_;
    last_restart_ = evaluations_;
    ++restarts_;
  }

  [[nodiscard]] BaselineResult finished() {
    if (tries_ > 0)
      result_.notes.push_back(
          fmt::format("{:.0f} % of {} moves were accepted, with {} restart{} from the best plan",
                      100.0 * static_cast<double>(accepted_) / static_cast<double>(tries_),
                      format_digits(tries_), restarts_, restarts_ == 1 ? "" : "s"));
    if (question_.options.objective != Objective::step_time)
      result_.notes.emplace_back("it looks for the fastest plan, whatever the objective");
    if (out_of_time_)
      result_.notes.emplace_back("a time limit ended it, so that the result depends on the machine");
    result_.evaluations = evaluations_;
    result_.search_time = watch_.elapsed();
    if (best_) result_.believed = result_.plan ? std::optional(result_.plan->predicted->step) : std::nullopt;
    return std::move(result_);
  }

  const PlanQuestion& question_;
  const BaselineOptions& options_;
  Stopwatch watch_;
  McmcSpace space_;
  McmcMoves moves_;
  SeededRandom random_;
  Pricer pricer_;
  std::optional<Seconds> time_limit_;
  bool out_of_time_ = false;
  double time_share_ = 0;
  BaselineResult result_;
  Plan plan_;
  PricedPlan priced_;
  Visited now_;
  Visited lowest_;               // of energy
  std::optional<Visited> best_;  // that fits
  std::optional<McmcState> closest_;
  Bytes least_over_;
  std::int64_t evaluations_ = 0;
  std::int64_t tries_ = 0;
  std::int64_t accepted_ = 0;
  std::int64_t restarts_ = 0;
  std::int64_t last_gain_ = 0;
  std::int64_t last_restart_ = 0;
};

}  // namespace

BaselineResult find_mcmc(const PlanQuestion& question, const BaselineOptions& options) {
  try {
    return Walk(question, options).result();
  } catch (const InputError& error) {  // the model cannot be built so
    BaselineResult result;
    result.reason = error.what();
    return result;
  }
}

}  // namespace nest::solve
