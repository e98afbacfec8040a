#include "nest/estimate/collectives/token_exchange.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "nest/cluster/catalog.hpp"
#include "nest/estimate/collectives/fabric.hpp"

namespace nest::estimate {
namespace {

GroupShape first(const Cluster& cluster, std::int32_t devices) {
  std::vector<DeviceId> ids;
  for (std::int32_t i = 0; i < devices; ++i) ids.emplace_back(i);
  return group_shape(cluster, ids);
}

TokenRoute deepseek(bool back = false) {
  return {.dispatcher = Dispatcher::deepep,
          .experts = 256,
          .top_k = 8,
          .groups = 8,
          .limit = 4,
          .token_bytes = 2 * 7168,
          .back = back};
}

const Bytes kRows{4096LL * 8 * 7168 * 2};

// Ideal links: the distinct devices of a token, less the sender's own share, over the link's bandwidth.
TEST(TokenExchange, IdealLinksCarryEachTokenOnceToADevice) {
  const Cluster cluster = catalog_cluster("h100-spine-leaf");
  const CollectiveModel ideal(cluster, ideal_constants(cluster));
  TokenRoute route{.dispatcher = Dispatcher::deepep, .experts = 256, .top_k = 8, .token_bytes = 2 * 7168};
  const ExchangeCost cost = exchange_cost(route, kRows, first(cluster, 8), ideal);
  EXPECT_NEAR(cost.total.value, 4096 * 7168 * 2 * 5.295 * 7 / 8 / 450e9 + 1e-6, 1e-6);
}

TEST(TokenExchange, LimitedRoutingSendsLessOverTheNetwork) {
  const Cluster cluster = catalog_cluster("h100-spine-leaf");
  const CollectiveModel model(cluster, fabric_constants(cluster));
  TokenRoute free = deepseek();
  free.groups = free.limit = 0;
  const GroupShape shape = first(cluster, 64);
  const double limited = exchange_cost(deepseek(), kRows, shape, model).network.value;
  const double all = exchange_cost(free, kRows, shape, model).network.value;
  EXPECT_LT(limited, 0.8 * all);  // 3.98 nodes in place of 5.3
  // A plain all-to-all sends every copy.
  EXPECT_LT(all, collective_time(CollectiveKind::all_to_all, kRows, shape, model).value);
}

TEST(TokenExchange, EightBitsHalveTheWayOutOnly) {
  const Cluster cluster = catalog_cluster("h100-spine-leaf");
  const CollectiveModel model(cluster, fabric_constants(cluster));
  const GroupShape shape = first(cluster, 64);
  TokenRoute low = deepseek();
  low.low = true;
  EXPECT_NEAR(exchange_cost(low, kRows, shape, model).network.value /
                  exchange_cost(deepseek(), kRows, shape, model).network.value,
              (1 + 4.0 / 128) / 2, 1e-9);
  TokenRoute back = deepseek(true);
  const double sixteen = exchange_cost(back, kRows, shape, model).total.value;
  back.low = true;
  EXPECT_EQ(exchange_cost(back, kRows, shape, model).total.value, sixteen);
}

TEST(TokenExchange, NothingIsSentAlone) {
  const Cluster cluster = catalog_cluster("h100-spine-leaf");
  const CollectiveModel model(cluster, fabric_constants(cluster));
  EXPECT_EQ(exchange_cost(deepseek(), kRows, GroupShape{}, model).total.value, 0);
  EXPECT_EQ(exchange_cost(deepseek(), Bytes{0}, first(cluster, 8), model).total.value, 0);
  EXPECT_GT(exchange_sms(Dispatcher::deepep), exchange_sms(Dispatcher::hybridep));
}

}  // namespace
}  // namespace nest::estimate
