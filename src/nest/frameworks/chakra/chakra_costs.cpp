#include "nest/frameworks/chakra/chakra_costs.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "nest/estimate/kernels/precision_math.hpp"
#include "nest/frameworks/chakra/chakra_network.hpp"
#include "nest/plan/plan.hpp"
#include "nest/plan/recompute_walk.hpp"
#include "nest/price/layers/cost_book.hpp"
#include "nest/price/plan_costs.hpp"
#include "nest/price/stage_cost.hpp"

namespace nest::frameworks {
namespace {

using StepGroup = StepCollective::Group;

constexpr double kLeastSeconds = 2e-9;

// Operations and memory traffic of a pass.
struct PassWork {
  double operations = 0;
  double bytes = 0;

  void add(double times, double flops, double traffic) {
    operations += times * flops;
    bytes += traffic;
  }
  PassWork& operator+=(const PassWork& other) {
    operations += other.operations;
    bytes += other.bytes;
    return *this;
  }
};

// Of a layer on one device. Gradients that nobody waits for are not made, as LayerType::saved_flops counts them.
struct LayerWork {
  PassWork forward;
  PassWork input;   // gradients of inputs, and of what is no weight
  PassWork weight;  // gradients of weights

  LayerWork& operator+=(const LayerWork& other) {
    forward += other.forward;
    input += other.input;
    weight += other.weight;
    return *this;
  }
};

LayerWork layer_work(const LayerType& layer) {
  LayerWork work;
  for (const Operator& op : layer.operators) {
    if (op.kind == OperatorKind::collective) continue;
    const double flops = op.forward_flops.value;
    const auto bytes = static_cast<double>((layer.bytes_read(op) + layer.bytes_written(op)).value);
    const bool product = op.kind == OperatorKind::matmul || op.kind == OperatorKind::grouped_matmul;
    const bool passes = layer.passes_gradients(op);
    const bool trains = layer.trains(op);
    work.forward.add(1, flops, bytes);
    // A frozen norm passes on what two passes of it take.
    if (passes) work.input.add(product || trains ? 1 : 2, flops, bytes);
    if (product ? trains : passes) work.weight.add(trains ? 1 : 0, flops, bytes);
  }
  return work;
}

std::optional<ChakraCollective> kind_of(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::none:
      return std::nullopt;
    case CollectiveKind::all_reduce:
      return ChakraCollective::all_reduce;
    case CollectiveKind::reduce_scatter:
      return ChakraCollective::reduce_scatter;
    case CollectiveKind::all_to_all:
      return ChakraCollective::all_to_all;
    case CollectiveKind::all_gather:
    case CollectiveKind::broadcast:
    case CollectiveKind::send:  // round a ring: an all-gather's steps
      break;
  }
  return ChakraCollective::all_gather;
}

// What of `whole` does not show in `exposed`, where hidden time slows kernels down.
double hidden_share(double whole, double exposed, double slow_down) {
  if (whole <= 0 || slow_down >= 1) return 0;
  return std::clamp((whole - exposed) / (1 - slow_down) / whole, 0.0, 1.0);
}

enum class CellAxis : std::uint8_t { tensor, expert, context };
constexpr std::array<const char*, 3> kAxisNames{"tensor", "expert", "context"};

CellAxis axis_of(GroupAxis axis) {
  if (axis == GroupAxis::tensor) return CellAxis::tensor;
  return model::of_context(axis) ? CellAxis::context : CellAxis::expert;
}

double part_of(const CollectiveSeconds& seconds, CellAxis axis) {
  const std::array<double, 3> parts{seconds.tensor.value, seconds.expert.value, seconds.context.value};
  return parts[static_cast<std::size_t>(axis)];
}

class Maker {
 public:
  Maker(const Plan& plan, const PricedPlan& priced, const PlanInputs& inputs)
      : plan_(plan), priced_(priced), inputs_(inputs), book_(inputs) {
    PlanCosts costs(book_);
    model_ = &book_.model(plan.training.micro_batch, plan.training);
    network_ = book_.network(plan.stages, costs.network_options(plan, *model_));
    peak_ = peak_of(inputs.cluster.accelerator(), plan.training.precision).value;
    memory_ = memory_rate_of(inputs.cluster).value;
  }

  std::vector<ChakraStage> make() {
    std::vector<ChakraStage> out(plan_.stages.size());
    for (std::size_t i = 0; i < out.size(); ++i) {
      RecomputeWalk walk(plan_.stages[i].recompute);
      for (std::size_t c = 0; c < priced_.stages[i].chunks.size(); ++c)
        out[i].chunks.push_back(chunk(i, c, walk));
      add_step(i, out[i]);
    }
    return out;
  }

 private:
  using Key = std::pair<ChakraRole, ChakraCollective>;
  struct Sums {
    struct Sum {
      double bytes = 0;
      double calls = 0;
    };
    std::array<std::map<Key, Sum>, 3> sums;
    CollectiveSeconds seconds;
  };

  // Both limits of a roofline take this long.
  [[nodiscard]] ChakraWork timed(Seconds time) const {
    return {time, time.value * peak_, time.value * memory_};
  }
  // Memory is the limit.
  [[nodiscard]] ChakraWork streamed(Seconds time) const {
    return {time, time.value * memory_ / 4, time.value * memory_};
  }

  const std::vector<LayerWork>& works(const Strategy& strategy) {
    for (const auto& [known, works] : works_) {
      if (known == strategy) return works;
    }
    std::vector<LayerWork> made;
    for (const ShardedLayer& layer : book_.sharded(plan_.training, strategy))
      made.push_back(layer_work(layer.layer));
    return works_.emplace_back(strategy, std::move(made)).second;
  }

  ChakraChunk chunk(std::size_t i, std::size_t c, RecomputeWalk& walk) {
    const Stage& stage = plan_.stages[i];
    const ChunkCost& cost = priced_.stages[i].chunks[c];
    const bool split = schedule_of(plan_.parallelism.schedule).splits_backward;
    const std::vector<LayerId>& ids = plan_.parallelism.interleave > 1 ? stage.chunks[c] : stage.layers;
    LayerWork sum;
    LayerTerms terms;
    std::array<Sums, 2> sums;
    for (const LayerId id : ids) {
      const LayerPolicy policy = walk.next(model_->graph.recomputes(id));
      terms += book_.table(plan_.training, stage.strategy, policy, network_->stages[i]).of(id);
      if (!model_->model) continue;
      const std::size_t type = model_->model->layers[id.index()].type;
      sum += works(stage.strategy)[type];
      add_layer(i, book_.computes(plan_.training, stage.strategy, policy)[type], sums);
    }
    ChakraChunk out;
    const double again = cost.forward.value > 0 ? cost.recompute.value / cost.forward.value : 0;
    if (model_->model) {
      out.forward.work = {cost.forward, sum.forward.operations, sum.forward.bytes};
      out.backward.work = {cost.backward_input + cost.recompute,
                           sum.input.operations + again * sum.forward.operations,
                           sum.input.bytes + again * sum.forward.bytes};
      out.weight.work = {cost.backward_weight, sum.weight.operations, sum.weight.bytes};
    } else {
      out.forward.work = timed(cost.forward);
      out.backward.work = timed(cost.backward_input + cost.recompute);
      out.weight.work = timed(cost.backward_weight);
    }
    if (!split) {
      out.backward.work += out.weight.work;
      out.weight.work = {};
    }
    finish(sums[0], cost.forward_collectives, out.forward.collectives);
    finish(sums[1], cost.backward_collectives, out.backward.collectives);
    add_zero(i, terms, out);
    return out;
  }

  void add_layer(std::size_t i, const LayerCompute& compute, std::array<Sums, 2>& sums) const {
    using enum CollectivePass;
    const LayerCost cost = layer_cost(compute, *network_->stages[i].cell);
    const auto add_seconds = [](CollectiveSeconds& to, const CollectiveSeconds& s) {
      to.tensor += s.tensor;
      to.expert += s.expert;
      to.context += s.context;
    };
    add_seconds(sums[0].seconds, cost.forward_collectives);
    add_seconds(sums[1].seconds, cost.backward_collectives);
    const Strategy& strategy = plan_.stages[i].strategy;
    for (const LayerCollective& c : compute.collectives) {
      const auto kind = kind_of(c.shape.forward);
      const std::int64_t members = group_size(strategy, c.shape);
      if (!kind || members < 2) continue;
      const ChakraRole role{inner_ids(strategy)[static_cast<std::size_t>(c.shape.group)] * c.shape.stride,
                            members};
      auto bytes = static_cast<double>(c.shape.forward_bytes.value * c.shape.repeats);
      // So many hops of one part: each rank of an all-gather passes n - 1 parts on.
      if (c.shape.forward == CollectiveKind::send)
        bytes *= static_cast<double>(members) / static_cast<double>(members - 1);
      // A ring's hops are the steps of one all-gather.
      const std::int64_t calls = c.shape.forward == CollectiveKind::send ? 1 : c.shape.repeats;
      const auto axis = static_cast<std::size_t>(axis_of(c.shape.group));
      for (const bool back : {false, true}) {
        const std::int64_t count = back ? c.count_of(backward) + c.count_of(again) : c.count_of(forward);
        if (count == 0) continue;
        Sums::Sum& sum = sums[back ? 1 : 0].sums[axis][{role, *kind}];
        sum.bytes += static_cast<double>(count) * bytes;
        sum.calls += static_cast<double>(count * calls);
      }
    }
  }

  void finish(const Sums& sums, const CollectiveSeconds& exposed, std::vector<ChakraSum>& out) const {
    for (const CellAxis axis : {CellAxis::tensor, CellAxis::expert, CellAxis::context}) {
      const double hidden =
          hidden_share(part_of(sums.seconds, axis), part_of(exposed, axis), inputs_.recipe.overlap.slow_down);
      for (const auto& [key, sum] : sums.sums[static_cast<std::size_t>(axis)]) {
        out.push_back({key.second, key.first, kAxisNames[static_cast<std::size_t>(axis)], sum.bytes, hidden,
                       sum.calls});
      }
    }
  }

  // Traffic of every micro-batch (ZeRO-2 and ZeRO-3), as in StageCoster::chunk.
  void add_zero(std::size_t i, const LayerTerms& terms, ChakraChunk& out) const {
    const Zero zero = plan_.parallelism.zero;
    if (!zero.reduces_every_micro_batch()) return;
    const Overlap& overlap = inputs_.recipe.overlap;
    const double layers = std::max(1.0, terms.of(Term::layers));
    const auto share = [&](double allowed) {
      return std::min(std::max(0.0, allowed), (layers - 1) / layers);
    };
    using Frozen = std::array<double, 2>;  // bytes of dense weights and of experts that are not trained
    const auto add = [&](ChakraPass& pass, ChakraCollective kind, double bytes_each, const Frozen& frozen,
                         double hidden, bool near = false) {
      for (const bool expert : {false, true}) {
        const double parameters = terms.of(expert ? Term::expert_parameters : Term::dense_parameters);
        const ParameterGroup& group = expert ? network_->stages[i].expert : network_->stages[i].dense;
        const double bytes = parameters * bytes_each + frozen[expert ? 1 : 0];
        if (bytes <= 0 || group.shards < 2) continue;
        pass.collectives.push_back({kind,
                                    {.step = near ? expert ? StepGroup::expert_near : StepGroup::dense_near
                                             : expert ? StepGroup::expert_inner
                                                      : StepGroup::dense_inner},
                                    "zero",
                                    bytes,
                                    hidden,
                                    layers});
      }
    };
    const Recipe recipe = recipe_for(inputs_.recipe, plan_.training);
    if (zero.gathers_every_pass()) {
      const double gathered = gather_bytes(terms, recipe);
      const double hidden = share(recipe.prefetch_layers > 0 ? overlap.prefetch : 0);
      // What stays gathered is gathered once: under a pipeline with the step's other gathers (add_step).
      const bool kept = zero.resharding().keeps();
      if (!kept || plan_.parallelism.pipeline == 1)
        add(out.forward, ChakraCollective::all_gather, gathered,
            {terms.of(Term::gathered_dense), terms.of(Term::gathered_expert)}, hidden);
      if (!kept)
        add(out.backward, ChakraCollective::all_gather, gathered,
            {terms.of(Term::regathered_dense), terms.of(Term::regathered_expert)}, hidden,
            zero.resharding().group() > 0);
    }
    if (plan_.parallelism.pipeline > 1 && recipe.late_reduces) return;
    add(out.backward, ChakraCollective::reduce_scatter, static_cast<double>(size_of(recipe.reduce_dtype)), {},
        share(overlap.gradient_reduce));
  }

  void add_step(std::size_t i, ChakraStage& out) const {
    const StageCost& cost = priced_.stages[i];
    double reduce = 0;
    double ties = 0;
    double gather = 0;
    const auto late = [](const StepCollective& c) {
      return c.group == StepGroup::tied || c.group == StepGroup::replicated;
    };
    for (const StepCollective& c : cost.reduces) (late(c) ? ties : reduce) += c.time.value;
    for (const StepCollective& c : cost.gathers) gather += c.time.value;
    const double hidden = hidden_share(reduce, cost.reduce.value - ties, 0);
    const double ahead = hidden_share(gather, cost.gather.value, 0);
    for (const StepCollective& c : cost.reduces) {
      const auto bytes = static_cast<double>(c.bytes.value);
      if (c.group == StepGroup::tied) {
        out.tied_bytes += bytes;
      } else {
        out.reduces.push_back(
            {*kind_of(c.kind), {.step = c.group}, "gradients", bytes, late(c) ? 0 : hidden});
      }
    }
    for (const StepCollective& c : cost.gathers) {
      out.gathers.push_back(
          {*kind_of(c.kind), {.step = c.group}, "parameters", static_cast<double>(c.bytes.value), ahead});
    }
    out.norm = streamed(cost.norm);
    out.optimizer = streamed(cost.optimizer);
  }

  const Plan& plan_;
  const PricedPlan& priced_;
  const PlanInputs& inputs_;
  CostBook book_;
  const BuiltModel* model_ = nullptr;
  std::shared_ptr<const PlanNetwork> network_;
  double peak_ = 1;
  double memory_ = 1;
  std::vector<std::pair<Strategy, std::vector<LayerWork>>> works_;
};

}  // namespace

ChakraWork& ChakraWork::operator+=(const ChakraWork& other) {
  time += other.time;
  operations += other.operations;
  bytes += other.bytes;
  return *this;
}

std::int64_t least_tensor_bytes(const Cluster& cluster) {
  return std::llround(std::ceil(memory_rate_of(cluster).value * kLeastSeconds));
}

std::vector<ChakraStage> chakra_stages(const Plan& plan, const PricedPlan& priced, const PlanInputs& inputs) {
  return Maker(plan, priced, inputs).make();
}

}  // namespace nest::frameworks
