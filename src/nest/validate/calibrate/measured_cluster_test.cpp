#include "nest/validate/calibrate/measured_cluster.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "nest/cluster/catalog.hpp"
#include "support/message_of.hpp"

namespace nest::validate {
namespace {

std::string bandwidth_of(const char* gigabits) {
  return std::string(
             " #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]\n 65536      "
             "5000   ") +
         gigabits + "   " + gigabits + "   0.7\n";
}

TEST(MeasuredCluster, ALinkStatesTheLevelBetweenHosts) {
  const Cluster cluster = catalog_cluster("h100-spine-leaf");
  const std::vector<MeasuredFile> files{
      {"bw.txt", bandwidth_of("392")},
      {"lat.txt",
       " #bytes #iterations t_min[usec] t_max[usec] t_typical[usec] t_avg[usec]\n 2 1000 1.7 4.2 2.5 2.6\n"}};
  const MeasuredCluster measured = measured_cluster(cluster, files, {});
  EXPECT_DOUBLE_EQ(measured.cluster.level(LevelId{1}).bandwidth.value, 49e9);
  EXPECT_DOUBLE_EQ(measured.cluster.level(LevelId{1}).latency.value, 2.5e-6);
  EXPECT_EQ(measured.cluster.level(LevelId{2}), cluster.level(LevelId{2}));
  EXPECT_EQ(measured.said,
            (std::vector<std::string>{"rack: 50 GB/s became 49 GB/s for a device: 1 link of 49 GB/s (bw.txt)",
                                      "rack: 5 us became 2.5 us (lat.txt)"}));
  EXPECT_EQ(measured.cluster.parts().note, "measured: bw.txt, lat.txt");
}

TEST(MeasuredCluster, DevicesThatShareALinkKeepTheirParts) {
  // Eight devices behind one interface of 100 Gb/s.
  ClusterParts parts = catalog_cluster("h100-spine-leaf").parts();
  parts.levels[2].bandwidth = BytesPerSecond{1.6e9};
  const std::vector<MeasuredFile> files{{"bw.txt", bandwidth_of("96")}};
  const MeasuredCluster measured = measured_cluster(Cluster(parts), files, {.level = "spine", .links = {}});
  EXPECT_DOUBLE_EQ(measured.cluster.level(LevelId{2}).bandwidth.value, 1.5e9);
  const MeasuredCluster stated = measured_cluster(Cluster(parts), files, {.level = "spine", .links = 2});
  EXPECT_DOUBLE_EQ(stated.cluster.level(LevelId{2}).bandwidth.value, 24e9);
  EXPECT_EQ(message_of([&] {
              static_cast<void>(measured_cluster(Cluster(parts), files, {.level = "spin", .links = {}}));
            }),
            "h100-spine-leaf: there is no level 'spin'; did you mean 'spine'?");
}

}  // namespace
}  // namespace nest::validate
