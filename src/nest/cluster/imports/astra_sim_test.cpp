#include "nest/cluster/imports/astra_sim.hpp"

#include <gtest/gtest.h>

#include <string>

#include "support/message_of.hpp"

namespace nest::cluster {
namespace {

std::string network(const std::string& topology, const std::string& counts, const std::string& rates) {
  return "topology: [" + topology + "]\nnpus_count: [" + counts + "]\nbandwidth: [" + rates +
         "]\nlatency: [500, 1000]\n";
}

// Its GB are 2^30 bytes; a device of a ring has two links, one of a full mesh one to each other.
TEST(AstraSim, LinksOfADevice) {
  const ImportFacts facts = read_astra_sim({"n.yml", network("Ring, FullyConnected", "4, 8", "50, 10.0")});
  ASSERT_EQ(facts.node->levels.size(), 2U);
  const double gigabyte = 1073741824.0;
  EXPECT_DOUBLE_EQ(facts.node->levels[0].bandwidth.value, 2 * 50 * gigabyte);
  EXPECT_DOUBLE_EQ(facts.node->levels[0].latency.value, 500e-9);
  EXPECT_DOUBLE_EQ(facts.node->levels[1].bandwidth.value, 7 * 10 * gigabyte);
  EXPECT_EQ(facts.node->devices, 32);
  const ImportFacts switches = read_astra_sim({"n.yml", network("Switch, Switch", "4, 8", "50, 10")});
  EXPECT_DOUBLE_EQ(switches.node->levels[1].bandwidth.value, 10 * gigabyte);
  EXPECT_DOUBLE_EQ(switches.node->levels[1].latency.value, 2e-6);
}

TEST(AstraSim, MistakesAreSaidWithTheirLine) {
  const auto refusal = [](const std::string& text) {
    return message_of([&] { static_cast<void>(read_astra_sim({"n.yml", text})); });
  };
  EXPECT_EQ(refusal(network("Ring, Torus", "4, 8", "1, 1")),
            "n.yml: line 1, topology: 'Torus' is none of Ring, FullyConnected and Switch");
  EXPECT_EQ(refusal(network("Ring, Ring", "4, 8, 2", "1, 1")),
            "n.yml: line 2, npus_count: 'topology' has 2 dimensions, 'npus_count' has 3");
  EXPECT_EQ(refusal(network("Ring, Ring", "4, 8", "1, 0")),
            "n.yml: line 3, bandwidth: a number is out of range");
  EXPECT_EQ(refusal(network("Ring, Ring", "1000000, 1000000", "1, 1")),
            "n.yml: line 2, npus_count: more than 16,777,216 NPUs");
  EXPECT_EQ(refusal(network("Ring, Ring", "4, 8", "1, 1") + "latancy: [1]\n"),
            "n.yml: line 5: unknown key 'latancy'; did you mean 'latency'?");
}

}  // namespace
}  // namespace nest::cluster
