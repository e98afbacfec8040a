#include "nest/cluster/cluster_text.hpp"

#include <gtest/gtest.h>

#include <string>

#include "nest/base/document/document.hpp"
#include "nest/base/document/value.hpp"
#include "nest/cluster/catalog.hpp"
#include "nest/cluster/cluster_file.hpp"

namespace nest::cluster {
namespace {

Cluster read(const std::string& text) {
  return read_cluster(parse_document("c.yaml", text));
}

TEST(ClusterText, ALevelInEachLine) {
  const std::string text = R"yaml(name: pods
source: "scontrol.txt (Slurm)"
accelerator: h100-sxm
levels:
  - {name: node, kind: switch, size: 8, bandwidth: 450 GB/s, latency: 1 us, in_network_reduction: true}
  - {name: leaf, kind: switch, sizes: [2, 1], bandwidth: 50 GB/s, latency: 5 us, oversubscription: 2}
  - {name: site, kind: switch, size: 2, bandwidth: 12.5 GB/s, latency: 30 ms, background: 0.25}
absent: ["leaf 1", n2]
devices: ["n[1-3]/gpu[0-7]"]
)yaml";
  EXPECT_EQ(cluster_yaml(read(text)), text);
}

TEST(ClusterText, EveryCataloguedClusterReadsBackTheSame) {
  for (const std::string& name : cluster_names()) {
    const Cluster c = catalog_cluster(name);
    const std::string text = cluster_yaml(c);
    EXPECT_EQ(to_json(cluster_file_value(read(text))), to_json(cluster_file_value(c))) << text;
  }
}

TEST(ClusterText, OddFiguresReadBackTheSame) {
  ClusterParts parts = catalog_cluster("h100-spine-leaf").parts();
  for (const double rate : {1.0, 0.1, 3e9 / 7, 1e18, 50 * 1073741824.0, 4.5e11 * (1 + 1e-15)}) {
    for (const double latency : {0.0, 1e-12, 5e-6, 1.0 / 3e6, 0.04, 12.0}) {
      parts.levels[1].bandwidth = BytesPerSecond{rate};
      parts.levels[1].latency = Seconds{latency};
      EXPECT_EQ(read(cluster_yaml(Cluster(parts))).levels(), parts.levels) << rate << " " << latency;
    }
  }
  parts.note =
      "a note: with # marks and words that go on and on until no line of a hundred letters holds "
      "them any more";
  EXPECT_EQ(read(cluster_yaml(Cluster(parts))).parts().note, parts.note);
  parts.note = std::string(30, 'x') + " # not a comment - " + std::string(150, 'y') + " [z]: {a} & *b '\"" +
               std::string(60, 'q') + " end";
  EXPECT_EQ(read(cluster_yaml(Cluster(parts))).parts().note, parts.note);
}

}  // namespace
}  // namespace nest::cluster
