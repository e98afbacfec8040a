#include "nest/solve/table/variant_search.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "nest/plan/rules/interleaved_splits.hpp"
#include "nest/solve/ask/test_tight_instances.hpp"
#include "nest/solve/tree/test_fill.hpp"
#include "support/stride.hpp"

namespace nest::solve {
namespace {

using test::FillCase;
using test::Instance;

constexpr double kInfinite = std::numeric_limits<double>::infinity();

// The stages of one split of a random configuration that interleaves, with a memory that some variants fit.
class Stages {
 public:
  explicit Stages(FillCase& c, test::Dice& dice)
      : ties_(c.problem.ties(c.configuration).front()),
        network_(c.network(ties_)),
        options_(c.options(network_)),
        splits_(
            interleaved_splits(c.graph(), c.plan().parallelism.pipeline, c.plan().parallelism.interleave)),
        contents_(c.graph(), *c.problem.batch(c.configuration).sets) {
    const Plan& plan = c.plan();
    const auto p = static_cast<std::size_t>(plan.parallelism.pipeline);
    shape.stages = plan.parallelism.pipeline;
    shape.micro_batches = plan.training.micro_batches;
    shape.chunks = plan.parallelism.interleave;
    const auto last = static_cast<std::int64_t>(splits_.size()) - 1;
    const auto& numbers =
        contents_.of_split(splits_[static_cast<std::size_t>(dice.pick(0, last))], shape.schedule, p);
    variants_.reserve(p);
    for (std::size_t i = 0; i < p; ++i) {
      const Place& place = options_.places()[i];
      const bool end = i + 1 == p;
      variants_.emplace_back(options_.setting(), place,
                             InterleavedPlace{i, i == 0 ? &network_.wrap : &place.network->from_previous,
                                              end ? &network_.wrap : &place.network->from_next, i == 0, end},
                             contents_.at(numbers[i]));
      all.push_back(&variants_.back());
    }
    std::vector<Bytes> needs;
    for (std::size_t i = 0; i < p; ++i) {
      all[i]->complete();
      for (StageVariant& variant : all[i]->all())
        needs.push_back(all[i]->need(variant, static_cast<std::int64_t>(i)));
    }
    shape.capacity = dice.one_of(needs);
  }

  [[nodiscard]] bool ordered() const { return options_.ordered(); }

  InterleavedQuestion shape;
  std::vector<StageVariants*> all;

 private:
  TieQuestion ties_;
  PlanNetwork network_;
  StageOptions options_;
  std::vector<std::vector<std::int32_t>> splits_;
  StageContents contents_;
  std::vector<StageVariants> variants_;
};

template <class Look>
void for_stages(unsigned first, unsigned count, Look look) {
  unsigned looked_at = 0;
  for (unsigned seed = first; looked_at < test::fewer(count); ++seed) {
    ASSERT_LT(seed, first + 50U * static_cast<unsigned>(count)) << "hardly any instance interleaves";
    const Instance instance = test::tight_instance(seed, 500);
    test::Dice dice(seed);
    const auto plan =
        test::some_plan(dice, instance, [](const Plan& p) { return p.parallelism.interleave > 1; });
    if (!plan) continue;
    ++looked_at;
    FillCase c(instance, *plan);
    Stages stages(c, dice);
    look(stages);
    ASSERT_FALSE(testing::Test::HasFailure()) << "tight seed " << seed << "\n" << test::text_of(instance);
  }
}

struct Found {
  std::optional<VariantSearch::Best> best;
  FillCounts counts;
};

Found best_of(Stages& stages, bool order, double threshold = kInfinite, double below = kInfinite) {
  Found found;
  Prunings prunings;
  prunings.option_order = order;
  VariantSearch search(stages.shape, prunings, stages.ordered(), found.counts);
  found.best = search.best(stages.all, threshold, below);
  return found;
}

TEST(VariantSearch, FindsTheBestOfAllCombinations) {
  int with_choice = 0;
  for_stages(70'001, 60, [&](Stages& stages) {
    const Found all = best_of(stages, false);
    const Found found = best_of(stages, true);
    if (all.counts.cut_short > 0) return;
    ASSERT_EQ(found.best.has_value(), all.best.has_value());
    EXPECT_EQ(found.counts.cut_short, 0);
    if (!all.best) return;
    EXPECT_NEAR(found.best->step, all.best->step, 1e-9 * all.best->step);
    with_choice += found.best->variants != std::vector<std::size_t>(stages.all.size(), 0) ? 1 : 0;
  });
  EXPECT_GT(test::often(with_choice), 10) << "recomputation is hardly ever needed";
}

TEST(VariantSearch, LimitsChangeNothingBelowThem) {
  for_stages(71'001, 40, [](Stages& stages) {
    const Found found = best_of(stages, true);
    if (!found.best) return;
    const double step = found.best->step;
    const Found again = best_of(stages, true, step * (1 + 1e-9), step * (1 + 1e-9));
    ASSERT_TRUE(again.best);
    EXPECT_NEAR(again.best->step, step, 1e-9 * step);
    EXPECT_FALSE(best_of(stages, true, kInfinite, step * (1 - 1e-9)).best);
    EXPECT_FALSE(best_of(stages, true, step * (1 - 1e-9)).best);
  });
}

TEST(VariantSearch, ABoundIsNeverAbove) {
  int near = 0;
  for_stages(72'001, 40, [&](Stages& stages) {
    FillCounts counts;
    InterleavedQuestion shape = stages.shape;
    shape.bound = true;
    const auto bound = VariantSearch(shape, {}, stages.ordered(), counts).bound(stages.all);
    const Found found = best_of(stages, true);
    ASSERT_EQ(bound.has_value(), found.best.has_value());
    if (!bound) return;
    EXPECT_LE(*bound, found.best->step * (1 + 1e-12));
    near += *bound > 0.5 * found.best->step ? 1 : 0;
  });
  EXPECT_GT(test::often(near), 5);
}

}  // namespace
}  // namespace nest::solve
