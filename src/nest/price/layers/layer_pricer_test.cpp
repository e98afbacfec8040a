#include "nest/price/layers/layer_pricer.hpp"

#include <gtest/gtest.h>

#include "nest/cluster/catalog.hpp"
#include "nest/model/zoo.hpp"
#include "nest/plan/test_plans.hpp"
#include "nest/price/price.hpp"
#include "support/stride.hpp"

namespace nest::price {
namespace {

using test::Dice;

// What `nest estimate` adds up over all layers.
StageTime sums_of(const PlanInputs& inputs, const Plan& plan, RecomputePolicy policy) {
  LayerPricer pricer(inputs.recipe, inputs.cluster);
  const Training& t = plan.training;
  const Model model =
      build_model(std::get<ModelSpec>(inputs.source), pricer.build_options(t.micro_batch, t.sequence));
  const Strategy& strategy = plan.parallelism.strategy;
  const CellNetwork network(inputs.cluster, pricer.constants(), strategy);
  const std::vector<LayerPrice> prices = pricer.price(model, strategy, policy, t.precision, network);
  StageTime out;
  for (const Layer& layer : model.layers) {
    const LayerTerms& terms = prices[layer.type].terms;
    const auto of = [&](Term term) { return Seconds{terms.of(term)}; };
    out.forward += of(Term::forward);
    out.backward += of(Term::backward_input) + of(Term::backward_weight);
    out.recompute += of(Term::recompute);
    out.tensor += of(Term::forward_tensor) + of(Term::backward_tensor);
    out.expert += of(Term::forward_expert) + of(Term::backward_expert);
    out.context += of(Term::forward_context) + of(Term::backward_context);
  }
  return out;
}

Recipe random_recipe(Dice& dice) {
  Recipe r = named_recipe(dice.one_of<std::string>({"plain", "megatron", "torchtitan", "deepspeed"}));
  for (double* share : {&r.overlap.tensor, &r.overlap.expert, &r.overlap.context, &r.overlap.tensor_backward,
                        &r.overlap.slow_down}) {
    if (dice.once_in(3)) *share = static_cast<double>(dice.pick(0, 4)) / 4;
  }
  if (dice.once_in(3)) r.kernel_time = static_cast<double>(dice.pick(1, 8)) / 2;
  if (dice.once_in(3)) r.flash_generation = static_cast<int>(dice.pick(1, 3));
  if (dice.once_in(4)) r.flash_attention = false;
  if (dice.once_in(4)) r.dropout = true;
  for (bool* flag : {&r.compiled, &r.fused_projections, &r.fused_passes, &r.ideal_network, &r.plain_norms,
                     &r.masked_windows}) {
    if (dice.once_in(4)) *flag = !*flag;
  }
  if (dice.once_in(3)) r.selective_recompute = SelectiveRecompute::operators;
  if (dice.once_in(3)) r.expert_imbalance = 1.5;
  if (dice.once_in(3)) r.accumulation_bytes = static_cast<double>(dice.pick(0, 20));
  return r;
}

// The plan that puts one cell after the other over the whole cluster, so that all of them talk as in an
// estimate.
Plan random_plan(Dice& dice, const PlanInputs& inputs, bool experts) {
  Plan plan;
  Strategy& s = plan.parallelism.strategy;
  s.tensor = dice.one_of<std::int64_t>({1, 2, 4, 8});
  s.sequence_parallel = s.tensor > 1 && !dice.once_in(3);
  s.context = dice.one_of<std::int64_t>({1, 1, 2, 4});
  if (dice.once_in(2)) s.context_method = ContextMethod::all_to_all;
  if (experts) s.expert = dice.one_of<std::int64_t>({1, 2, 4, 8});
  if (experts && s.expert > 1 && dice.once_in(2)) s.expert_tensor = 1;
  plan.training.sequence = dice.one_of<std::int64_t>({1024, 2048});
  plan.training.micro_batch = dice.pick(1, 2);
  plan.training.micro_batches = 1;
  plan.parallelism.data = inputs.cluster.devices() / s.cell() * s.side();
  plan.parallelism.data_inner = plan.parallelism.copies();
  plan.training.global_batch = plan.parallelism.data * plan.training.micro_batch;
  return plan;
}

void expect_alike(const StageTime& estimated, const StageTime& priced) {
  const auto near = [](Seconds a, Seconds b, const char* what) {
    EXPECT_NEAR(a.value, b.value, 1e-12 + 1e-10 * b.value) << what;
  };
  near(estimated.forward, priced.forward, "forward");
  near(estimated.backward, priced.backward, "backward");
  near(estimated.recompute, priced.recompute, "recompute");
  near(estimated.tensor, priced.tensor, "tensor");
  near(estimated.expert, priced.expert, "expert");
  near(estimated.context, priced.context, "context");
}

// docs/decisions/0007-one-layer-pricer.md
TEST(LayerPricer, EstimatesAddUpToThePriceOfAStage) {
  int compared = 0;
  for (unsigned seed = 1; seed <= 160; seed += test::stride()) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Dice dice(seed);
    const std::string name =
        dice.one_of<std::string>({"llama3.1-8b", "gpt3-6.7b", "mixtral-8x7b", "qwen3-30b-a3b"});
    Warnings warnings;
    PlanInputs inputs =
        load_inputs(name, dice.one_of<std::string>({"h100-spine-leaf", "dgx-a100-superpod", "tpu-v5p-256"}),
                    "plain", warnings);
    inputs.recipe = random_recipe(dice);
    const RecomputePolicy policy = dice.one_of<RecomputePolicy>(
        {RecomputePolicy::none, RecomputePolicy::selective, RecomputePolicy::full});
    Pricer pricer(inputs);
    const bool experts = name == "mixtral-8x7b" || name == "qwen3-30b-a3b";
    Plan plan = random_plan(dice, inputs, experts);
    plan = pricer.complete(plan);
    for (Stage& stage : plan.stages) stage.recompute.policy = policy;
    const PricedPlan price = pricer.price(plan);
    if (price.status == PriceStatus::invalid) continue;  // a degree that the model does not take
    ++compared;
    ASSERT_EQ(price.stages.size(), 1U);
    expect_alike(sums_of(inputs, plan, policy), price.stages.front().time());
    if (HasFailure()) return;
  }
  EXPECT_GT(test::often(compared), 60);
}

TEST(LayerPricer, EveryFieldOfTheRecipeThatChangesKernelsCounts) {
  const Cluster cluster = catalog_cluster("dgx-a100-superpod");
  Warnings warnings;
  const auto backward = [&](const Recipe& recipe) {
    PlanInputs inputs{Value("llama3.1-8b"), load_model("llama3.1-8b", warnings), cluster, recipe, {}};
    Plan plan;
    plan.training.sequence = 4096;
    return sums_of(inputs, plan, RecomputePolicy::selective);
  };
  const Recipe plain = named_recipe("plain");
  const StageTime once = backward(plain);
  Recipe slow = plain;
  slow.kernel_time = 2;
  EXPECT_NEAR(backward(slow).forward.value, 2 * once.forward.value, 1e-12);
  EXPECT_NEAR(backward(slow).recompute.value, 2 * once.recompute.value, 1e-12);
  Recipe old = plain;
  old.flash_generation = 1;
  EXPECT_GT(backward(old).forward.value, 1.02 * once.forward.value);
  Recipe operators = plain;
  operators.selective_recompute = SelectiveRecompute::operators;
  EXPECT_GT(backward(operators).recompute.value, 1.5 * once.recompute.value);
}

TEST(LayerPricer, AnOperatorTakesTheRecipesFactor) {
  const Cluster cluster = catalog_cluster("h100-spine-leaf");
  Recipe recipe = named_recipe("plain");
  Warnings warnings;
  LayerPricer once(recipe, cluster);
  const Model model =
      build_model(std::get<ModelSpec>(load_model("llama3.1-8b", warnings)), once.build_options(1, 2048));
  Recipe twice_as_slow = recipe;
  twice_as_slow.kernel_time = 2;
  LayerPricer twice(twice_as_slow, cluster);
  const LayerType& layer = model.types[model.layers[1].type];
  for (const Operator& op : layer.operators) {
    const OperatorTime a = once.time(layer, op, Precision::bf16);
    const OperatorTime b = twice.time(layer, op, Precision::bf16);
    EXPECT_EQ(b.forward.value, 2 * a.forward.value) << op.name;
    EXPECT_EQ(b.backward().value, 2 * a.backward().value) << op.name;
  }
}

}  // namespace
}  // namespace nest::price
