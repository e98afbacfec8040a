// Collectives on every fabric, by every algorithm that a library has, small and large.
#include <gtest/gtest.h>

#include "nest/cluster/cluster_file.hpp"
#include "nest/estimate/collectives/cell_network.hpp"
#include "nest/estimate/collectives/collective.hpp"
#include "pins/pin_table.hpp"

namespace nest::pins {
namespace {

using namespace estimate;

// Eight devices under one switch; "reduces" where the switch adds up.
Cluster one_switch(bool reduces) {
  const std::string text = R"(
name: one
accelerator: {name: x, memory: 80 GB, memory_bandwidth: 3 TB/s, peak: {bf16: 1000 TFLOP/s}}
levels:
  - {name: node, kind: switch, size: 8, bandwidth: 100 GB/s, latency: 1 us, in_network_reduction: )";
  return read_cluster(parse_yaml("cluster", text + (reduces ? "true}\n" : "false}\n")));
}

CollectiveKind kind_named(const std::string& name) {
  static const std::map<std::string, CollectiveKind> kKinds{{"all-reduce", CollectiveKind::all_reduce},
                                                            {"all-gather", CollectiveKind::all_gather},
                                                            {"all-to-all", CollectiveKind::all_to_all},
                                                            {"send", CollectiveKind::send}};
  return kKinds.at(name);
}

std::vector<DeviceId> first_devices(std::int64_t count) {
  std::vector<DeviceId> out;
  for (std::int64_t i = 0; i < count; ++i) out.emplace_back(static_cast<std::int32_t>(i));
  return out;
}

TEST(Pins, Collectives) {
  check_pins("collectives", [](const PinRow& row) {
    const Cluster cluster = one_switch(row["switch"] == "reduces");
    const std::vector<std::string> fabrics{row["fabric"]};
    const CollectiveModel model(cluster, fabric_constants(cluster, fabrics));
    const GroupShape group = group_shape(cluster, first_devices(row.whole("members")));
    const Bytes bytes{row.whole("bytes")};
    return std::vector{collective_time(kind_named(row["collective"]), bytes, group, model).value};
  });
}

// The cluster that stands for an accelerator that is named alone: a node, and all of it.
TEST(Pins, UsualClusters) {
  check_pins("usual_clusters", [](const PinRow& row) {
    const Cluster cluster = usual_cluster(find_accelerator(row["accelerator"]));
    const CollectiveModel model(cluster, fabric_constants(cluster));
    const auto gather = [&](std::int64_t members) {
      return collective_time(CollectiveKind::all_gather, Bytes{1'000'000'000},
                             group_shape(cluster, first_devices(members)), model)
          .value;
    };
    return std::vector{gather(4), gather(16), gather(cluster.devices())};
  });
}

}  // namespace
}  // namespace nest::pins
