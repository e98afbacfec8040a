#include "nest/estimate/collectives/fabric.hpp"

#include <gtest/gtest.h>

#include "nest/base/error.hpp"
#include "nest/cluster/catalog.hpp"

namespace nest::estimate {
namespace {

std::vector<std::string> names(const std::string& cluster) {
  std::vector<std::string> out;
  for (const Fabric& f : fabric_constants(catalog_cluster(cluster)).levels) out.push_back(f.name);
  return out;
}

using Names = std::vector<std::string>;

TEST(Fabric, EachLevelFindsItsOwn) {
  EXPECT_EQ(names("h100-spine-leaf"), (Names{"nvlink4", "infiniband", "infiniband"}));
  EXPECT_EQ(names("dgx-a100-superpod")[0], "nvlink3");
  EXPECT_EQ(names("aws-p5"), (Names{"nvlink4", "efa-p5"}));
  EXPECT_EQ(names("gb200-nvl72")[0], "nvlink5");
  EXPECT_EQ(names("tpu-v5p-256"), (Names{"ici"}));
  EXPECT_EQ(names("tpu-v5e-multislice"), (Names{"ici", "ethernet"}));
  EXPECT_EQ(names("pcie-workstation"), (Names{"pcie"}));
  EXPECT_EQ(names("mi300x-roce")[0], "infinity-fabric");
}

TEST(Fabric, EveryCataloguedClusterHasConstants) {
  for (const std::string& name : cluster_names()) {
    const Cluster c = catalog_cluster(name);
    const FabricConstants constants = fabric_constants(c);
    EXPECT_EQ(constants.levels.size(), c.levels().size()) << name;
    for (const Fabric& f : constants.levels) EXPECT_FALSE(f.source.empty()) << name;
  }
}

TEST(Fabric, ALevelMaySayWhatItIsMadeOf) {
  ClusterParts parts = catalog_cluster("h100-spine-leaf").parts();
  parts.levels[2].fabric = "tcpx";
  parts.levels[0].fabric = "nvlink5";
  const FabricConstants constants = fabric_constants(Cluster(parts));
  EXPECT_EQ(constants.levels[0].name, "nvlink5");
  EXPECT_EQ(constants.levels[1].name, "infiniband");
  EXPECT_EQ(constants.levels[2].name, "tcpx");
  parts.levels[2].fabric = "string";
  EXPECT_THROW(static_cast<void>(fabric_constants(Cluster(parts))), InputError);
}

TEST(Fabric, TheRecipeMayAskForIdealLinks) {
  const Cluster c = catalog_cluster("h100-spine-leaf");
  EXPECT_FALSE(fabric_constants(c, named_recipe("plain")).library);
  EXPECT_TRUE(fabric_constants(c, named_recipe("megatron")).library);
}

TEST(Fabric, IdealTakesNothingAway) {
  const Cluster c = catalog_cluster("h100-spine-leaf");
  const FabricConstants ideal = ideal_constants(c);
  EXPECT_FALSE(ideal.library);
  EXPECT_EQ(ideal.launch.value, 0);
  ASSERT_EQ(ideal.levels.size(), 3U);
  EXPECT_EQ(ideal.levels[0].efficiency, 1);
  EXPECT_EQ(ideal.levels[0].exchange_efficiency, 1);
  EXPECT_EQ(ideal.levels[0].ring_own + ideal.levels[0].exchange_own, 0);
  EXPECT_FALSE(ideal.levels[0].reduction_by_peers);
  EXPECT_EQ(ideal.levels[0].wide_step.value, 0);
}

TEST(Fabric, SharesAreShares) {
  for (const std::string& name : fabric_names()) {
    const Fabric& f = fabric(name);
    EXPECT_GE(f.wide_step, f.quick_step) << name;
    EXPECT_LE(f.reduction_efficiency, f.efficiency) << name;
  }
}

// A group of more members would else take less time than one of fewer: bounds of the search forbid it.
TEST(Fabric, OwnPartsAreNoLongerThanPartsThatAreSent) {
  for (const std::string& name : fabric_names()) {
    const Fabric& f = fabric(name);
    EXPECT_TRUE(f.ring_own >= 0 && f.ring_own <= 1) << name;
    EXPECT_TRUE(f.exchange_own >= 0 && f.exchange_own <= 1) << name;
    // Trees, which networks have, know no own part; where they are offered too it would not count.
    EXPECT_TRUE(!f.trees || f.ring_own == 0) << name;
  }
  EXPECT_GT(fabric("nvlink4").ring_own, 0);
  EXPECT_TRUE(fabric("nvlink4").reduction_by_peers);
  EXPECT_EQ(fabric("infiniband").exchange_efficiency, fabric("infiniband").efficiency);
}

TEST(Fabric, LinksWithOneProtocolHaveNoQuickerOne) {
  EXPECT_EQ(fabric("ici").quick_step, fabric("ici").wide_step);
  EXPECT_EQ(fabric("ici").quick_share, 1);
}

TEST(Fabric, UnknownNamesGetAGuess) {
  try {
    static_cast<void>(fabric("nvlnk4"));
    FAIL();
  } catch (const InputError& e) {
    EXPECT_STREQ(e.what(), "unknown fabric 'nvlnk4'; did you mean 'nvlink4'?");
  }
  const Cluster c = catalog_cluster("h100-spine-leaf");
  EXPECT_THROW(static_cast<void>(fabric_constants(c, Names{"nvlink4"})), InputError);
}

}  // namespace
}  // namespace nest::estimate
