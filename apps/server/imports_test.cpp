#include "imports.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "nest/base/document/document.hpp"
#include "nest/base/document/value.hpp"
#include "nest/base/error.hpp"
#include "nest/cluster/cluster_file.hpp"
#include "support/message_of.hpp"

namespace nest::server {
namespace {

using testing::HasSubstr;

Value file(const std::string& name, const std::string& text) {
  Value v = Value::object();
  v.set("name", name).set("text", text);
  return v;
}

Value answer(std::initializer_list<Value> files, const std::string& cluster = "") {
  Value list = Value::array();
  for (const Value& each : files) list.push(each);
  Value body = Value::object();
  body.set("files", std::move(list));
  if (!cluster.empty()) body.set("cluster", cluster);
  const Document document = parse_json("request", to_json(body));
  Reader request(document);
  return imported_cluster(request, {});
}

Cluster cluster_of(const Value& answer) {
  return read_cluster(parse_document("cluster", *answer.find("cluster_text")->as_string()));
}

const std::string kTopology =
    "SwitchName=a Nodes=n[1-2]\nSwitchName=b Nodes=n[3-4]\nSwitchName=s Switches=a,b\n";
const std::string kNodes =
    "NodeName=n[1-3] Gres=gpu:h100:8 State=IDLE\nNodeName=n4 Gres=gpu:h100:8 State=DOWN\n";

TEST(ServerImports, FilesSayThemselvesWhatTheyAre) {
  const Value read = answer({file("nodes.txt", kNodes), file("topology.conf", kTopology)});
  EXPECT_EQ(*read.find("kind")->as_string(), "slurm");
  EXPECT_EQ(*read.find("devices")->as_int(), 24);
  EXPECT_EQ(cluster_of(read).devices(), 24);
  EXPECT_FALSE(read.find("assumed")->as_array()->empty());
  EXPECT_THAT(to_json(*read.find("left_out")), HasSubstr("n4"));
}

TEST(ServerImports, AClusterFileIsTakenAsItIs) {
  const std::string text =
      "name: mine\naccelerator: h100-sxm\nlevels: [{name: node, size: 8, bandwidth: 450 GB/s, latency: 1 "
      "us}]\n";
  const Value read = answer({file("mine.yaml", text)});
  EXPECT_EQ(*read.find("kind")->as_string(), "cluster");
  EXPECT_EQ(cluster_of(read).devices(), 8);
}

TEST(ServerImports, MeasurementsMoveTheClusterThatIsAskedAbout) {
  const std::string link =
      " #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]\n 65536 5000 320 320 "
      "0.7\n";
  const Cluster cluster = cluster_of(answer({file("bw.txt", link)}, "dgx-h100-superpod"));
  EXPECT_EQ(cluster.name(), "dgx-h100-superpod");
  EXPECT_DOUBLE_EQ(cluster.level(LevelId{1}).bandwidth.value, 40e9);
  // Or the one that comes along.
  EXPECT_DOUBLE_EQ(cluster_of(answer({file("bw.txt", link), file("t", kTopology), file("n", kNodes)}))
                       .level(LevelId{1})
                       .bandwidth.value,
                   40e9);
}

TEST(ServerImports, ManyNamesStayBehind) {
  std::string nodes;
  for (int i = 0; i < 8000; ++i)
    nodes += "NodeName=i-" + std::to_string(i * 7919 % 100'003) + "x Gres=gpu:h100:8 State=IDLE\n";
  const Value read = answer({file("nodes.txt", nodes)});
  EXPECT_TRUE(cluster_of(read).parts().device_names.empty());
  EXPECT_EQ(cluster_of(read).devices(), 64'000);
  EXPECT_THAT(to_json(*read.find("left_out")), HasSubstr("names of hosts"));
  EXPECT_THAT(to_json(*answer({file("nodes.txt", kNodes)}).find("cluster_text")), HasSubstr("devices:"));
}

TEST(ServerImports, WhatIsRefused) {
  const auto message = [](std::initializer_list<Value> files) {
    return message_of([&] { static_cast<void>(answer(files)); });
  };
  EXPECT_EQ(
      message({file("a.txt", "hello\n")}),
      "a.txt: it is none of the formats that clusters are read from; docs/formats/imports.md lists them");
  EXPECT_EQ(message({file("train.toml", "[parallelism]\ntensor_parallel_degree = 2\n")}),
            "train.toml: this looks like a TOML file of torchtitan 0.2.2, which describes a run and no "
            "cluster; 'nest import "
            "torchtitan' reads it as a plan");
  EXPECT_EQ(message({file("t.conf", "SwitchName=a Nodes=n[1-\n")}),
            "t.conf: line 1: 'n[1-' has no closing bracket");
  EXPECT_THAT(message({file("n.txt", "NodeName=n[1-100000] Gres=gpu:h100:8\n")}),
              HasSubstr("800,000 devices are more than the 262,144"));
  EXPECT_THAT(message({}), HasSubstr("'files' is missing"));
}

}  // namespace
}  // namespace nest::server
