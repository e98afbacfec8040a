#include "nest/price/price.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "nest/estimate/kernels/precision_math.hpp"
#include "nest/plan/rules/check.hpp"
#include "nest/plan/rules/complete.hpp"
#include "nest/price/layers/cost_book.hpp"
#include "nest/price/plan_costs.hpp"
#include "nest/price/step_time.hpp"
#include "nest/price/uncertainty.hpp"

namespace nest::price {
namespace {

constexpr std::array<std::string_view, 3> kStatuses{"feasible", "infeasible", "invalid"};

PlacementShape shape_of(const Parallelism& p) {
  return {p.strategy.cell(), p.pipeline, p.data_inner, p.outer(), p.block_devices, p.first_stage_first};
}

Plan placed(Plan plan, const Cluster& cluster, const SlotTable& slots) {
  plan.parallelism.block_devices = slots.block_devices;
  for (std::size_t i = 0; i < plan.stages.size(); ++i) plan.stages[i].devices = own_cells(cluster, slots, i);
  return plan;
}

}  // namespace

std::string_view name_of(PriceStatus status) {
  return kStatuses[static_cast<std::size_t>(status)];
}

struct Pricer::Parts {
  PlanInputs inputs;
  PriceOptions options;
  CostBook book;
  std::map<std::tuple<Optimizer, Precision, std::size_t>, StageCoster> costers;  // by the plan's own
  PlanCosts costs;
  std::vector<StagePass> passes;
  std::vector<StageMemory> memory;

  Parts(PlanInputs in, const PriceOptions& opts)
      : inputs(std::move(in)), options(opts), book(inputs, opts.compute_time), costs(book) {}

  [[nodiscard]] std::string refusal(const Plan& plan);
  [[nodiscard]] const StageCoster& coster(const Training& training);
  void price(const Plan& plan, PricedPlan& out);
  void rates(const Plan& plan, const BuiltModel& model, Prediction& result) const;
  void put_uncertainty(const Plan& plan, Prediction& predicted);
};

// What a strategy or a layer profile does not allow.
std::string Pricer::Parts::refusal(const Plan& plan) {
  const LayerProfile* profile = inputs.profile();
  if (profile != nullptr && plan.training.micro_batch != profile->micro_batch)
    return "the layer profile holds for micro-batches of " + std::to_string(profile->micro_batch);
  if (profile != nullptr && plan.training.sequence != profile->sequence)
    return "the layer profile holds for sequences of " + std::to_string(profile->sequence) + " tokens";
  if (profile != nullptr && !plan.training.contents.usual())
    return "a layer profile holds for the documents and images that it was measured with";
  if (profile != nullptr && !plan.training.tuning.whole())
    return "the times of a layer profile are those of training all of it";
  if (profile != nullptr && plan.training.optimizer == Optimizer::muon)
    return "a layer profile does not say which parameters are matrices, which Muon asks for";
  const auto* spec = std::get_if<ModelSpec>(&inputs.source);
  if (plan.training.mtp && (spec == nullptr || spec->mtp_layers == 0))
    return inputs.model_name() + " has no modules for multi-token prediction";
  if (const std::string lacks = lacking_math(inputs.cluster, plan.training.precision); !lacks.empty())
    return inputs.cluster.device_name() + " " + lacks;
  if (plan.training.optimizer == Optimizer::muon &&
      with_states(inputs.recipe, plan.training.states).offload.optimizer)
    return "Muon's matrices are orthogonalized on the device: its states are not offloaded";
  const Strategy* before = nullptr;
  for (const Stage& stage : plan.stages) {
    if (profile != nullptr && stage.recompute.policy == RecomputePolicy::selective)
      return "a layer profile does not know what selective recomputation keeps";
    if (profile != nullptr && stage.recompute.policy == RecomputePolicy::modules)
      return "a layer profile does not know which modules its layers have";
    if (before != nullptr && *before == stage.strategy) continue;
    before = &stage.strategy;
    const std::string& why = book.refusal(plan.training, stage.strategy);
    if (!why.empty()) return why;
  }
  return {};
}

// The recipe with the plan's own optimizer, precision and dtypes, which may be others.
const StageCoster& Pricer::Parts::coster(const Training& training) {
  const std::tuple key{training.optimizer, training.precision, training.states.number()};
  const auto known = costers.find(key);
  if (known != costers.end()) return known->second;
  return costers
      .emplace(key, StageCoster(recipe_for(inputs.recipe, training), inputs.cluster, book.collectives(),
                                options.memory_margin))
      .first->second;
}

void Pricer::Parts::rates(const Plan& plan, const BuiltModel& model, Prediction& result) const {
  const Training& t = plan.training;
  const Parallelism& p = plan.parallelism;
  if (result.step.value <= 0) return;  // a layer profile of nothing
  result.samples_per_s = static_cast<double>(t.global_batch) / result.step.value;
  result.tokens_per_s = result.samples_per_s * static_cast<double>(t.sequence);
  result.bubble_fraction = result.breakdown.bubble.value / result.step.value;
  // Forward, and twice that backward, less what nobody waits for. A layer profile states no FLOPs: 6 for each parameter and token.
  const double flops = model.model
                           ? (3 * model.forward_flops.value - model.saved_flops.value) *
                                 static_cast<double>(t.global_batch) / static_cast<double>(t.micro_batch)
                           : 6 * static_cast<double>(inputs.profile()->parameters()) *
                                 static_cast<double>(t.global_batch * t.sequence);
  result.flops_per_device = FlopsPerSecond{flops / result.step.value / static_cast<double>(p.devices())};
  const double peak = peak_of(inputs.cluster.accelerator(), t.precision).value;
  if (peak > 0) result.mfu = result.flops_per_device.value / peak;
}

Pricer::Pricer(PlanInputs inputs, const PriceOptions& options)
    : parts_(std::make_unique<Parts>(std::move(inputs), options)) {}
Pricer::~Pricer() = default;
Pricer::Pricer(Pricer&&) noexcept = default;
Pricer& Pricer::operator=(Pricer&&) noexcept = default;

const PlanInputs& Pricer::inputs() const {
  return parts_->inputs;
}

Plan Pricer::complete(Plan plan) {
  complete_degrees(plan, parts_->inputs);
  const BuiltModel& model = parts_->book.model(plan.training);
  complete_stages(plan, model.graph);
  return plan;
}

Plan Pricer::place(Plan plan) {
  if (plan.placed()) return plan;
  const BuiltModel& model = parts_->book.model(plan.training);
  if (const auto problem = check_plan(plan, model.graph, parts_->inputs.cluster))
    throw InputError("", "plan", *problem);
  const Cluster& cluster = parts_->inputs.cluster;
  const auto slots = place_cells(cluster.sorted().tree(), shape_of(plan.parallelism));
  if (!slots) throw InputError("", cluster.name(), "the plan's cells do not fit this cluster");
  return placed(std::move(plan), cluster, *slots);
}

PricedPlan Pricer::price(const Plan& plan) {
  PricedPlan priced;
  price(plan, priced);
  return priced;
}

void Pricer::price(const Plan& plan, PricedPlan& out) {
  out.status = PriceStatus::invalid;
  out.predicted = {};
  out.pipeline = {};
  try {
    parts_->price(plan, out);
  } catch (const InputError& error) {  // the model cannot be built so, for one
    // The place is a command's option where the model is at fault.
    const std::string place = error.place().starts_with("--") ? error.place().substr(2) : error.place();
    out.reason = InputError(error.file(), place, error.problem(), error.hint()).what();
  }
  if (out.status == PriceStatus::invalid) out.stages.clear();
}

// The interval around the step, and how likely the fullest stage fits.
void Pricer::Parts::put_uncertainty(const Plan& plan, Prediction& predicted) {
  const auto traits = traits_of(inputs, plan.training, plan.parallelism.devices());
  if (!traits) return;
  const Spread& time = time_spread(*traits);
  predicted.interval = {kCoverage, time.low() * predicted.step, time.high() * predicted.step};
  const Spread* spread = memory_spread(*traits);
  if (spread == nullptr) return;
  Bytes most{1};
  for (const StageMemory& stage : memory) most = std::max(most, stage.total());
  const auto used = static_cast<double>(most.value);
  predicted.memory = {round_up_bytes(spread->low() * used), round_up_bytes(spread->high() * used)};
  const double room = static_cast<double>(inputs.cluster.device_memory().value) / used;
  predicted.fits_probability = spread->share_below(room);
  predicted.fits_at_least = spread->beyond(room);
}

void Pricer::Parts::price(const Plan& plan, PricedPlan& out) {
  const Parallelism& p = plan.parallelism;
  book.trim();
  const BuiltModel& model = book.model(plan.training);
  const auto problem = check_plan(plan, model.graph, inputs.cluster);
  out.reason = problem ? *problem : refusal(plan);
  if (!out.reason.empty()) return;
  const NetworkOptions wanted = costs.network_options(plan, model);
  const bool mixed = std::any_of(plan.stages.begin(), plan.stages.end(),
                                 [&](const Stage& s) { return !(s.strategy == p.strategy); });
  std::shared_ptr<const PlanNetwork> own;
  const PlanNetwork* network = nullptr;
  if (plan.placed()) {
    own = book.network(plan.stages, wanted);
    network = own.get();
  } else if (mixed) {
    if (const auto slots = place_cells(inputs.cluster.sorted().tree(), shape_of(p)))
      own = book.network(placed(plan, inputs.cluster, *slots).stages, wanted);
    network = own.get();
  } else {
    network = book.network(p.strategy, shape_of(p), wanted);
  }
  if (network == nullptr) {
    out.reason = "the cells do not fit the cluster's domains";
    if (p.block_devices > 0)
      out.reason += ", or a block of copies its " + std::to_string(p.block_devices) + " devices";
    return;
  }
  const StageCoster& costing = coster(plan.training);
  costs.cost(plan, {.model = model, .network = *network, .coster = costing, .kept = own == nullptr},
             out.stages);
  const Waiting waiting{costing.waiting(p.devices()),
                        uneven_sequences(book.spread(plan.training, p.strategy),
                                         {p.pipeline, p.data, plan.training.micro_batches})};
  step_time(plan, options.pipeline_model, passes, waiting, out);
  rates(plan, model, out.predicted);
  memory.clear();
  for (const StageCost& s : out.stages) memory.push_back(s.memory);
  put_uncertainty(plan, out.predicted);
  const auto over = check_memory(memory);
  out.status = over ? PriceStatus::infeasible : PriceStatus::feasible;
  out.reason = over.value_or("");
}

Plan with_results(Plan plan, const PricedPlan& priced) {
  plan.status = priced.status == PriceStatus::feasible ? PlanStatus::feasible : PlanStatus::infeasible;
  plan.predicted = priced.predicted;
  for (std::size_t i = 0; i < plan.stages.size() && i < priced.stages.size(); ++i) {
    plan.stages[i].time = priced.stages[i].time();
    plan.stages[i].memory = priced.stages[i].memory;
  }
  return plan;
}

}  // namespace nest::price
