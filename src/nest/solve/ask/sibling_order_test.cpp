// Plans do not depend on the order in which a cluster file lists equal siblings (cluster/sibling_order.hpp).
#include <gtest/gtest.h>

#include <random>

#include "nest/cluster/test_shuffle.hpp"
#include "nest/solve/ask/test_prove.hpp"
#include "support/stride.hpp"

namespace nest::solve {
namespace {

using test::Instance;

Instance with_cluster(Instance instance, Cluster cluster) {
  instance.inputs.cluster = std::move(cluster);
  return instance;
}

TEST(SiblingOrder, ChangesNoOptimum) {
  int looked_at = 0;
  for (unsigned seed = 1; looked_at < static_cast<int>(test::fewer(120)); ++seed) {
    const Instance instance = test::random_instance(seed, 300);
    std::mt19937_64 random(seed);
    const Instance other = with_cluster(instance, test::shuffled(instance.inputs.cluster, random));
    if (other.inputs.cluster.levels() == instance.inputs.cluster.levels()) continue;
    ++looked_at;
    SCOPED_TRACE(instance.text + "\n" + other.text);
    const SearchResult a = ask({instance.inputs, instance.training, instance.space, instance.options});
    const SearchResult b = ask({other.inputs, other.training, other.space, other.options});
    ASSERT_EQ(a.status, b.status);
    ASSERT_EQ(a.plans.empty(), b.plans.empty());
    if (a.plans.empty()) continue;
    ASSERT_EQ(a.plans.front().predicted->step, b.plans.front().predicted->step);
    // The plan names the file's own devices: priced by them, and placed anew, it costs the same.
    ASSERT_EQ(test::problem_of(b.plans.front(), other), "");
  }
}

}  // namespace
}  // namespace nest::solve
