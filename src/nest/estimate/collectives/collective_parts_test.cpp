#include "nest/estimate/collectives/collective_parts.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "nest/network/groups/group_pattern.hpp"

namespace nest::estimate {
namespace {

Cluster two_levels(std::int32_t node, double node_rate, std::int32_t rack, double rack_rate) {
  Level inner{.name = "node", .bandwidth = BytesPerSecond{node_rate}, .latency = Seconds{1e-6}};
  Level outer{.name = "rack", .bandwidth = BytesPerSecond{rack_rate}, .latency = Seconds{5e-6}};
  inner.fan_out.size = node;
  outer.fan_out.size = rack;
  return Cluster({.name = "test", .levels = {inner, outer}});
}

TEST(Parts, FlatRingOfTheExample) {
  const Cluster c = two_levels(2, 100e9, 2, 10e9);
  const CollectiveModel m(c, ideal_constants(c));
  const GroupShape four = pattern_shape(c, {DeviceId{0}, {{1, 4}}, {}});
  // 2*(3/4)*600e6/10e9 + 6*5 us
  EXPECT_NEAR(price_flat({CollectiveKind::all_reduce, 600e6, four, m}, nullptr).total(), 90.03e-3, 1e-12);
}

RC_GTEST_PROP(Parts, HierarchicalNeverWorseThanFlat, ()) {
  const std::int32_t n = *rc::gen::inRange(1, 9);
  const std::int32_t nodes = *rc::gen::inRange(2, 9);
  const double rate = *rc::gen::element(10e9, 50e9, 100e9);
  const Cluster c = two_levels(8, 100e9, 8, rate);
  const CollectiveModel m(c, ideal_constants(c));
  const GroupShape shape = pattern_shape(c, {DeviceId{0}, {{1, n}, {8, nodes}}, {}});
  const double bytes = *rc::gen::element(1e3, 1e6, 1e9);
  for (const auto kind :
       {CollectiveKind::all_reduce, CollectiveKind::reduce_scatter, CollectiveKind::all_gather}) {
    const CollectiveQuery q{kind, bytes, shape, m};
    RC_ASSERT(price_hierarchical(q, nullptr).total() <= price_flat(q, nullptr).total() * (1 + 1e-12));
  }
}

TEST(Parts, RingsAndTreesOfALibrary) {
  const Cluster c = two_levels(8, 450e9, 4, 50e9);
  FabricConstants constants = ideal_constants(c);
  constants.library = true;
  constants.launch = Seconds{20e-6};
  constants.levels[0].trees = false;
  const CollectiveModel m(c, constants);
  const GroupShape all = pattern_shape(c, {DeviceId{0}, {{1, 32}}, {}});
  const CollectiveQuery q{CollectiveKind::all_reduce, 1e9, all, m};
  // Eight rings: 2*31/32 of the bytes leave every node over its eight NICs; 2*28 steps inside, 2*3 across.
  const Parts rings = price_rings(q, Protocol::wide, nullptr);
  EXPECT_NEAR(rings.transfer, 2 * (31.0 / 32) * 1e9 / 400e9, 1e-12);
  EXPECT_NEAR(rings.latency, 56e-6 + 30e-6, 1e-12);
  EXPECT_DOUBLE_EQ(rings.launch, 20e-6);
  // Trees over four nodes: twice the bytes, 2*2 steps across, chains of 2*7 inside.
  const Parts trees = price_trees(q, Protocol::wide, nullptr);
  EXPECT_NEAR(trees.transfer, 2e9 / 400e9, 1e-12);
  EXPECT_NEAR(trees.latency, 14e-6 + 20e-6, 1e-12);
  // Over two nodes a tree moves them once: the chain inside is the slower, 2e9/450e9.
  const GroupShape two = pattern_shape(c, {DeviceId{0}, {{1, 16}}, {}});
  EXPECT_NEAR(price_trees({CollectiveKind::all_reduce, 1e9, two, m}, Protocol::wide, nullptr).transfer,
              2e9 / 450e9, 1e-12);
}

// One switch; everything but what is asked for costs nothing.
struct OneSwitch {
  OneSwitch() {
    constants.library = true;
    constants.levels[0].trees = false;
  }
  [[nodiscard]] GroupShape group(std::int32_t members) const {
    return pattern_shape(cluster, {DeviceId{0}, {{1, members}}, {}});
  }

  Cluster cluster = [] {
    Level node{.name = "node", .bandwidth = BytesPerSecond{100e9}, .in_network_reduction = true};
    node.fan_out.size = 8;
    return Cluster({.name = "test", .levels = {node}});
  }();
  FabricConstants constants = ideal_constants(cluster);
};

// A member's own part is one of n, whatever the number of passes.
TEST(Parts, TheOwnPartOfARing) {
  OneSwitch s;
  s.constants.levels[0].ring_own = 0.6;
  const CollectiveModel m(s.cluster, s.constants);
  const auto transfer = [&](CollectiveKind kind, std::int32_t members) {
    return price_rings({kind, 1e9, s.group(members), m}, Protocol::wide, nullptr).transfer;
  };
  EXPECT_NEAR(transfer(CollectiveKind::all_gather, 2), (1 + 0.6) / 2 * 10e-3, 1e-12);
  EXPECT_NEAR(transfer(CollectiveKind::reduce_scatter, 8), (7 + 0.6) / 8 * 10e-3, 1e-12);
  EXPECT_NEAR(transfer(CollectiveKind::all_reduce, 2), (2 + 0.6) / 2 * 10e-3, 1e-12);
  EXPECT_NEAR(transfer(CollectiveKind::broadcast, 2), 10e-3, 1e-12);
  Phases phases;
  static_cast<void>(price_rings({CollectiveKind::all_gather, 1e9, s.group(2), m}, Protocol::wide, &phases));
  EXPECT_NEAR(phases.at(0).own.value, 0.6 / 2 * 10e-3, 1e-12) << "no link carries it";
}

TEST(Parts, TheOwnPartOfAnAllToAll) {
  OneSwitch s;
  s.constants.levels[0].exchange_own = 0.9;
  s.constants.levels[0].exchange_efficiency = 0.5;
  s.constants.levels[0].ring_own = 1;  // of other collectives
  const CollectiveModel m(s.cluster, s.constants);
  const auto transfer = [&](std::int32_t members) {
    return price_direct({CollectiveKind::all_to_all, 1e9, s.group(members), m}, Protocol::wide, nullptr)
        .transfer;
  };
  EXPECT_NEAR(transfer(2), (1 + 0.9) / 2 * 20e-3, 1e-12);
  EXPECT_NEAR(transfer(8), (7 + 0.9) / 8 * 20e-3, 1e-12);
  const CollectiveQuery send{CollectiveKind::send, 1e9, s.group(2), m};
  EXPECT_NEAR(price_direct(send, Protocol::wide, nullptr).transfer, 10e-3, 1e-12);
}

TEST(Parts, ASwitchThatNeedsPeers) {
  OneSwitch s;
  const auto transfer = [&](const GroupShape& shape) {
    const CollectiveModel m(s.cluster, s.constants);
    return price_trees({CollectiveKind::all_reduce, 1e9, shape, m}, Protocol::wide, nullptr).transfer;
  };
  EXPECT_NEAR(transfer(s.group(2)), 10e-3, 1e-12);
  s.constants.levels[0].reduction_by_peers = true;
  EXPECT_NEAR(transfer(s.group(2)), 20e-3, 1e-12);
  EXPECT_NEAR(transfer(s.group(8)), 8.0 / 7 * 10e-3, 1e-12);
}

// A bound for groups of two members or more is one for each of them, of every kind.
TEST(Parts, NoGroupIsFasterThanTheBoundOfFewerMembers) {
  OneSwitch s;
  s.constants.levels[0].ring_own = s.constants.levels[0].exchange_own = 0.65;
  s.constants.levels[0].reduction_by_peers = true;
  const CollectiveModel m(s.cluster, s.constants);
  GroupShape least(2);
  GroupLevel level = s.group(2).outermost();
  level.or_more = true;
  least.add(level);
  for (const auto kind : {CollectiveKind::all_reduce, CollectiveKind::reduce_scatter,
                          CollectiveKind::all_gather, CollectiveKind::all_to_all}) {
    for (std::int32_t n = 2; n <= 8; ++n)
      EXPECT_LE(collective_time(kind, Bytes{1'000'000'000}, least, m),
                collective_time(kind, Bytes{1'000'000'000}, s.group(n), m))
          << n << " members";
  }
  EXPECT_GT(collective_time(CollectiveKind::all_reduce, Bytes{1'000'000'000}, s.group(2), m),
            collective_time(CollectiveKind::all_reduce, Bytes{1'000'000'000}, s.group(8), m))
      << "or the flag would not be needed";
}

TEST(Parts, EachPeerOfAnAllToAllIsAMessage) {
  const Cluster c = two_levels(8, 450e9, 4, 50e9);
  FabricConstants constants = ideal_constants(c);
  constants.library = true;
  constants.message = Seconds{1e-6};
  const CollectiveModel m(c, constants);
  const GroupShape all = pattern_shape(c, {DeviceId{0}, {{1, 32}}, {}});
  const Parts p = price_direct({CollectiveKind::all_to_all, 1e9, all, m}, Protocol::wide, nullptr);
  EXPECT_NEAR(p.launch, 31e-6, 1e-15);
  EXPECT_NEAR(p.transfer, 0.75 * 1e9 / 50e9, 1e-12);
  EXPECT_NEAR(p.latency, 5e-6, 1e-15);
}

}  // namespace
}  // namespace nest::estimate
