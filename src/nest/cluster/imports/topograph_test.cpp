#include "nest/cluster/imports/topograph.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/message_of.hpp"

namespace nest::cluster {
namespace {

using testing::ElementsAre;

TEST(Topograph, LayersAndLabels) {
  const ImportFacts facts = read_topograph({"g.json", R"({"instances": [
    {"id": "a", "network_layers": ["l1", "s1"], "labels": {"accelerator.topograph.run/domain": "d1", "x/gpu-product": "GB300"}},
    {"id": "b", "network_layers": ["l2"], "labels": {"network.topology.nvidia.com/accelerator": "d2"}},
    {"id": "c"}]})"});
  EXPECT_THAT(facts.hosts[0].domains, ElementsAre("l1", "s1"));
  EXPECT_EQ(facts.hosts[0].links, "d1");
  EXPECT_EQ(facts.hosts[0].chip, "GB300");
  EXPECT_EQ(facts.hosts[1].links, "d2");
  EXPECT_EQ(facts.tiers.size(), 2U);
}

TEST(Topograph, Mistakes) {
  EXPECT_EQ(message_of([] {
              static_cast<void>(read_topograph({"g.json", R"({"instances": [{"id": "a"}, {"id": "a"}]})"}));
            }),
            "g.json: line 1, instances[1]: the instance 'a' is listed twice");
  EXPECT_EQ(message_of([] {
              static_cast<void>(
                  read_topograph({"g.json", R"({"instances": [{"id": "a", "network_layers": "l"}]})"}));
            }),
            "g.json: line 1, instances[0]: 'network_layers' is a list of switches, the nearest first");
  EXPECT_EQ(message_of([] { static_cast<void>(read_topograph({"g.json", R"({"instances": []})"})); }),
            "g.json: the list of instances is empty");
}

}  // namespace
}  // namespace nest::cluster
