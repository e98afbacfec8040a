#include "nest/solve/ask/search.hpp"

#include <gtest/gtest.h>

#include <map>

#include "nest/base/error.hpp"
#include "nest/plan/test_example.hpp"
#include "nest/solve/ask/test_prove.hpp"
#include "nest/solve/tree/configuration.hpp"
#include "nest/solve/tree/test_problem.hpp"
#include "nest/solve/twin/test_plain_space.hpp"
#include "support/stride.hpp"

namespace nest::solve {
namespace {

using test::Instance;
const Training& kTraining = test::kExampleTraining;
using test::plain_space;

SearchResult search_of(const Instance& instance, const SearchOptions& options) {
  return ask({instance.inputs, instance.training, instance.space, options});
}

// Of the twin; none where nothing is feasible.
std::optional<double> best_of(const Instance& instance) {
  const BruteForceResult all =
      brute_force(instance.inputs, instance.training, instance.space, instance.options, 100'000);
  return all.step ? std::optional(all.step->value) : std::nullopt;
}

// An instance whose answer is the fastest plan.
Instance step_instance(unsigned seed, std::int64_t most_plans) {
  Instance instance = test::random_instance(seed, most_plans);
  instance.options.objective = Objective::step_time;
  return instance;
}

PlanInputs with_memory(PlanInputs inputs, Bytes memory) {
  ClusterParts parts = inputs.cluster.parts();
  parts.accelerator.memory = memory;
  inputs.cluster = Cluster(std::move(parts));
  return inputs;
}

TEST(Search, FindsTheBestOfTheExample) {
  const SearchResult found = ask({test::example_inputs(), kTraining, plain_space()});
  EXPECT_EQ(found.status, PlanStatus::optimal);
  ASSERT_FALSE(found.plans.empty());
  const Plan& plan = found.plans.front();
  ASSERT_TRUE(plan.predicted && plan.placed());
  EXPECT_NEAR(plan.predicted->step.value, 54.002e-3, 1e-12);  // two copies in a node, two devices idle
  EXPECT_EQ(found.lower_bound, plan.predicted->step);
  EXPECT_EQ(plan.lower_bound, found.lower_bound);
  EXPECT_EQ(plan.status, PlanStatus::optimal);
  EXPECT_EQ(plan.parallelism.devices(), 2);
  EXPECT_EQ(plan.stages[0].devices, (std::vector<Cell>{{DeviceId{0}}, {DeviceId{1}}}));
  EXPECT_EQ(plan.stages[0].memory->total(), Bytes{1'500'000'000});
  EXPECT_NE(found.status, PlanStatus::disagreement) << found.reason;
}

// The rows of the example's table: pinned so far that each is the best there is.
TEST(Search, FindsTheRowsOfTheExample) {
  const auto step = [](std::int64_t pipeline, std::int64_t data, std::int64_t inner) {
    SearchSpace space = plain_space();
    space.pipeline = Choice(pipeline);
    space.data = Choice(data);
    space.data_inner = Choice(inner);
    const SearchResult found = ask({test::example_inputs(), kTraining, space});
    return found.plans.empty() ? 0.0 : found.plans.front().predicted->step.value * 1e3;
  };
  EXPECT_NEAR(step(2, 2, 1), 78.515, 1e-9);
  EXPECT_NEAR(step(2, 2, 2), 65.027, 1e-9);
  EXPECT_NEAR(step(1, 4, 4), 60.012, 1e-9);
  EXPECT_NEAR(step(3, 1, 1), 100.053, 1e-9);
}

// The sequence of a profile is its own where nothing is said.
TEST(Search, TakesTheModelsSequence) {
  Asked asked{.choices = plain_space()};
  asked.global_batch = kTraining.global_batch;
  const SearchResult found = search(test::example_inputs(), asked);
  ASSERT_FALSE(found.plans.empty());
  EXPECT_EQ(found.plans.front().training.sequence, 512);
}

TEST(Search, RefusesPruningsThatThereAreNot) {
  SearchOptions options;
  options.without = {"dive", "magic"};
  try {
    (void)ask({test::example_inputs(), kTraining, plain_space(), options});
    FAIL() << "no error";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("there is no pruning 'magic'"), std::string::npos);
  }
}

// A limit that is reached at once: what the first dive found, with what is known of the rest; or nothing.
TEST(Search, NoWorkAtAll) {
  int limits = 0;
  int feasible = 0;
  for (unsigned seed = 50'001; seed < 50'001 + 150; seed += test::stride()) {
    const Instance instance = step_instance(seed, 300);
    const auto best = best_of(instance);
    SearchOptions options = instance.options;
    options.work_limit = 0;
    if (seed % 2 == 0) options.without = {"dive"};
    const SearchResult found = search_of(instance, options);
    ASSERT_NE(found.status, PlanStatus::disagreement) << found.reason << instance.text;
    ASSERT_EQ(found.plans.empty(),
              found.status == PlanStatus::limit || found.status == PlanStatus::infeasible)
        << instance.text;
    if (found.status == PlanStatus::infeasible) {
      ASSERT_FALSE(best) << instance.text;
      continue;
    }
    limits += found.status == PlanStatus::limit ? 1 : 0;
    feasible += found.status == PlanStatus::feasible ? 1 : 0;
    if (!best) continue;
    EXPECT_LE(found.lower_bound.value, *best * (1 + 1e-9)) << instance.text;
    if (found.status == PlanStatus::limit) {
      EXPECT_NE(found.reason, "") << instance.text;
      continue;
    }
    EXPECT_GE(found.plans.front().predicted->step.value, *best * (1 - 1e-9)) << instance.text;
    EXPECT_EQ(found.plans.front().status, found.status);
    ASSERT_FALSE(HasFailure()) << instance.text;
  }
  EXPECT_GT(test::often(limits), 20);
  EXPECT_EQ(feasible, 0);
}

// Whatever the limit, the bound is one, the plan is a plan, and "optimal" is true.
TEST(Search, ALimitNeverLies) {
  std::map<PlanStatus, int> seen;
  for (unsigned seed = 51'001; seed < 51'001 + 150; seed += test::stride()) {
    const Instance instance = step_instance(seed, 1000);
    const auto best = best_of(instance);
    for (const std::int64_t limit : {10, 300, 3000}) {
      SearchOptions options = instance.options;
      options.work_limit = limit;
      const SearchResult found = search_of(instance, options);
      ++seen[found.status];
      ASSERT_NE(found.status, PlanStatus::disagreement) << found.reason << instance.text;
      if (!best) {
        ASSERT_TRUE(found.plans.empty()) << instance.text;
        continue;
      }
      ASSERT_NE(found.status, PlanStatus::infeasible) << instance.text;
      ASSERT_LE(found.lower_bound.value, *best * (1 + 1e-9)) << "limit " << limit << "\n" << instance.text;
      if (found.status != PlanStatus::optimal) continue;
      ASSERT_NEAR(found.plans.front().predicted->step.value, *best, 1e-9 * *best) << instance.text;
    }
  }
  EXPECT_GT(test::often(seen[PlanStatus::feasible]), 20);
  EXPECT_GT(test::often(seen[PlanStatus::optimal]), 20);
}

std::string everything(const SearchResult& found, const PlanInputs& inputs) {
  std::string text = std::string(name_of(found.status)) + " " + std::to_string(found.lower_bound.value) +
                     " " + std::to_string(found.stats.work) + " " + std::to_string(found.stats.fills) + " " +
                     found.reason;
  for (const Plan& plan : found.plans) text += "\n" + to_json(plan_value(plan, inputs));
  return text;
}

TEST(Search, ALimitOfWorkIsTheSameForAllThreads) {
  for (unsigned seed = 52'001; seed < 52'001 + 60; seed += test::stride()) {
    const Instance instance = test::random_instance(seed, 5'000);
    for (const std::int64_t limit : {50, 2000}) {
      SearchOptions options = instance.options;
      options.work_limit = limit;
      options.top = seed % 3 == 0 ? 3 : 1;
      const auto text = [&](int threads) {
        options.threads = threads;
        return everything(search_of(instance, options), instance.inputs);
      };
      const std::string one = text(1);
      ASSERT_EQ(text(2), one) << instance.text;
      ASSERT_EQ(text(3), one) << instance.text;
    }
  }
}

TEST(Search, AGapIsKept) {
  int left_out = 0;
  for (unsigned seed = 54'001; seed < 54'001 + 200; seed += test::stride()) {
    const Instance instance = step_instance(seed, 1000);
    const auto best = best_of(instance);
    for (const double gap : {0.02, 0.3}) {
      SearchOptions options = instance.options;
      options.gap = gap;
      const SearchResult found = search_of(instance, options);
      ASSERT_EQ(found.status == PlanStatus::infeasible, !best) << instance.text;
      if (!best) continue;
      const double step = found.plans.front().predicted->step.value;
      EXPECT_LE(found.lower_bound.value, *best * (1 + 1e-9)) << "gap " << gap << "\n" << instance.text;
      EXPECT_LE(step, (1 + gap) * found.lower_bound.value * (1 + 1e-9)) << instance.text;
      if (found.status == PlanStatus::optimal) {
        EXPECT_NEAR(step, *best, 1e-9 * *best) << instance.text;
      } else {
        ++left_out;
      }
      ASSERT_FALSE(HasFailure());
    }
  }
  EXPECT_GT(test::often(left_out), 10);
}

TEST(Search, TheTopPlansAreTheTwinsByDegrees) {
  for (unsigned seed = 55'001; seed < 55'001 + 200; seed += test::stride()) {
    const Instance instance = step_instance(seed, 1000);
    std::vector<double> twin;
    for (const auto& [degrees, fastest] : test::fastest_by(instance, degree_key))
      twin.push_back(fastest.step.value);
    std::sort(twin.begin(), twin.end());
    for (const int top : {2, 5}) {
      SearchOptions options = instance.options;
      options.top = top;
      const SearchResult found = search_of(instance, options);
      ASSERT_NE(found.status, PlanStatus::disagreement) << found.reason << instance.text;
      ASSERT_EQ(found.plans.size(), std::min(twin.size(), static_cast<std::size_t>(top))) << instance.text;
      std::set<std::vector<std::int64_t>> seen;
      for (std::size_t i = 0; i < found.plans.size(); ++i) {
        ASSERT_NEAR(found.plans[i].predicted->step.value, twin[i], 1e-9 * twin[i]) << "plan " << i << "\n"
                                                                                   << instance.text;
        ASSERT_TRUE(seen.insert(degree_key(found.plans[i])).second) << instance.text;
        ASSERT_EQ(test::problem_of(found.plans[i], instance), "") << instance.text;
      }
    }
  }
}

TEST(Search, RunnersUpComeInOrder) {
  SearchOptions options;
  options.runners_up = 3;
  const SearchResult found = ask({test::example_inputs(), kTraining, plain_space(), options});
  ASSERT_GT(found.plans.size(), 1U);
  std::set<std::vector<std::int64_t>> seen;
  for (std::size_t i = 0; i < found.plans.size(); ++i) {
    EXPECT_TRUE(seen.insert(degree_key(found.plans[i])).second);
    EXPECT_GE(found.plans[i].predicted->step, found.plans[i == 0 ? 0 : i - 1].predicted->step);
    EXPECT_EQ(found.plans[i].status, i == 0 ? PlanStatus::optimal : PlanStatus::feasible);
  }
}

// A target that the fastest plan just reaches, to the last digit.
TEST(Search, ReachesWhatAPlanReaches) {
  for (unsigned seed = 58'001; seed < 58'001 + 100; seed += test::stride()) {
    Instance instance = step_instance(seed, 300);
    const BruteForceResult all =
        brute_force(instance.inputs, instance.training, instance.space, instance.options, 300);
    if (!all.best) continue;
    instance.options.objective = Objective::devices;
    instance.options.target_tokens_per_s = all.best->predicted->tokens_per_s;
    ASSERT_EQ(test::difference(instance, 300), "") << instance.text;
  }
}

TEST(Search, FewestDevicesForATarget) {
  for (unsigned seed = 56'001; seed < 56'001 + 200; seed += test::stride()) {
    Instance instance = test::random_instance(seed, 500);
    if (instance.options.objective != Objective::devices) {
      test::Dice dice(seed);
      instance.options.objective = Objective::devices;
      instance.options.target_tokens_per_s = test::random_target(dice, instance);
    }
    ASSERT_EQ(test::difference(instance, 500), "") << instance.text;
    instance.options.gap = 0.1;  // of steps: there are no fewer devices than the fewest
    ASSERT_EQ(test::difference(instance, 500), "") << "with a gap\n" << instance.text;
  }
}

// The least memory that the fullest device of a plan needs, over all plans of the twin; 0 without plans.
Bytes least_need(const Instance& instance) {
  Pricer pricer(instance.inputs);
  PricedPlan priced;
  Bytes least;
  for_each_plan(instance.inputs, instance.training, instance.space, [&](const Plan& plan) {
    pricer.price(plan, priced);
    if (priced.status == PriceStatus::invalid) return true;
    Bytes most;
    for (const StageCost& stage : priced.stages) most = std::max(most, stage.memory.total());
    if (least.value == 0 || most < least) least = most;
    return true;
  });
  return least;
}

// One byte too few is not enough, and the search says how much would be: exactly, where places and shards are
// open and experts lie with the rest, and never too much. Interleaved stages apart, which are no neighbouring
// layers.
TEST(Search, SaysHowMuchMemoryWouldDo) {
  int exact = 0;
  for (unsigned seed = 57'001; seed < 57'001 + 200; seed += test::stride()) {
    Instance instance = step_instance(seed, 300);
    SearchSpace& space = instance.space;
    space.schedules = {Schedule::one_f_one_b};
    space.interleave = Choice(1);
    const bool open = seed % 2 == 0 && !space.mixed && instance.inputs.profile() != nullptr;
    if (open) {
      space.block_devices = space.data_inner = space.zero_shards = space.expert_tensor = {};
      space.expert = Choice(1);
      space.rules = nullptr;
      space.same_recompute = false;
    }
    if (count_plans(instance.inputs, instance.training, space, 3000) > 3000) continue;
    instance.options.memory_margin = 0;
    const Bytes need = least_need(instance);
    if (need.value == 0) continue;
    instance.inputs = with_memory(std::move(instance.inputs), need - Bytes{1});
    const SearchResult found = search_of(instance, instance.options);
    ASSERT_EQ(found.status, PlanStatus::infeasible) << instance.text;
    ASSERT_TRUE(found.plans.empty());
    ASSERT_LE(found.least_memory, need) << instance.text;
    if (open) {
      ++exact;
      ASSERT_EQ(found.least_memory, need) << instance.text;
      ASSERT_NE(found.reason.find("the fullest device of every plan needs"), std::string::npos);
    }
    instance.inputs = with_memory(std::move(instance.inputs), need);
    ASSERT_EQ(search_of(instance, instance.options).status, PlanStatus::optimal) << instance.text;
  }
  EXPECT_GT(test::often(exact), 30);
}

// Three stages of one layer: weights and gradients 400 MB, and three stashes of 100 MB in the first.
TEST(Search, SaysWhatTheExampleWouldNeed) {
  const PlanInputs small = with_memory(test::example_inputs(), Bytes{100'000'000});
  const SearchResult found = ask({small, kTraining, plain_space()});
  EXPECT_EQ(found.status, PlanStatus::infeasible);
  EXPECT_EQ(found.least_memory, Bytes{700'000'000});
  EXPECT_EQ(found.reason, "the fullest device of every plan needs 668 MiB or more, a device has 95.4 MiB");
}

TEST(Search, SaysWhatElseStoodInTheWay) {
  const auto reason = [](const SearchSpace& space, const SearchOptions& options = {}) {
    const SearchResult found = ask({test::example_inputs(), kTraining, space, options});
    EXPECT_EQ(found.status, PlanStatus::infeasible);
    EXPECT_TRUE(found.plans.empty());
    return found.reason;
  };
  SearchSpace space = plain_space();
  space.data = Choice(3);  // of a batch of 8
  EXPECT_EQ(reason(space), "no combination of the degrees fits the batch, the layers and the devices");
  SearchOptions options;
  options.objective = Objective::devices;
  options.target_tokens_per_s = 1e12;
  EXPECT_EQ(reason(plain_space(), options), "no plan of the space is valid, or reaches the target");
  Warnings warnings;
  Asked asked{.choices = plain_space()};
  asked.choices.tensor = Choice(3);
  EXPECT_EQ(search(load_inputs("llama2-7b", "h100-spine-leaf", "plain", warnings), asked).reason,
            "tensor 3 does not divide the 32 attention heads of layer");
}

}  // namespace
}  // namespace nest::solve
