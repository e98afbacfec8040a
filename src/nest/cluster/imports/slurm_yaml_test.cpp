#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "nest/cluster/imports/slurm_topology.hpp"
#include "support/message_of.hpp"

namespace nest::cluster {
namespace {

using testing::ElementsAre;

std::string yaml_refusal(const std::string& text) {
  return message_of([&] { static_cast<void>(read_slurm_yaml({"t.yaml", text})); });
}

TEST(SlurmYaml, TheDefaultTopologyCounts) {
  const std::string text = R"(- topology: small
  tree:
    switches: [{switch: sw, nodes: "n[01-02]"}]
- topology: torus
  cluster_default: true
  torus3d:
    toruses:
    - name: t1
      dims: {x: 2, y: 2, z: 1}
      nodes: n[01-04]
      placements: [{dims: {x: 2, y: 1, z: 1}}]
- topology: flat
  flat: true
)";
  const ImportFacts facts = read_slurm_yaml({"t.yaml", text});
  ASSERT_EQ(facts.tiers.size(), 1U);
  EXPECT_EQ(facts.tiers[0].kind, LevelKind::torus);
  EXPECT_THAT(facts.tiers[0].dims, ElementsAre(2, 2, 1));
  EXPECT_EQ(facts.hosts.size(), 4U);
  EXPECT_THAT(facts.notes.left_out, ElementsAre("the topology 'small' of t.yaml: 'torus' is taken",
                                                "the topology 'flat' of t.yaml: 'torus' is taken"));
}

TEST(SlurmYaml, MistakesAreSaidWithTheirLine) {
  EXPECT_EQ(yaml_refusal("- topology: a\n  tree:\n    switches:\n    - switch: s\n      node: n1\n"),
            "t.yaml: line 5, topologies[0].tree.switches[0]: unknown key 'node'; did you mean 'nodes'?");
  EXPECT_EQ(yaml_refusal("topology: a\n"),
            "t.yaml: a list of topologies is expected; each entry is like '- topology: default'");
  EXPECT_EQ(
      yaml_refusal(
          "- topology: a\n  torus3d:\n    toruses:\n    - {name: t, dims: {x: 0, y: 1, z: 1}, nodes: n1}\n"),
      "t.yaml: line 4, topologies[0].torus3d.toruses[0].dims.x: 0 is outside 1 to 4,096");
}

}  // namespace
}  // namespace nest::cluster
