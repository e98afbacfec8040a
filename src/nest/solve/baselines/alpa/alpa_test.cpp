#include "nest/solve/baselines/alpa/alpa.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "nest/base/document/document.hpp"
#include "nest/cluster/cluster_file.hpp"
#include "nest/solve/ask/search.hpp"
#include "nest/solve/ask/verify.hpp"
#include "nest/solve/twin/test_instances.hpp"
#include "support/stride.hpp"

namespace nest::solve {
namespace {

PlanQuestion question_of(const std::string& model, const std::string& cluster) {
  Warnings warnings;
  PlanQuestion question{load_inputs(model, cluster, "plain", warnings), {}, {}, {}};
  question.training.global_batch = 64;
  question.training.sequence = 2048;
  question.options.threads = 1;
  return question;
}

void set_cluster(PlanQuestion& question, const std::string& memory, const std::string& levels) {
  question.inputs.cluster = read_cluster(parse_yaml(
      "cluster", "name: c\naccelerator: {base: h100-sxm, memory: " + memory + "}\nlevels:\n" + levels));
}

constexpr const char* kNode = "  - {name: node, kind: switch, size: 8, bandwidth: 450 GB/s, latency: 1 us}\n";

TEST(Alpa, FindsAPlanOnOneDevice) {
  PlanQuestion question = question_of("gpt2-xl", "h100-spine-leaf");
  question.training.sequence = 1024;
  set_cluster(question, "80 GB",
              "  - {name: node, kind: switch, size: 1, bandwidth: 1 GB/s, latency: 1 us}\n");
  const BaselineResult found = find_alpa(question, {});
  ASSERT_EQ(found.status, PlanStatus::feasible) << found.reason;
  EXPECT_EQ(found.plan->parallelism.devices(), 1);
  EXPECT_FALSE(verify_plan(*found.plan, question.inputs));
  EXPECT_GT(found.believed->value, 0);
}

// With plenty of memory it takes its first choice. With little, that does not fit, and it goes on to the next
// ones; with next to none, none fits and the first is shown.
TEST(Alpa, LooksAtMemoryAfterwards) {
  PlanQuestion question = question_of("llama2-7b", "h100-spine-leaf");
  set_cluster(question, "1000 GB", kNode);
  const BaselineResult wide = find_alpa(question, {});
  ASSERT_EQ(wide.status, PlanStatus::feasible) << wide.reason;
  Bytes most;
  for (const Stage& stage : wide.plan->stages) most = std::max(most, stage.memory->total());

  set_cluster(question, std::to_string(most.value / 2), kNode);
  const BaselineResult narrow = find_alpa(question, {});
  ASSERT_EQ(narrow.status, PlanStatus::feasible) << narrow.reason;
  ASSERT_FALSE(narrow.notes.empty());
  EXPECT_NE(narrow.notes.front().find("its first choice"), std::string::npos) << narrow.notes.front();
  EXPECT_NE(narrow.notes.front().find(" over"), std::string::npos) << narrow.notes.front();
  EXPECT_GT(narrow.plan->predicted->step, wide.plan->predicted->step);

  set_cluster(question, "1 GB", kNode);
  const BaselineResult none = find_alpa(question, {});
  EXPECT_EQ(none.status, PlanStatus::infeasible);
  ASSERT_TRUE(none.plan);
  EXPECT_EQ(none.plan->parallelism, wide.plan->parallelism);
  EXPECT_NE(none.reason.find(" over"), std::string::npos) << none.reason;
}

// Nodes in a fast rack, racks on a slow spine. Alpa takes the spine for a rack and sums gradients over it;
// the search puts a boundary of the pipeline there.
TEST(Alpa, DoesNotKnowTheThirdLevel) {
  const std::string two =
      std::string(kNode) + "  - {name: rack, kind: switch, size: 2, bandwidth: 200 GB/s, latency: 5 us}\n";
  PlanQuestion question = question_of("llama2-7b", "h100-spine-leaf");
  set_cluster(question, "80 GB",
              two + "  - {name: spine, kind: switch, size: 2, bandwidth: 1 GB/s, latency: 20 us}\n");
  question.space.interleave = Choice(1);  // a smaller search
  const BaselineResult found = find_alpa(question, {});
  ASSERT_EQ(found.status, PlanStatus::feasible) << found.reason;
  const SearchResult best = ask(question);
  ASSERT_EQ(best.status, PlanStatus::optimal);
  EXPECT_GT(found.plan->predicted->step.value, 1.3 * best.plans.front().predicted->step.value);
  EXPECT_LT(found.believed->value, 0.8 * found.plan->predicted->step.value);
  EXPECT_NE(
      std::find(found.notes.begin(), found.notes.end(), "takes level spine and all above it for level rack"),
      found.notes.end());
  // Where there is no third level it does well.
  set_cluster(question, "80 GB", two);
  const BaselineResult known = find_alpa(question, {});
  const SearchResult then = ask(question);
  ASSERT_EQ(known.status, PlanStatus::feasible) << known.reason;
  EXPECT_LT(known.plan->predicted->step.value, 1.3 * then.plans.front().predicted->step.value);
}

TEST(Alpa, HonoursPins) {
  PlanQuestion question = question_of("llama2-7b", "h100-spine-leaf");
  set_cluster(question, "80 GB", kNode);
  question.space.tensor = Choice(2);
  question.space.pipeline = Choice(4);
  question.space.micro_batch = Choice(2);
  question.space.zero = Choice(3);
  question.space.recompute = {{RecomputePolicy::full, 0}};
  const BaselineResult found = find_alpa(question, {});
  ASSERT_EQ(found.status, PlanStatus::feasible) << found.reason;
  EXPECT_EQ(found.plan->parallelism.strategy.tensor, 2);
  EXPECT_EQ(found.plan->parallelism.pipeline, 4);
  EXPECT_EQ(found.plan->training.micro_batch, 2);
  EXPECT_EQ(found.plan->parallelism.zero.number(), 3);
  for (const Stage& stage : found.plan->stages) EXPECT_EQ(stage.recompute.policy, RecomputePolicy::full);
}

TEST(Alpa, IsNeverBetterThanTheOptimum) {
  int compared = 0;
  int planned = 0;
  for (unsigned seed = 1; seed <= 240; seed += test::stride()) {
    const test::Instance instance = test::random_instance(seed, 300);
    if (instance.options.objective != Objective::step_time) continue;
    const PlanQuestion question{instance.inputs, instance.training, instance.space, instance.options};
    const BaselineResult found = find_alpa(question, {});
    if (found.status != PlanStatus::feasible) {
      EXPECT_EQ(found.status, PlanStatus::infeasible) << instance.text;
      EXPECT_FALSE(found.reason.empty()) << instance.text;
      continue;
    }
    ++planned;
    const auto problem = verify_plan(*found.plan, instance.inputs, instance.options.price_options());
    ASSERT_FALSE(problem) << *problem << "\n" << instance.text;
    const SearchResult best = ask(question);
    ASSERT_EQ(best.status, PlanStatus::optimal) << instance.text;
    const double least = best.plans.front().predicted->step.value;
    ASSERT_GE(found.plan->predicted->step.value, least * (1 - kPriceTolerance)) << instance.text;
    ++compared;
  }
  EXPECT_GT(test::often(planned), 80);
  EXPECT_EQ(planned, compared);
}

}  // namespace
}  // namespace nest::solve
