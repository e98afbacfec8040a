// The search against its exhaustive twin on random instances. tools/prove does more of the same.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstdio>
#include <string>

#include "nest/solve/ask/search.hpp"
#include "nest/solve/ask/test_prove.hpp"
#include "nest/solve/ask/test_tight_instances.hpp"
#include "nest/solve/twin/test_states.hpp"
#include "support/stride.hpp"

namespace nest::solve {
namespace {

constexpr unsigned kSeedsOfShard = 50;
constexpr unsigned kShards = 40;
class Prove : public ::testing::TestWithParam<unsigned> {};

TEST_P(Prove, SearchFindsWhatTheTwinFinds) {
  for (unsigned seed = GetParam(); seed < GetParam() + kSeedsOfShard; seed += test::stride()) {
    const std::int64_t most = test::usual_most_plans(seed);
    test::Instance instance = test::random_instance(seed, most);
    test::draw_most_devices(seed, instance);
    test::draw_states(seed, test::most_with_states(most), instance);
    ASSERT_EQ(test::difference(instance, test::most_with_states(most)), "") << instance.text;
  }
}

std::string seed_name(const ::testing::TestParamInfo<unsigned>& info) {
  return "From" + std::to_string(info.param);
}

INSTANTIATE_TEST_SUITE_P(Seeds, Prove, ::testing::Range(1U, kShards* kSeedsOfShard, kSeedsOfShard),
                         seed_name);

// Where recomputation decides, and the next memory has another answer.
TEST(Prove, SearchFindsWhatTheTwinFindsInTightMemory) {
  for (unsigned seed = 2; seed < 202; seed += 4 * test::stride()) {
    test::tight_differences(seed, 1'000, 10, {}, [](const std::string& what) { ADD_FAILURE() << what; });
    ASSERT_FALSE(HasFailure());
  }
}

// Seeds in which the search was once wrong: levels of equal bandwidth whose fabrics are not equally efficient.
TEST(Prove, SearchFindsWhatItOnceMissed) {
  for (const unsigned seed : {1642U, 3448U, 7434U})
    test::tight_differences(seed, 4'000, 10, {}, [](const std::string& what) { ADD_FAILURE() << what; });
}

class Without : public ::testing::TestWithParam<std::string> {};

TEST_P(Without, APruningThatIsOffChangesNothing) {
  for (unsigned seed = 10'001; seed < 10'001 + 200; seed += test::stride()) {
    constexpr std::int64_t kMost = 500;
    test::Instance instance = test::random_instance(seed, kMost);
    instance.options.without = {GetParam()};
    ASSERT_EQ(test::difference(instance, kMost), "") << "without " << GetParam() << "\n" << instance.text;
  }
}

std::string pruning_name(const ::testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::replace_if(name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Prunings, Without, ::testing::ValuesIn(pruning_names()), pruning_name);

TEST(Prove, NoPruningAtAllChangesNothing) {
  for (unsigned seed = 20'001; seed < 20'001 + 200; seed += test::stride()) {
    constexpr std::int64_t kMost = 200;
    test::Instance instance = test::random_instance(seed, kMost);
    instance.options.without = pruning_names();
    ASSERT_EQ(test::difference(instance, kMost), "") << "without any pruning\n" << instance.text;
  }
}

// Schedules that are searched only where they are asked for. Instances that have no such plan, or too many of
// them, say nothing.
TEST(Prove, ZeroBubbleVFindsWhatTheTwinFinds) {
  constexpr std::int64_t kMost = 2000;
  int feasible = 0;
  for (unsigned seed = 40'001; seed < 40'001 + 400; seed += test::stride()) {
    test::Instance instance = test::random_instance(seed, kMost);
    SearchSpace& space = instance.space;
    space.schedules = {Schedule::zb_v};
    space.interleave = {};
    space.rules = nullptr;
    if (count_plans(instance.inputs, instance.training, space, kMost) > kMost) continue;
    ASSERT_EQ(test::difference(instance, kMost), "") << "zb-v\n" << instance.text;
    const SearchResult found = ask({instance.inputs, instance.training, space, instance.options});
    feasible += found.plans.empty() ? 0 : 1;
  }
  EXPECT_GT(feasible, 20 / static_cast<int>(test::stride()));
}

// With mixtures of experts, whose exchanges hide in pairs, and memories between the needs of the plans.
TEST(Prove, DualPipeVFindsWhatTheTwinFinds) {
  std::int64_t feasible = 0;
  std::int64_t searches = 0;
  std::int64_t in_pairs = 0;
  for (unsigned seed = 50'001; seed < 50'001 + 150; seed += test::stride()) {
    const test::TightCounts counts = test::tight_differences(
        seed, 1'000, 9, {}, [](const std::string& what) { ADD_FAILURE() << what; }, Schedule::dualpipe_v);
    ASSERT_FALSE(HasFailure());
    feasible += counts.feasible;
    searches += counts.searches;
    in_pairs += counts.in_pairs;
  }
  std::printf(
      "seeds from 50001: %lld searches with dualpipe-v, %lld with a plan, %lld that hides exchanges in "
      "pairs\n",
      static_cast<long long>(searches), static_cast<long long>(feasible), static_cast<long long>(in_pairs));
  EXPECT_GT(feasible, 800 / static_cast<std::int64_t>(test::stride()));
  EXPECT_GT(in_pairs, 100 / static_cast<std::int64_t>(test::stride()));
}

// The plan's own choices, byte for byte.
std::string plan_text(const test::Instance& instance, int threads) {
  SearchOptions options = instance.options;
  options.threads = threads;
  const SearchResult found = ask({instance.inputs, instance.training, instance.space, options});
  return found.plans.empty() ? "none" : to_json(plan_value(found.plans.front(), instance.inputs));
}

TEST(Prove, ThreadsDoNotMatter) {
  for (unsigned seed = 30'001; seed < 30'001 + 150; seed += test::stride()) {
    const test::Instance instance = test::random_instance(seed, 50'000);
    const std::string one = plan_text(instance, 1);
    ASSERT_EQ(plan_text(instance, 2), one) << "two threads\n" << instance.text;
    ASSERT_EQ(plan_text(instance, 3), one) << "three threads\n" << instance.text;
  }
}

}  // namespace
}  // namespace nest::solve
