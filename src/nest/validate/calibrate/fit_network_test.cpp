#include "nest/validate/calibrate/fit_network.hpp"

#include <gtest/gtest.h>

#include "nest/cluster/catalog.hpp"
#include "nest/estimate/collectives/collective.hpp"
#include "support/message_of.hpp"

namespace nest::validate {
namespace {

// A test on a cluster as it would be with this calibration.
NamedTest measured(const Cluster& cluster, std::int32_t hosts, const Calibration& c) {
  Recipe recipe = named_recipe("megatron");
  Cluster moved = cluster;
  apply_calibration(c, recipe, moved);
  const CollectiveModel model(moved, fabric_constants(moved, recipe));
  NamedTest out{"n.txt", {CollectiveKind::all_reduce, 8 * hosts, hosts, {}}};
  std::vector<DeviceId> ids;
  for (std::int32_t i = 0; i < 8 * hosts; ++i) ids.emplace_back(i);
  const GroupShape shape = group_shape(cluster, ids);
  for (std::int64_t size = 1 << 10; size <= std::int64_t{1} << 30; size *= 4)
    out.test.rows.push_back({Bytes{size}, collective_time(out.test.kind, Bytes{size}, shape, model)});
  return out;
}

Calibration slow_rack() {
  Calibration c;
  c.levels.push_back({"rack", {0.25, 0.25, 0.25}, {}});
  return c;
}

TEST(FitNetwork, TheOutermostLevelOfATestIsMoved) {
  const Cluster cluster = catalog_cluster("h100-spine-leaf");
  const std::vector<NamedTest> tests{measured(cluster, 1, {}), measured(cluster, 2, slow_rack())};
  const NetworkFit fit = fit_network(cluster, named_recipe("megatron"), tests);
  ASSERT_EQ(fit.levels.size(), 1U) << fit.levels[0].bandwidth.value;  // the node is as shipped
  EXPECT_EQ(fit.levels[0].name, "rack");
  EXPECT_NEAR(fit.levels[0].bandwidth.value, 0.25, 0.05);
  EXPECT_EQ(fit.rows.size(), tests[0].test.rows.size() + tests[1].test.rows.size());
}

TEST(FitNetwork, TestsThatTheClusterCannotHaveRun) {
  const Cluster cluster = catalog_cluster("h100-spine-leaf");
  const auto message = [&](std::int32_t ranks, std::int32_t hosts) {
    const NamedTest test{"n.txt", {CollectiveKind::all_reduce, ranks, hosts, {{Bytes{1024}, Seconds{1e-5}}}}};
    return message_of([&] { static_cast<void>(fit_network(cluster, named_recipe("megatron"), {&test, 1})); });
  };
  EXPECT_EQ(
      message(4096, 512),
      "n.txt: the test has 4096 ranks, h100-spine-leaf has 1024 devices; give the cluster that was measured "
      "with --cluster");
  EXPECT_EQ(
      message(32, 2),
      "n.txt: 16 ranks ran on a host, a node of h100-spine-leaf has 8 devices; give the cluster that was "
      "measured with --cluster");
  EXPECT_EQ(message(9, 2),
            "n.txt: 9 ranks on 2 hosts: hosts have unequal numbers; give the cluster that was measured with "
            "--cluster");
}

}  // namespace
}  // namespace nest::validate
