#include "nest/plan/price.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "nest/plan/check.hpp"
#include "nest/plan/complete.hpp"
#include "nest/plan/cost_book.hpp"
#include "nest/plan/pipeline_time.hpp"
#include "nest/plan/schedule.hpp"
#include "nest/strategies/boundary.hpp"

namespace nest {
namespace {

constexpr std::array<std::string_view, 3> kStatuses{"feasible", "infeasible", "invalid"};

PlacementShape shape_of(const Parallelism& p) {
  return {p.strategy.cell(), p.pipeline, p.data_inner, p.outer(), p.block_devices, p.first_stage_first};
}

// Whether layer ids of a list follow each other without a gap.
bool is_range(const std::vector<LayerId>& ids) {
  return !ids.empty() && static_cast<std::size_t>(ids.back().value - ids.front().value) + 1 == ids.size();
}

// A stage's layers, or one chunk's, added up, with what tells it apart from others.
struct Part {
  LayerTerms terms;
  std::uint64_t signature = 0;  // 0: not known
  Bytes forward;                // received before the forward pass, on one device
  Bytes backward;
};

}  // namespace

std::string_view name_of(PriceStatus status) {
  return kStatuses[static_cast<std::size_t>(status)];
}

struct Pricer::Parts {
  PlanInputs inputs;
  PriceOptions options;
  CostBook book;
  StageCoster coster;
  // Dense peaks in FLOP/s of 16-bit (bf16, else fp16) and 8-bit products; 0 where there are none.
  double peak16 = 0;
  double peak8 = 0;
  // Kept between calls for their memory.
  std::vector<Part> parts;  // parts[stage * chunks + chunk]
  std::vector<StagePass> passes;
  std::vector<StageMemory> memory;

  Parts(PlanInputs in, const PriceOptions& opts)
      : inputs(std::move(in)),
        options(opts),
        book(inputs, opts.compute_time),
        coster(inputs, book.collectives()) {
    const Accelerator& accelerator = inputs.cluster.accelerator();
    const auto bf16 = accelerator.peak(MathType::bf16);
    peak16 = bf16.value_or(accelerator.peak(MathType::fp16).value_or(FlopsPerSecond{})).value;
    peak8 = accelerator.peak(MathType::fp8).value_or(FlopsPerSecond{}).value;
  }

  [[nodiscard]] std::string refusal(const Plan& plan);
  void add_up(const Plan& plan, const BuiltModel& model, const PlanNetwork& network);
  void add_boundaries(const Plan& plan, const BuiltModel& model);
  void cost_stages(const Plan& plan, const BuiltModel& model, const PlanNetwork& network, PricedPlan& out);
  void cost_stage(const Plan& plan, const BuiltModel& model, const PlanNetwork& network, std::size_t i,
                  StageCost& cost);
  void put_together(const Plan& plan, const BuiltModel& model, PricedPlan& out);
};

// What a strategy or a layer profile does not allow.
std::string Pricer::Parts::refusal(const Plan& plan) {
  const LayerProfile* profile = inputs.profile();
  if (profile != nullptr && plan.training.micro_batch != profile->micro_batch)
    return "the layer profile holds for micro-batches of " + std::to_string(profile->micro_batch);
  if (profile != nullptr && plan.training.sequence != profile->sequence)
    return "the layer profile holds for sequences of " + std::to_string(profile->sequence) + " tokens";
  if (plan.training.precision == Precision::fp8 && peak8 == 0)
    return inputs.cluster.accelerator().name + " has no 8-bit matrix products";
  const Strategy* before = nullptr;
  for (const Stage& stage : plan.stages) {
    if (profile != nullptr && stage.recompute.policy == RecomputePolicy::selective)
      return "a layer profile does not know what selective recomputation keeps";
    if (before != nullptr && *before == stage.strategy) continue;
    before = &stage.strategy;
    const std::string& why = book.refusal(plan.training, stage.strategy);
    if (!why.empty()) return why;
  }
  return {};
}

void Pricer::Parts::add_up(const Plan& plan, const BuiltModel& model, const PlanNetwork& network) {
  const auto v = static_cast<std::size_t>(plan.parallelism.interleave);
  parts.resize(plan.stages.size() * v);
  const LayerTable* last_table = nullptr;
  const CellNetwork* last_cell = nullptr;
  RecomputePolicy last_policy = RecomputePolicy::none;
  for (std::size_t i = 0; i < plan.stages.size(); ++i) {
    const Stage& stage = plan.stages[i];
    const auto table = [&](RecomputePolicy policy) -> const LayerTable& {
      const CellNetwork* cell = network.stages[i].cell.get();
      if (last_table == nullptr || policy != last_policy || cell != last_cell) {
        last_table = &book.table(plan.training, stage.strategy, policy, network.stages[i]);
        last_policy = policy;
        last_cell = cell;
      }
      return *last_table;
    };
    std::int64_t recomputed = 0;  // of the stage's layers that can
    for (std::size_t c = 0; c < v; ++c) {
      const std::vector<LayerId>& ids = v == 1 ? stage.layers : stage.chunks[c];
      Part& part = parts[i * v + c];
      part.signature = 0;
      if (stage.recompute.layers == 0 && is_range(ids)) {
        const LayerTable& costs = table(stage.recompute.policy);
        const std::size_t first = ids.front().index();
        const std::size_t last = ids.back().index() + 1;
        part.signature = costs.signature(first, last);
        part.terms = costs.range(first, last);
        continue;
      }
      part.terms = {};
      for (const LayerId id : ids) {
        const bool can = model.graph.recomputes(id);
        const RecomputePolicy policy = can ? stage.recompute.of_layer(recomputed) : RecomputePolicy::none;
        recomputed += can ? 1 : 0;
        part.terms += table(policy).of(id);
      }
    }
  }
}

void Pricer::Parts::add_boundaries(const Plan& plan, const BuiltModel& model) {
  const auto v = static_cast<std::size_t>(plan.parallelism.interleave);
  const std::size_t p = plan.stages.size();
  const std::size_t count = p * v;
  if (count == 1) {
    parts[0].forward = parts[0].backward = Bytes{};
    return;
  }
  const auto ids = [&](std::size_t at) -> const std::vector<LayerId>& {
    const Stage& stage = plan.stages[at % p];
    return v == 1 ? stage.layers : stage.chunks[at / p];
  };
  const auto part = [&](std::size_t at) -> Part& { return parts[at % p * v + at / p]; };
  bool ranges = true;  // in order, so that cuts lie between neighbours
  for (std::size_t at = 0; at < count && ranges; ++at) {
    ranges = is_range(ids(at)) && (at == 0 || ids(at - 1).back().value + 1 == ids(at).front().value);
  }
  std::vector<Bytes> general;
  if (!ranges) {
    std::vector<std::int32_t> part_of(model.graph.layers(), 0);
    for (std::size_t at = 0; at < count; ++at) {
      for (const LayerId id : ids(at)) part_of[id.index()] = static_cast<std::int32_t>(at);
    }
    general = model.graph.crossing(part_of, count);
  }
  part(0).forward = Bytes{};
  part(count - 1).backward = Bytes{};
  for (std::size_t at = 1; at < count; ++at) {
    const Bytes whole = ranges ? model.graph.crossing_before(ids(at).front()) : general[at - 1];
    part(at).forward = boundary_bytes(whole, plan.stages[at % p].strategy);
    part(at - 1).backward = boundary_bytes(whole, plan.stages[(at - 1) % p].strategy);
  }
}

void Pricer::Parts::cost_stage(const Plan& plan, const BuiltModel& model, const PlanNetwork& network,
                               std::size_t i, StageCost& cost) {
  const Parallelism& p = plan.parallelism;
  const auto v = static_cast<std::size_t>(p.interleave);
  const std::size_t last = plan.stages.size() - 1;
  const StageNetwork& own = network.stages[i];
  LayerTerms whole;
  cost.chunks.resize(v);
  for (std::size_t c = 0; c < v; ++c) {
    const Part& part = parts[i * v + c];
    ChunkCost& chunk = cost.chunks[c];
    coster.chunk(part.terms, own, p.zero, chunk);
    whole += part.terms;
    chunk.forward_bytes = part.forward;
    chunk.backward_bytes = part.backward;
    chunk.forward_receive = coster.receive(part.forward, i == 0 ? network.ends : own.from_previous,
                                           chunk.forward_work(), p.schedule);
    chunk.backward_receive = coster.receive(part.backward, i == last ? network.ends : own.from_next,
                                            chunk.backward_work(), p.schedule);
  }
  double tied = 0;
  double shared = 0;
  if (last > 0) {
    for (const TiedTensor& t : model.graph.tied()) {
      const auto here = [&](LayerId id) {
        return std::find(plan.stages[i].layers.begin(), plan.stages[i].layers.end(), id) !=
               plan.stages[i].layers.end();
      };
      const bool owner = here(t.layers.front());
      const auto users = std::count_if(t.layers.begin(), t.layers.end(), here);
      const double mine =
          static_cast<double>(t.parameters) / static_cast<double>(plan.stages[i].strategy.tensor);
      if (!owner && users > 0) tied += mine;
      if (users > 0 && users < static_cast<std::ptrdiff_t>(t.layers.size())) shared += mine;
    }
  }
  coster.step(whole, own, p.zero, tied, shared, network.ends, p.pipeline, cost);
  cost.transient = round_up_bytes(whole.transient);
  cost.memory = coster.memory(whole, own, p.zero, tied, Bytes{0});
}

void Pricer::Parts::cost_stages(const Plan& plan, const BuiltModel& model, const PlanNetwork& network,
                                PricedPlan& out) {
  const Parallelism& p = plan.parallelism;
  const auto v = static_cast<std::size_t>(p.interleave);
  const std::size_t stages = plan.stages.size();
  const bool tied = !model.graph.tied().empty();
  const ScheduleShape shape{p.pipeline, plan.training.micro_batches, p.interleave};
  const auto alike = [&](std::size_t a, std::size_t b) {
    if (tied && (a == 0 || b + 1 == stages)) return false;
    if (network.stage_class[a] != network.stage_class[b] ||
        !(plan.stages[a].recompute == plan.stages[b].recompute) ||
        !(plan.stages[a].strategy == plan.stages[b].strategy))
      return false;
    for (std::size_t c = 0; c < v; ++c) {
      const Part& x = parts[a * v + c];
      const Part& y = parts[b * v + c];
      if (x.signature == 0 || x.signature != y.signature || x.forward != y.forward ||
          x.backward != y.backward)
        return false;
    }
    return true;
  };
  out.stages.resize(stages);
  std::vector<Bytes> stashes(v);
  for (std::size_t i = 0; i < stages; ++i) {
    StageCost& cost = out.stages[i];
    if (i > 0 && alike(i - 1, i)) {
      cost = out.stages[i - 1];
    } else {
      cost_stage(plan, model, network, i, cost);
    }
    for (std::size_t c = 0; c < v; ++c) stashes[c] = cost.chunks[c].stash;
    // Frameworks that keep what crosses a boundary apart from the stash keep it as long.
    for (std::size_t c = 0; c < v; ++c) {
      const Bytes edge = std::max(cost.chunks[c].forward_bytes, cost.chunks[c].backward_bytes);
      stashes[c] += inputs.recipe.stage_buffers * edge;
    }
    cost.memory.activations = peak_stash(p.schedule, shape, static_cast<std::int64_t>(i), stashes);
  }
}

void Pricer::Parts::put_together(const Plan& plan, const BuiltModel& model, PricedPlan& out) {
  const Parallelism& p = plan.parallelism;
  const Training& t = plan.training;
  const auto v = static_cast<std::size_t>(p.interleave);
  const auto m = static_cast<double>(t.micro_batches);
  const bool by_chunk = v > 1 && options.pipeline_model == PipelineModel::one_f_one_b;
  passes.clear();
  std::size_t longest = 0;
  double most = -1;
  for (std::size_t i = 0; i < out.stages.size(); ++i) {
    StagePass sum;
    for (const ChunkCost& c : out.stages[i].chunks) {
      const StagePass pass{c.f().value, c.b().value, c.backward_weight.value};
      if (by_chunk) passes.push_back(pass);
      sum = {sum.f + pass.f, sum.b + pass.b, sum.weight + pass.weight};
    }
    if (!by_chunk) passes.push_back(sum);
    if (sum.f + sum.b > most) {
      most = sum.f + sum.b;
      longest = i;
    }
  }
  out.pipeline =
      by_chunk ? interleaved_time(passes, p.pipeline, t.micro_batches)
               : pipeline_time(p.schedule, options.pipeline_model, passes, t.micro_batches, p.interleave);
  // The end of the step (DESIGN.md section 5): later stages finish earlier, and start later in the next step.
  double reduce = 0;
  double slow_down = 0;
  double norm = 0;
  double finish = 0;
  double optimizer = 0;
  double before_b = 0;
  double before_f = 0;
  for (const StageCost& s : out.stages) {
    reduce = std::max(reduce, s.reduce.value - before_b);
    slow_down = std::max(slow_down, s.slow_down.value);
    norm = std::max(norm, s.norm.value);
    const double end = s.optimizer.value + std::max(0.0, s.gather.value - before_f);
    if (end > finish) {
      finish = end;
      optimizer = s.optimizer.value;
    }
    before_b += s.chunks.front().b().value;
    before_f += s.chunks.front().f().value;
  }
  Prediction& result = out.predicted;
  result = {};
  Breakdown& parts_of = result.breakdown;
  const StageTime own = out.stages[longest].time();
  parts_of.compute = m * (own.forward + own.backward);
  parts_of.recompute = m * own.recompute;
  parts_of.tensor = m * own.tensor;
  parts_of.expert = m * own.expert;
  parts_of.context = m * own.context;
  parts_of.pipeline = m * own.pipeline;
  // With one stage there is no bubble: what is left is rounding.
  parts_of.bubble =
      Seconds{out.stages.size() == 1 ? 0 : std::max(0.0, out.pipeline.value - m * own.total().value)};
  parts_of.data = Seconds{reduce + slow_down};
  parts_of.zero = m * own.zero + Seconds{finish - optimizer};
  parts_of.optimizer = Seconds{norm + optimizer};
  result.step = parts_of.total();
  result.samples_per_s = static_cast<double>(t.global_batch) / result.step.value;
  result.tokens_per_s = result.samples_per_s * static_cast<double>(t.sequence);
  result.bubble_fraction = parts_of.bubble.value / result.step.value;
  // Forward, and twice that backward. A layer profile states no FLOPs: 6 for each parameter and token.
  const double flops = model.model ? 3 * model.forward_flops.value * static_cast<double>(t.global_batch) /
                                         static_cast<double>(t.micro_batch)
                                   : 6 * static_cast<double>(inputs.profile()->parameters()) *
                                         static_cast<double>(t.global_batch * t.sequence);
  result.flops_per_device = FlopsPerSecond{flops / result.step.value / static_cast<double>(p.devices())};
  const double peak = t.precision == Precision::fp8 ? peak8 : peak16;
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
  const BuiltModel& model = parts_->book.model(plan.training.micro_batch, plan.training.sequence);
  complete_stages(plan, model.graph);
  return plan;
}

Plan Pricer::place(Plan plan) {
  if (plan.placed()) return plan;
  const auto slots = place_cells(parts_->inputs.cluster.tree(), shape_of(plan.parallelism));
  if (!slots) throw InputError("", parts_->inputs.cluster.name(), "the plan's cells do not fit this cluster");
  plan.parallelism.block_devices = slots->block_devices;
  for (std::size_t i = 0; i < plan.stages.size(); ++i) plan.stages[i].devices = slots->cells_of(i);
  return plan;
}

PricedPlan Pricer::price(const Plan& plan) {
  PricedPlan priced;
  price(plan, priced);
  return priced;
}

void Pricer::price(const Plan& plan, PricedPlan& out) {
  Parts& parts = *parts_;
  out.status = PriceStatus::invalid;
  const BuiltModel& model = parts.book.model(plan.training.micro_batch, plan.training.sequence);
  auto problem = check_plan(plan, model.graph, parts.inputs.cluster);
  out.reason = problem ? *problem : parts.refusal(plan);
  if (!out.reason.empty()) return;
  std::shared_ptr<const PlanNetwork> own;
  const Parallelism& p = plan.parallelism;
  const NetworkOptions options{p.zero == 0 ? 0 : p.zero_shards,
                               p.interleave > 1 || !model.graph.tied().empty()};
  const PlanNetwork* network = nullptr;
  const bool mixed = std::any_of(plan.stages.begin(), plan.stages.end(),
                                 [&](const Stage& s) { return !(s.strategy == p.strategy); });
  if (plan.placed()) {
    own = parts.book.network(plan.stages, options);
    network = own.get();
  } else if (mixed) {
    if (place_cells(parts.inputs.cluster.tree(), shape_of(p)))
      own = parts.book.network(place(plan).stages, options);
    network = own.get();
  } else {
    network = parts.book.network(p.strategy, shape_of(p), options);
  }
  if (network == nullptr) {
    out.reason = "the cells do not fit the cluster's domains, or a block of copies its " +
                 std::to_string(p.block_devices) + " devices";
    return;
  }
  parts.add_up(plan, model, *network);
  parts.add_boundaries(plan, model);
  parts.cost_stages(plan, model, *network, out);
  parts.put_together(plan, model, out);
  parts.memory.clear();
  for (const StageCost& s : out.stages) parts.memory.push_back(s.memory);
  const auto over = check_memory(parts.memory);
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

}  // namespace nest
