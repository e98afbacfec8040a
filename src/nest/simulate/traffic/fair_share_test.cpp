#include "nest/simulate/traffic/fair_share.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>

namespace nest::simulate {
namespace {

using Loads = std::vector<LinkLoad>;

LinkLoad on(int link, double rate) {
  return {LinkId{link}, rate};
}

std::map<int, double> settle(FairShare& share, double now) {
  std::vector<FairShare::Change> changes;
  share.settle(now, changes);
  std::map<int, double> ends;
  for (const auto& c : changes) ends[c.tag] = c.end_s;
  return ends;
}

TEST(FairShare, AloneAnActivityTakesItsOwnTime) {
  FairShare share({100});
  const Loads loads{on(0, 100)};
  static_cast<void>(share.start(loads, 2, 7, 1));
  EXPECT_EQ(settle(share, 1), (std::map<int, double>{{7, 3}}));
}

TEST(FairShare, TwoOnOneLinkGetHalf) {
  FairShare share({100});
  const Loads loads{on(0, 100)};
  const auto first = share.start(loads, 2, 1, 0);
  EXPECT_EQ(settle(share, 0), (std::map<int, double>{{1, 2}}));
  static_cast<void>(share.start(loads, 2, 2, 1));
  // The first has 1 s left at full speed; both run at half from now on.
  EXPECT_EQ(settle(share, 1), (std::map<int, double>{{1, 3}, {2, 5}}));
  share.finish(first);
  EXPECT_EQ(settle(share, 3), (std::map<int, double>{{2, 4}}));
  // 2 s at half speed lost 1 s of the first and 1 s of the second, which is told when it is looked at again.
  EXPECT_NEAR(share.waited_s(LinkId{0}), 2, 1e-12);
}

// The textbook case: three activities, two links; the one on both is held by the narrower.
TEST(FairShare, WhatOneCannotUseOthersGet) {
  FairShare share({100, 60});
  const Loads both{on(0, 100), on(1, 100)};
  const Loads wide{on(0, 100)};
  const Loads narrow{on(1, 100)};
  static_cast<void>(share.start(both, 1, 1, 0));
  static_cast<void>(share.start(wide, 1, 2, 0));
  static_cast<void>(share.start(narrow, 1, 3, 0));
  const auto ends = settle(share, 0);
  EXPECT_NEAR(ends.at(1), 1 / 0.3, 1e-12);
  EXPECT_NEAR(ends.at(2), 1 / 0.7, 1e-12);
  EXPECT_NEAR(ends.at(3), 1 / 0.3, 1e-12);
}

TEST(FairShare, OthersAreLeftAlone) {
  FairShare share({100, 100});
  const Loads left{on(0, 100)};
  const Loads right{on(1, 100)};
  static_cast<void>(share.start(left, 2, 1, 0));
  EXPECT_EQ(settle(share, 0).size(), 1U);
  static_cast<void>(share.start(right, 2, 2, 1));
  EXPECT_EQ(settle(share, 1), (std::map<int, double>{{2, 3}}));
}

// Max-min fairness itself: no link above its capacity, and everybody below speed 1 has a full link on which
// nobody is faster.
TEST(FairShare, RandomNetworksAreMaxMinFair) {
  constexpr unsigned kSeed = 20260806;
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  std::mt19937 random(kSeed);
  for (int round = 0; round < 500; ++round) {
    const int links = 1 + static_cast<int>(random() % 6);
    std::vector<double> capacities;
    capacities.reserve(static_cast<std::size_t>(links));
    for (int l = 0; l < links; ++l) capacities.push_back(50 + static_cast<double>(random() % 200));
    FairShare share(capacities);
    std::vector<Loads> loads(1 + random() % 8);
    std::vector<std::int32_t> ids;
    double now = 0;
    std::map<int, double> ends;
    for (std::size_t a = 0; a < loads.size(); ++a) {
      for (int l = 0; l < links; ++l) {
        if (random() % 2 == 0) loads[a].push_back(on(l, 10 + static_cast<double>(random() % 100)));
      }
      if (loads[a].empty()) loads[a].push_back(on(0, 20));
      ids.push_back(share.start(loads[a], 1000, static_cast<int>(a), now));
      now += 0.25;
      for (const auto& [tag, end] : settle(share, now)) ends[tag] = end;
    }
    // Everybody leaves and comes back at one moment, so that ends tell speeds.
    for (const std::int32_t id : ids) share.finish(id);
    static_cast<void>(settle(share, now));
    for (std::size_t a = 0; a < loads.size(); ++a) {
      static_cast<void>(share.start(loads[a], 1, static_cast<int>(a), now));
    }
    ends = settle(share, now);
    std::vector<double> used(capacities.size());
    std::vector<double> speed;
    for (std::size_t a = 0; a < loads.size(); ++a) {
      speed.push_back(1 / (ends.at(static_cast<int>(a)) - now));
      for (const LinkLoad& l : loads[a]) used[l.link.index()] += speed[a] * l.bytes_per_s;
    }
    for (std::size_t l = 0; l < used.size(); ++l) ASSERT_LE(used[l], capacities[l] * (1 + 1e-9));
    for (std::size_t a = 0; a < loads.size(); ++a) {
      if (speed[a] > 1 - 1e-9) continue;
      const bool held = std::any_of(loads[a].begin(), loads[a].end(), [&](const LinkLoad& l) {
        if (used[l.link.index()] < capacities[l.link.index()] * (1 - 1e-9)) return false;
        for (std::size_t b = 0; b < loads.size(); ++b) {
          const bool there = std::any_of(loads[b].begin(), loads[b].end(),
                                         [&](const LinkLoad& o) { return o.link == l.link; });
          if (there && speed[b] > speed[a] * (1 + 1e-9)) return false;
        }
        return true;
      });
      ASSERT_TRUE(held) << "round " << round << " activity " << a;
    }
  }
}

}  // namespace
}  // namespace nest::simulate
