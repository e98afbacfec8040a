#include "nest/report/answer/explain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "nest/base/error.hpp"
#include "nest/base/numbers.hpp"
#include "nest/plan/changed_inputs.hpp"
#include "nest/report/answer/answer_value.hpp"

namespace nest::report {
namespace {

constexpr double kMore = 1.1;
constexpr double kHalf = 0.5;
constexpr double kTight = 0.9;    // of memory: above it, memory counts as binding
constexpr double kWorthIt = 0.1;  // of the effect of as much compute: below it a level does not bind

Effect priced_effect(std::string change, const Plan& plan, PlanInputs inputs, const PriceOptions& options) {
  Pricer pricer(std::move(inputs), options);
  const PricedPlan priced = pricer.price(plan);
  return {std::move(change), priced.status, priced.reason, priced.predicted.step};
}

// The same global batch in twice or half as many micro-batches.
std::optional<Plan> with_micro_batch(const Plan& plan, bool more) {
  Plan changed = plan;
  Training& t = changed.training;
  if (more && t.micro_batch % 2 != 0) return std::nullopt;
  if (!more && t.micro_batches % 2 != 0) return std::nullopt;
  t.micro_batch = more ? t.micro_batch / 2 : t.micro_batch * 2;
  t.micro_batches = more ? t.micro_batches * 2 : t.micro_batches / 2;
  return changed;
}

std::vector<std::string> what_binds(const Explanation& e, const Cluster& cluster) {
  struct Force {
    double gain;
    std::string sentence;
  };
  std::vector<Force> forces;
  const double step = e.priced.predicted.step.value;
  const double by_compute = 1 - e.effects.front().step.value / step;
  forces.push_back(
      {by_compute, "compute: 10 % more of it makes the step " + format_percent(by_compute) + " shorter"});
  for (std::size_t l = 0; l < cluster.levels().size(); ++l) {
    const double gain = 1 - e.effects[l + 1].step.value / step;
    if (gain < kWorthIt * by_compute || gain <= 0) continue;
    forces.push_back({gain, "the network's level '" + cluster.levels()[l].name +
                                "': 10 % more bandwidth makes the step " + format_percent(gain) +
                                " shorter"});
  }
  if (e.host) {
    const double gain = 1 - e.effects[*e.host].step.value / step;
    forces.push_back({gain, "the host: 10 % more of its link and its processors makes the step " +
                                format_percent(gain) + " shorter"});
  }
  const double bubble = e.priced.predicted.bubble_fraction;
  if (bubble > 0) {
    // A tenth less bubble, to stand beside a tenth more of the others.
    forces.push_back({bubble / 10, "the pipeline's bubble: " + format_percent(bubble) + " of the step"});
  }
  std::sort(forces.begin(), forces.end(), [](const Force& a, const Force& b) {
    return a.gain != b.gain ? a.gain > b.gain : a.sentence < b.sentence;
  });
  std::vector<std::string> sentences;
  sentences.reserve(forces.size() + 1);
  for (Force& f : forces) sentences.push_back(std::move(f.sentence));
  std::size_t fullest = 0;
  double share = 0;
  for (std::size_t i = 0; i < e.priced.stages.size(); ++i) {
    const StageMemory& m = e.priced.stages[i].memory;
    const double own = m.share();
    if (own > share) {
      share = own;
      fullest = i;
    }
  }
  if (share > kTight) {
    sentences.insert(sentences.begin(),
                     fmt::format("memory: stage {} takes {} of a device", fullest, format_percent(share)));
  } else {
    sentences.push_back(fmt::format("not memory: the fullest stage ({}) takes {} of a device", fullest,
                                    format_percent(share)));
  }
  return sentences;
}

}  // namespace

Explanation explain(const Plan& plan, const PlanInputs& inputs, const PriceOptions& options) {
  Pricer pricer(inputs, options);
  Explanation e;
  e.priced = pricer.price(plan);
  if (e.priced.status == PriceStatus::invalid) throw InputError("", "plan", e.priced.reason);
  e.plan = with_results(plan, e.priced);
  PriceOptions faster = options;
  faster.compute_time = options.compute_time / kMore;
  e.effects.push_back(priced_effect("10 % more compute", plan, inputs, faster));
  const std::vector<Level>& levels = inputs.cluster.levels();
  for (std::size_t l = 0; l < levels.size(); ++l) {
    e.effects.push_back(priced_effect("10 % more bandwidth at level '" + levels[l].name + "'", plan,
                                      with_bandwidth(inputs, LevelId{static_cast<std::int32_t>(l)}, kMore),
                                      options));
  }
  if (inputs.profile() == nullptr) {
    for (const bool more : {true, false}) {
      if (const auto changed = with_micro_batch(plan, more)) {
        e.effects.push_back(
            priced_effect(fmt::format("{} micro-batches of {}", changed->training.micro_batches,
                                      changed->training.micro_batch),
                          *changed, inputs, options));
      }
    }
  }
  // How far the answer is from an edge: what communication would cost if it were slower, or if nothing hid it.
  for (std::size_t l = 0; l < levels.size(); ++l) {
    e.effects.push_back(priced_effect("half the bandwidth at level '" + levels[l].name + "'", plan,
                                      with_bandwidth(inputs, LevelId{static_cast<std::int32_t>(l)}, kHalf),
                                      options));
  }
  if (inputs.recipe.overlap.hides_anything() || plan.parallelism.strategy.overlaps_experts()) {
    PlanInputs bare = inputs;
    bare.recipe.overlap = {};
    bare.recipe.shared_overlap = false;
    Plan alone = plan;
    alone.parallelism.strategy.expert_overlap = false;
    for (Stage& stage : alone.stages) stage.strategy.expert_overlap = false;
    e.effects.push_back(priced_effect("no communication hidden behind compute", alone, bare, options));
  }
  if (plan.training.states.offload.any()) {
    e.host = e.effects.size();
    e.effects.push_back(priced_effect("10 % more of the host's link and processors", plan,
                                      with_host(inputs, kMore), options));
  }
  e.binds = what_binds(e, inputs.cluster);
  return e;
}

Value to_value(const Explanation& e) {
  Value v = priced_value(e.priced);
  Value binds = Value::array();
  for (const std::string& sentence : e.binds) binds.push(sentence);
  v.set("binds", std::move(binds));
  Value effects = Value::array();
  for (const Effect& effect : e.effects) {
    Value one = Value::object();
    one.set("change", effect.change).set("status", name_of(effect.status)).set("step_s", effect.step.value);
    effects.push(std::move(one));
  }
  v.set("effects", std::move(effects));
  return v;
}

}  // namespace nest::report
