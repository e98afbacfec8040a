#include "nest/cluster/imports/build.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/message_of.hpp"

namespace nest::cluster {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

TierFacts tier(const char* name, LevelKind kind = LevelKind::switched) {
  TierFacts out;
  out.name = name;
  out.kind = kind;
  return out;
}

// Hosts by the domains of their tiers.
ImportFacts facts_of(std::vector<TierFacts> tiers, const std::vector<std::vector<std::string>>& domains) {
  ImportFacts facts;
  facts.name = "c";
  facts.tiers = std::move(tiers);
  for (std::size_t h = 0; h < domains.size(); ++h) {
    HostFacts& host = facts.host("n" + std::to_string(h), "net", static_cast<int>(h) + 1);
    host.domains = domains[h];
    host.devices = 2;
    host.chip = "h100";
  }
  return facts;
}

TEST(BuildCluster, TiersBecomeLevels) {
  const ImportedCluster got = build_cluster(
      facts_of({tier("leaf"), tier("spine")}, {{"a", "s"}, {"b", "s"}, {"a", "s"}, {"c", "t"}}), {});
  ASSERT_EQ(got.cluster.levels().size(), 4U);
  EXPECT_THAT(got.cluster.level(LevelId{1}).fan_out.sizes, ElementsAre(2, 1, 1));
  EXPECT_THAT(got.cluster.level(LevelId{2}).fan_out.sizes, ElementsAre(2, 1));
  EXPECT_EQ(got.cluster.level(LevelId{3}).name, "network");
  EXPECT_EQ(got.cluster.parts().device_names[2], "n2/gpu0");
  EXPECT_THAT(got.notes.assumed, Contains(HasSubstr("one more tier joins the 2 domains of 'spine'")));
  EXPECT_DOUBLE_EQ(got.cluster.level(LevelId{3}).latency.value, 9e-6);
}

TEST(BuildCluster, TiersThatJoinNothingAreLeftOut) {
  const ImportedCluster got = build_cluster(
      facts_of({tier("leaf"), tier("spine"), tier("core")}, {{"a", "s", "x"}, {"b", "s", "x"}}), {});
  ASSERT_EQ(got.cluster.levels().size(), 2U);
  EXPECT_EQ(got.cluster.level(LevelId{1}).name, "spine");
}

TEST(BuildCluster, ATierThatCutsAcrossIsLeftOut) {
  const ImportedCluster got = build_cluster(
      facts_of({tier("leaf"), tier("row")}, {{"a", "x"}, {"a", "y"}, {"b", "x"}, {"b", "y"}}), {});
  EXPECT_THAT(got.notes.left_out, ElementsAre("the tier 'row': it cuts across the domains inside it"));
  EXPECT_EQ(got.cluster.level(LevelId{2}).name, "network");
}

TEST(BuildCluster, FiguresOfTiers) {
  ImportFacts facts = facts_of({tier("leaf"), tier("world")}, {{"a", "x"}, {"a", "x"}, {"b", "x"}});
  facts.tiers[0].host_bandwidth = BytesPerSecond{100e9};
  facts.tiers[1].latency = Seconds{30e-3};
  facts.tiers[1].oversubscription = 3;
  facts.tiers[1].oversubscription_known = true;
  const ImportedCluster got = build_cluster(facts, {});
  EXPECT_DOUBLE_EQ(got.cluster.level(LevelId{1}).bandwidth.value, 50e9);
  EXPECT_DOUBLE_EQ(got.cluster.level(LevelId{2}).latency.value, 0.03);
  EXPECT_DOUBLE_EQ(got.cluster.level(LevelId{2}).oversubscription, 3);
}

TEST(BuildCluster, ATorusNeedsAllOfItsHosts) {
  ImportFacts facts = facts_of({tier("torus", LevelKind::torus)}, {{"t"}, {"t"}, {"t"}, {"t"}});
  facts.tiers[0].dims = {2, 2};
  EXPECT_EQ(build_cluster(facts, {}).cluster.level(LevelId{1}).kind, LevelKind::torus);
  ImportFacts drained = facts;
  drained.hosts[2].out = "drained";
  EXPECT_EQ(message_of([&] { static_cast<void>(build_cluster(drained, {})); }).substr(0, 47),
            "absent: the torus 'torus' would have a hole; me");
  EXPECT_EQ(
      message_of([&] {
        static_cast<void>(build_cluster(
            facts, {.name = "", .accelerator = "", .count = {}, .only = "n[0-2]", .with_drained = false}));
      }),
      "the torus 'torus' has 4 places, but 3 hosts; all of its hosts are needed: a torus has no holes");
}

TEST(BuildCluster, HostsOutOfServiceKeepTheirPlaces) {
  ImportFacts facts = facts_of({tier("leaf")}, {{"a"}, {"a"}, {"b"}, {"b"}});
  facts.hosts[1].out = "drained";
  facts.hosts[3].out = "down";
  const ImportedCluster got = build_cluster(facts, {});
  EXPECT_THAT(got.cluster.parts().absences.entries, ElementsAre("n1", "n3"));
  EXPECT_EQ(got.cluster.devices(), 4);
  EXPECT_THAT(got.notes.left_out, ElementsAre("1 host (n3): down", "1 host (n1): drained"));
  ImportOptions with;
  with.with_drained = true;
  EXPECT_EQ(build_cluster(facts, with).cluster.devices(), 8);
  for (HostFacts& host : facts.hosts) host.out = "down";
  EXPECT_EQ(message_of([&] { static_cast<void>(build_cluster(facts, {})); }),
            "net: every host is out of service: down; --with-drained takes them as if they were not");
}

TEST(BuildCluster, HostsThatNobodyNames) {
  ImportFacts facts;
  facts.node = NodeFacts{.source = "x", .accelerator = "h100-sxm", .devices = 8};
  ImportOptions options;
  options.count = 3;
  const ImportedCluster got = build_cluster(facts, options);
  EXPECT_EQ(got.cluster.devices(), 24);
  EXPECT_TRUE(got.cluster.parts().device_names.empty());
  options.count = 1 << 20;
  EXPECT_EQ(message_of([&] { static_cast<void>(build_cluster(facts, options)); }),
            "--count: 1,048,576 is outside 1 to 131,072");
}

TEST(BuildCluster, TooManyDevices) {
  ImportFacts facts = facts_of({}, std::vector<std::vector<std::string>>(2000));
  for (HostFacts& host : facts.hosts) host.devices = 1024;
  EXPECT_EQ(message_of([&] { static_cast<void>(build_cluster(facts, {})); }),
            "net: 2,000 hosts with 2,048,000 accelerators are more than are read: 131,072 and 1,048,576");
}

}  // namespace
}  // namespace nest::cluster
