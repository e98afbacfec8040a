#include "nest/frameworks/chakra/chakra_chain.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace nest::frameworks {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using enum ChakraCollective;

const char* name_of(ChakraCollective kind) {
  return kind == all_reduce ? "AR" : kind == all_gather ? "AG" : kind == all_to_all ? "A2A" : "RS";
}

// One cell of `ranks` devices that stand `stride` apart in nodes of 8, two nodes.
struct Nodes {
  Plan plan;
  std::vector<std::int32_t> npus;
  ChainRules rules{{{8, BytesPerSecond{400e9}}, {2, BytesPerSecond{50e9}}}};

  explicit Nodes(int ranks, int stride = 1) {
    Cell cell;
    for (int r = 0; r < ranks; ++r) cell.push_back(DeviceId{r * stride});
    plan.stages.resize(1);
    plan.stages[0].devices = {cell};
    for (int d = 0; d < 16; ++d) npus.push_back(d);
    ranks_ = ranks;
  }

  [[nodiscard]] std::vector<std::string> chain(ChakraCollective kind, double bytes) const {
    ChakraGroups groups(plan, npus, 1000, {}, {8, 2});
    std::vector<std::string> out;
    for (const ChainLink& link : chain_of({kind, {1, ranks_}, "x", bytes}, 0, groups, rules))
      out.push_back(fmt::format("{} of {}: {}", name_of(link.kind), link.members, link.bytes));
    return out;
  }

 private:
  std::int64_t ranks_ = 0;
};

TEST(ChakraChain, OneCollectiveForEachLevel) {
  const Nodes nodes(16);
  EXPECT_THAT(nodes.chain(all_reduce, 1600), ElementsAre("RS of 8: 1600", "AR of 2: 200", "AG of 8: 1600"));
  EXPECT_THAT(nodes.chain(reduce_scatter, 1600), ElementsAre("RS of 8: 1600", "RS of 2: 200"));
  EXPECT_THAT(nodes.chain(all_gather, 1600), ElementsAre("AG of 2: 200", "AG of 8: 1600"));
  // Half of the bytes stay in the node, 7 of 8 of these leave the device; half cross to the other node.
  EXPECT_THAT(nodes.chain(all_to_all, 1600), ElementsAre("A2A of 8: 800", "A2A of 2: 1600"));
}

TEST(ChakraChain, GroupsInOneNodeOrOneInEachStayWhole) {
  EXPECT_THAT(Nodes(8).chain(all_reduce, 1600), ElementsAre("AR of 8: 1600"));
  EXPECT_THAT(Nodes(2, 8).chain(all_reduce, 1600), ElementsAre("AR of 2: 1600"));
  EXPECT_THAT(Nodes(1).chain(all_reduce, 1600), IsEmpty());
  // 12 devices: 8 and 4 are no grid.
  EXPECT_THAT(Nodes(12).chain(all_reduce, 1600), ElementsAre("AR of 12: 1600"));
}

// A ring over 16 members carries 15/16 of the bytes, an eighth of it through each device's link between the
// nodes; a ring of 2 carries half of its own.
TEST(ChakraChain, LibrariesHaveAllLevelsWorkAtOnce) {
  Nodes nodes(16);
  nodes.rules.at_once = true;
  nodes.rules.levels[1].bandwidth = BytesPerSecond{40e9};
  EXPECT_THAT(nodes.chain(all_reduce, 1600), ElementsAre("AR of 2: 375"));
  nodes.rules.levels[1].bandwidth = BytesPerSecond{100e9};
  EXPECT_THAT(nodes.chain(all_gather, 1792), ElementsAre("AG of 8: 1920"));
  EXPECT_THAT(nodes.chain(all_to_all, 1600), ElementsAre("A2A of 2: 1600"));
}

// A ring of n takes n(n-1)/2 steps of an n-th where n-1 would do.
TEST(ChakraChain, BytesMakeUpForRingsOfAllToAlls) {
  Nodes nodes(8);
  nodes.rules.ring_all_to_all = true;
  EXPECT_THAT(nodes.chain(all_to_all, 1600), ElementsAre("A2A of 8: 400"));
  EXPECT_THAT(nodes.chain(all_gather, 1600), ElementsAre("AG of 8: 1600"));
}

TEST(ChakraChain, OneGroupOfAllToAlls) {
  const Nodes nodes(16);
  const auto one = [&](std::vector<ChakraSum> sums) {
    ChakraGroups groups(nodes.plan, nodes.npus, 1000, {}, {8, 2});
    ChakraStage stage;
    stage.chunks.resize(1);
    stage.chunks[0].forward.collectives = std::move(sums);
    return one_all_to_all_each({stage}, groups, nodes.rules);
  };
  EXPECT_TRUE(one({{all_to_all, {1, 8}, "x", 1600}, {all_reduce, {1, 16}, "y", 1600}}));
  EXPECT_FALSE(one({{all_to_all, {1, 8}, "x", 1600}, {all_to_all, {1, 4}, "y", 1600}}));
  EXPECT_FALSE(one({{all_to_all, {1, 16}, "x", 1600}}));  // two levels, two groups
}

}  // namespace
}  // namespace nest::frameworks
