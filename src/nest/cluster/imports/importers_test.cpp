#include "nest/cluster/imports/importers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "nest/base/document/document.hpp"
#include "nest/cluster/cluster_file.hpp"
#include "nest/cluster/cluster_text.hpp"
#include "support/message_of.hpp"

namespace nest::cluster {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

ImportedCluster read(std::vector<ImportFile> files, ImportOptions options = {},
                     const std::string& kind = "") {
  return import_cluster(
      {.kind = kind, .files = std::move(files), .nodes = {}, .inside = {}, .options = std::move(options)});
}

TEST(Importers, EverySampleIsOfItsKindAndBecomesACluster) {
  for (const ClusterImporter& importer : cluster_importers()) {
    if (importer.formats.empty()) continue;
    const std::string sample(importer.sample);
    ASSERT_NE(cluster_importer_of(sample), nullptr) << importer.name;
    EXPECT_EQ(cluster_importer_of(sample)->name, importer.name);
    const ImportedCluster got =
        read({{"sample", sample}},
             {.name = "", .accelerator = "h100-sxm", .count = {}, .only = "", .with_drained = false},
             std::string(importer.name));
    EXPECT_GT(got.cluster.devices(), 0) << importer.name;
    EXPECT_EQ(to_json(cluster_file_value(read_cluster(parse_document("x", cluster_yaml(got.cluster))))),
              to_json(cluster_file_value(got.cluster)))
        << importer.name;
  }
}

TEST(Importers, ANetworkAListAndTheInsideOfAHostAreMerged) {
  const std::string topology =
      "SwitchName=a Nodes=n[1-2]\nSwitchName=b Nodes=n[3-4]\nSwitchName=s Switches=a,b\n";
  const std::string nodes =
      "NodeName=n1 Gres=gpu:h100:4 State=IDLE Partitions=gpu\nNodeName=n2 Gres=gpu:h100:4 State=IDLE+DRAIN "
      "Partitions=gpu\n"
      "NodeName=n3 Gres=gpu:h100:4 State=MIXED Partitions=gpu,night\nNodeName=n4 Gres=gpu:h100:4 State=IDLE "
      "Partitions=night\n";
  const std::string matrix(find_cluster_importer("nvidia-smi")->sample);
  ClusterImport question{.kind = "slurm",
                         .files = {{"topology.conf", topology}},
                         .nodes = {{"scontrol.txt", nodes}},
                         .inside = {{"topo.txt", matrix}},
                         .options = {}};
  question.options.accelerator = "h200";
  const ImportedCluster got = import_cluster(question);
  EXPECT_EQ(got.cluster.devices(), 12);
  EXPECT_EQ(got.cluster.device_name(), "h200");
  EXPECT_THAT(got.cluster.parts().absences.entries, ElementsAre("n2"));
  EXPECT_EQ(got.cluster.parts().device_names[4], "n3/gpu0");
  // Four GPUs share two interfaces of 400 Gb/s.
  EXPECT_DOUBLE_EQ(got.cluster.level(LevelId{1}).bandwidth.value, 25e9);
  question.options.only = "night";
  EXPECT_EQ(import_cluster(question).cluster.devices(), 8);
  question.options.only = "n[1-3]";
  question.options.with_drained = true;
  EXPECT_EQ(import_cluster(question).cluster.devices(), 12);
  question.options.only = "nigth";
  EXPECT_EQ(message_of([&] { static_cast<void>(import_cluster(question)); }),
            "--only: no host is called 'nigth'; did you mean 'night'?");
}

TEST(Importers, HostsOfOtherNames) {
  const std::string topology = "SwitchName=a Nodes=n[1-2]\n";
  const ImportedCluster got =
      read({{"topology.conf", topology},
            {"nodes", "NodeName=n1.site.org Gres=gpu:h100:8\nNodeName=n2.site.org Gres=gpu:h100:8\n"}});
  EXPECT_EQ(got.cluster.parts().device_names.front(), "n1/gpu0");
  EXPECT_EQ(message_of([&] {
              static_cast<void>(read({{"topology.conf", topology}, {"nodes", "NodeName=x1 Gres=gpu:8\n"}}));
            }),
            "nodes: none of its hosts is in topology.conf; the first of the one is 'x1', the first of the "
            "other 'n1'");
}

TEST(Importers, WhatNothingSaysIsAssumedByName) {
  const ImportedCluster got = read({{"topology.conf", "SwitchName=a Nodes=n[1-2]\n"}});
  EXPECT_EQ(got.cluster.device_name(), "h100-sxm");
  EXPECT_THAT(got.notes.assumed, Contains(HasSubstr("the accelerator is h100-sxm: no file names it")));
  EXPECT_THAT(got.notes.assumed, Contains(HasSubstr("8 accelerators in a host")));
  EXPECT_THAT(got.cluster.parts().note, HasSubstr("the accelerator is h100-sxm"));
}

TEST(Importers, DifferentAcceleratorsAreRefusedByName) {
  const std::string nodes = "NodeName=a[1-2] Gres=gpu:h100:8\nNodeName=b[1-6] Gres=gpu:a100:8\n";
  EXPECT_EQ(message_of([&] { static_cast<void>(read({{"nodes", nodes}})); }),
            "nodes: hosts have different accelerators: a100-80 in 6 hosts (b1, b2, b3, b4, ..); h100-sxm in "
            "2 hosts "
            "(a1, a2); a "
            "cluster has one kind for now: pick hosts with --only");
  EXPECT_EQ(read({{"nodes", nodes}},
                 {.name = "", .accelerator = "", .count = {}, .only = "a100", .with_drained = false})
                .cluster.devices(),
            48);
}

TEST(Importers, WhatIsNoInput) {
  EXPECT_EQ(message_of([] { static_cast<void>(read({{"x.txt", "hello\n"}})); }).substr(0, 58),
            "x.txt: it is none of the formats that clusters are read fr");
  EXPECT_EQ(message_of([] { static_cast<void>(read({{"x.txt", "{\"npus_count\": [8]}"}}, {}, "slurm")); }),
            "x.txt: this is not topology.conf or topology.yaml, lists of nodes by scontrol or sinfo; it "
            "looks like the kind "
            "'astra-sim'");
  const std::string topology = "SwitchName=a Nodes=n[1-2]\n";
  EXPECT_EQ(message_of([&] {
              static_cast<void>(import_cluster({.kind = "slurm",
                                                .files = {{"t", topology}},
                                                .nodes = {},
                                                .inside = {{"nodes.txt", "NodeName=n1 Gres=gpu:8\n"}},
                                                .options = {}}));
            }),
            "nodes.txt: this is not what one host looks like inside, which --node takes; it looks like the "
            "kind 'slurm'");
  EXPECT_EQ(message_of([&] {
              static_cast<void>(
                  read({{"t", topology}},
                       {.name = "", .accelerator = "", .count = 3, .only = "", .with_drained = false}));
            }),
            "--count: the files name the hosts: their number is known; --only leaves some of them out");
}

// A site of the size that Slurm's largest have.
TEST(Importers, SixteenThousandHosts) {
  std::string topology;
  std::string nodes;
  for (int leaf = 0; leaf < 512; ++leaf) {
    const std::string first = std::to_string(10000 + 32 * leaf);
    const std::string last = std::to_string(10000 + 32 * leaf + 31);
    topology += "SwitchName=leaf" + std::to_string(leaf) + " Nodes=node[" + first + "-" + last + "]\n";
    for (int n = 0; n < 32; ++n)
      nodes += "NodeName=node" + std::to_string(10000 + 32 * leaf + n) +
               " Arch=x86_64 Gres=gpu:h100:8(S:0-1) State=" + (n == 7 ? "DOWN+DRAIN" : "MIXED") +
               " Partitions=gpu\n";
  }
  for (int spine = 0; spine < 32; ++spine)
    topology += "SwitchName=spine" + std::to_string(spine) + " Switches=leaf[" + std::to_string(16 * spine) +
                "-" + std::to_string(16 * spine + 15) + "]\n";
  topology += "SwitchName=core Switches=spine[0-31]\n";
  const ImportedCluster got = read({{"topology.conf", topology}, {"scontrol.txt", nodes}});
  EXPECT_EQ(got.hosts, 16'384);
  EXPECT_EQ(got.cluster.devices(), 8 * (16'384 - 512));
  EXPECT_EQ(got.cluster.levels().size(), 4U);
  EXPECT_EQ(got.cluster.level(LevelId{1}).fan_out, (FanOut{31, {}}));
}

}  // namespace
}  // namespace nest::cluster
