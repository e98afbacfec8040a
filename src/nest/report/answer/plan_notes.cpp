#include "nest/report/answer/plan_notes.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "nest/base/numbers.hpp"
#include "nest/base/plain_text.hpp"
#include "nest/plan/text/plan_keys.hpp"
#include "nest/plan/text/spell_plan.hpp"
#include "nest/report/answer/plans_beside.hpp"

namespace nest::report {
namespace {

constexpr double kNearlyFull = 0.98;  // of memory
constexpr double kMuchNetwork = 0.3;  // of the step, not hidden
constexpr double kMuchBubble = 0.2;

// The most devices that cells of the plan's width can use: copies must divide the batch, stages have a layer
// each.
std::int64_t most_usable(const Plan& plan, std::int64_t devices) {
  const Parallelism& p = plan.parallelism;
  const std::int64_t cell = p.strategy.cell();
  std::int64_t layers = 0;
  for (const Stage& stage : plan.stages) layers += static_cast<std::int64_t>(stage.layers.size());
  std::int64_t most = 0;
  for (std::int64_t stages = 1; stages <= std::min(layers, devices / cell); ++stages) {
    for (std::int64_t copies = devices / (cell * stages); cell * stages * copies > most; --copies) {
      if (plan.training.global_batch % (p.strategy.side() * copies) == 0) most = cell * stages * copies;
    }
  }
  return most;
}

std::string idle_cause(const SearchResult& found, std::int64_t devices, const SearchOptions& asked) {
  const Plan& plan = found.plan();
  if (asked.objective == Objective::devices) return "fewer reach the tokens per second that are asked for";
  if (asked.objective == Objective::cost)
    return found.status == PlanStatus::optimal ? "more of them would cost more than they save"
                                               : "the search has found no cheaper plan that uses more";
  const std::int64_t most = most_usable(plan, devices);
  if (most <= plan.parallelism.devices()) {
    return fmt::format(
        "copies must divide the batch of {} and every stage needs a layer, so that cells of {} cannot use "
        "more",
        format_digits(plan.training.global_batch), plan.parallelism.strategy.cell());
  }
  if (found.simpler && plan.parallelism.devices() < found.plans.front().parallelism.devices())
    return fmt::format("plans that use more are faster by {} at most",
                       format_percent(plan.predicted->step / found.plans.front().predicted->step - 1));
  return found.status == PlanStatus::optimal ? "no plan that uses more is faster"
                                             : "the search has found no faster plan that uses more";
}

// Several batches have steps of several lengths, which cannot be compared.
std::string batches_proof(const SearchResult& found) {
  const BatchesProof& proof = *found.batches;
  const Plan& best = found.plans.front();
  const double tokens = proof.most_per_s * static_cast<double>(best.training.sequence);
  const double gap = std::max(0.0, tokens / best.predicted->tokens_per_s - 1);
  const std::string all = format_digits(static_cast<std::int64_t>(proof.asked));
  if (found.status == PlanStatus::optimal)
    return fmt::format(
        "optimal: no plan of the space, with any of the {} batches, trains on more than {} tokens/s", all,
        format_count(tokens));
  if (proof.bounded == proof.asked)
    return fmt::format(
        "not proved: no plan with any of the {} batches trains on more than {} tokens/s, a gap of {}", all,
        format_count(tokens), format_percent(gap));
  if (proof.bounded == 0) return "not proved: there is no bound yet";
  const std::string some = format_digits(static_cast<std::int64_t>(proof.bounded));
  return fmt::format(
      "not proved: a limit came when {} of {} batches had been looked at, with which no plan trains on more "
      "than {} "
      "tokens/s, a gap of {}",
      some, all, format_count(tokens), format_percent(gap));
}

}  // namespace

double memory_share(const Stage& stage) {
  return stage.memory.value().share();
}

std::size_t fullest_stage(const Plan& plan) {
  std::size_t fullest = 0;
  for (std::size_t i = 1; i < plan.stages.size(); ++i) {
    if (memory_share(plan.stages[i]) > memory_share(plan.stages[fullest])) fullest = i;
  }
  return fullest;
}

double memory_share(const Plan& plan) {
  return memory_share(plan.stages[fullest_stage(plan)]);
}

std::string host_use(const std::vector<StageMemory>& stages) {
  const auto most = std::max_element(stages.begin(), stages.end(),
                                     [](const auto& a, const auto& b) { return a.host < b.host; });
  if (most == stages.end() || most->host_capacity.value == 0) return "";
  return fmt::format("{} of {} of host memory for a device", format_memory(most->host),
                     format_memory(most->host_capacity));
}

std::string largest_memory(const StageMemory& memory) {
  const auto* largest =
      std::max_element(kMemoryKeys.begin(), kMemoryKeys.end(),
                       [&](const auto& a, const auto& b) { return memory.*a.member < memory.*b.member; });
  return fmt::format("{} ({})", spell_memory(largest->key), format_memory(memory.*largest->member));
}

std::optional<double> gap_of(Seconds best, Seconds bound) {
  if (bound.value <= 0) return std::nullopt;
  return std::max(0.0, best.value / bound.value - 1);
}

std::optional<double> gap_of(const SearchResult& found) {
  if (found.plans.empty()) return std::nullopt;
  return gap_of(found.plans.front().predicted->step, found.lower_bound);
}

std::string proof_sentence(const SearchResult& found, const SearchOptions& asked) {
  const Plan& best = found.plans.front();
  if (found.batches) return batches_proof(found);
  const bool bound = found.lower_bound.value > 0 && asked.objective == Objective::step_time;
  const std::string step = format(bound ? found.lower_bound : best.predicted->step);
  if (found.status == PlanStatus::optimal && asked.objective == Objective::devices) {
    return fmt::format("optimal: no plan with fewer devices reaches {} tokens/s, none with {} is faster",
                       format_count(asked.target_tokens_per_s), format_digits(best.parallelism.devices()));
  }
  if (found.status == PlanStatus::optimal && asked.objective == Objective::cost)
    return "optimal: no plan of the space costs less, which is the devices that are rented times the step";
  if (found.status == PlanStatus::optimal)
    return fmt::format("optimal: no plan of the space takes less than {} a step", step);
  const auto gap = gap_of(found);
  if (!gap) return "not proved: there is no bound yet";
  if (asked.objective == Objective::cost)
    return fmt::format("not proved: a plan may cost {} less at most", format_percent(*gap / (1 + *gap)));
  return fmt::format("not proved: no plan takes less than {} a step, a gap of {}", format(found.lower_bound),
                     format_percent(*gap));
}

std::string simpler_sentence(const SearchResult& found) {
  if (!found.simpler) return "";
  const double longer = found.simpler->predicted->step / found.plans.front().predicted->step - 1;
  return fmt::format(
      "{} longer than the best plan, which is within the noise of prediction, but without {} (--strict takes "
      "the best)",
      format_percent(longer), list_words(found.avoids));
}

std::string safety_sentence(const SearchResult& found, const SearchOptions& asked) {
  const Plan& safe = found.plans.front();
  const Safety& safety = found.safety;
  if (asked.memory_margin <= 0 || !safe.predicted->fits_probability) return "";
  const bool costs = asked.objective == Objective::cost;
  const char* better = costs ? "cheaper" : "faster";
  if (found.risky && found.risky->predicted->fits_probability) {
    // What was not proved of either may be better than the plan that was found.
    const bool proved = found.status == PlanStatus::optimal;
    const char* about = !proved && !safety.known ? "about " : "";
    const char* bound = proved == safety.known ? "" : safety.known ? " or less" : " or more";
    return fmt::format("the margin costs {}+{} of the {}{} for fitting with {} in place of {}", about,
                       format_percent(safety.costs), costs ? "price of a token" : "step", bound,
                       spell_fitting(*safe.predicted), spell_fitting(*found.risky->predicted));
  }
  if (safety.known)
    return fmt::format("the margin costs nothing: no plan without it is {} than one for fitting with {}",
                       better, spell_fitting(*safe.predicted));
  if (asked.gap > 0 && safety.most)
    return fmt::format("the margin costs {} at most: no plan without it is {} by more than that",
                       format_percent(*safety.most), better);
  return "";
}

std::string batch_sentence(const SearchResult& found) {
  if (!found.better_batch) return "";
  const Plan& other = *found.better_batch;
  return fmt::format("with {} sequences: {} more tokens a second (--global-batch {})",
                     format_digits(other.training.global_batch),
                     format_percent(other.predicted->tokens_per_s / found.plan().predicted->tokens_per_s - 1),
                     other.training.global_batch);
}

std::string ties_sentence(const SearchResult& found, std::size_t shown) {
  std::vector<std::string> near;
  const std::vector<const Plan*> others = runners_up(found);
  const Seconds best = found.plans.front().predicted->step;
  for (std::size_t i = 0; i < std::min(shown, others.size()); ++i) {
    if (others[i]->predicted->step <= best * (1 + kNoise)) near.push_back(std::to_string(i + 2));
  }
  if (near.empty()) return "";
  return fmt::format("{} {}: within {} of the best plan, which is within the noise of prediction",
                     list_words(near), near.size() == 1 ? "is a near tie" : "are near ties",
                     format_percent(kNoise, 0));
}

std::string idle_sentence(const SearchResult& found, const PlanInputs& inputs, const SearchOptions& asked) {
  const std::int64_t all = inputs.cluster.devices();
  const std::int64_t idle = all - found.plan().parallelism.devices();
  if (idle <= 0) return "";
  return fmt::format("{} of {} devices {} idle: {}", format_digits(idle), format_digits(all),
                     idle == 1 ? "is" : "are", idle_cause(found, all, asked));
}

Warnings plan_warnings(const SearchResult& found, const PlanInputs& inputs) {
  const Plan& plan = found.plan();
  const Prediction& predicted = *plan.predicted;
  Warnings list;
  const std::size_t full = fullest_stage(plan);
  const double share = memory_share(plan.stages[full]);
  if (share > kNearlyFull) {
    list.push_back(
        fmt::format("stage {} takes {} of a device's memory; estimates of memory are not that exact: {}",
                    full, format_percent(share),
                    predicted.fits_probability ? "--fits and --memory-margin leave room"
                                               : "--memory-margin leaves room"));
  }
  const Breakdown& b = predicted.breakdown;
  const Seconds data = b.data - predicted.stragglers;
  const Seconds network = b.tensor + b.expert + b.context + b.pipeline + data + b.zero;
  if (network.value > kMuchNetwork * predicted.step.value) {
    const std::pair<const char*, Seconds> parts[] = {{"tensor", b.tensor},   {"expert", b.expert},
                                                     {"context", b.context}, {"pipeline", b.pipeline},
                                                     {"data", data},         {"zero", b.zero}};
    const auto* largest = std::max_element(std::begin(parts), std::end(parts),
                                           [](const auto& x, const auto& y) { return x.second < y.second; });
    list.push_back(fmt::format(
        "the network binds: {} of the step is communication that nothing hides, most of it "
        "{} ({})",
        format_percent(network.value / predicted.step.value), largest->first, format(largest->second)));
  }
  if (plan.training.micro_batches < plan.parallelism.pipeline) {
    list.push_back(fmt::format("{} not fill {} stages; a larger global batch would",
                               plan.training.micro_batches == 1
                                   ? std::string("1 micro-batch does")
                                   : fmt::format("{} micro-batches do", plan.training.micro_batches),
                               plan.parallelism.pipeline));
  } else if (predicted.bubble_fraction > kMuchBubble) {
    list.push_back(fmt::format("the pipeline is idle for {} of the step; a larger global batch shortens that",
                               format_percent(predicted.bubble_fraction)));
  }
  const std::int64_t node = inputs.cluster.sorted().tree().devices_in(LevelId{0}, 0);
  if (plan.parallelism.strategy.tensor > node) {
    list.push_back(fmt::format("tensor {} goes beyond the {} devices of a {}",
                               plan.parallelism.strategy.tensor, node, inputs.cluster.levels().front().name));
  }
  if (found.further_stopped && found.status == PlanStatus::optimal) {
    list.emplace_back(
        "time was up before all was known that is said beside the fastest plan: simpler ones, and what the "
        "margin of "
        "memory costs");
  }
  return list;
}

}  // namespace nest::report
