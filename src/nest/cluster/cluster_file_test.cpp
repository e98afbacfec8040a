#include "nest/cluster/cluster_file.hpp"

#include <gtest/gtest.h>

#include "nest/base/document/document.hpp"
#include "nest/base/error.hpp"
#include "nest/cluster/catalog.hpp"

namespace nest::cluster {
namespace {

Cluster read(const std::string& text) {
  return read_cluster(parse_document("x.yaml", text));
}

std::string error_of(const std::string& text) {
  try {
    (void)read(text);
  } catch (const InputError& e) {
    return e.what();
  }
  return "no error";
}

const std::string kHead = "name: x\naccelerator: h100-sxm\n";
const std::string kNode = "  - {name: node, size: 8, bandwidth: 450 GB/s, latency: 1 us}\n";
const std::string kRack = "  - {name: rack, size: 3, bandwidth: 50 GB/s, latency: 5 us}\n";

TEST(ClusterFile, YamlAndJsonReadTheSame) {
  const Cluster yaml = read(kHead + "levels:\n" + kNode + kRack);
  const Cluster json = read(R"({"name": "x", "accelerator": "h100-sxm", "levels": [
    {"name": "node", "size": 8, "bandwidth": 450e9, "latency": 1e-6},
    {"name": "rack", "size": 3, "bandwidth": 5e10, "latency": "5 us"}]})");
  EXPECT_EQ(yaml.levels(), json.levels());
  EXPECT_EQ(yaml.devices(), 24);
}

TEST(ClusterFile, EveryCataloguedClusterReadsBackTheSame) {
  for (const std::string& name : cluster_names()) {
    const Cluster c = catalog_cluster(name);
    const Cluster back = read(to_json(cluster_file_value(c)));
    EXPECT_EQ(back.levels(), c.levels()) << name;
    EXPECT_EQ(back.accelerator(), c.accelerator()) << name;
    EXPECT_EQ(back.parts().note, c.parts().note) << name;
    EXPECT_EQ(to_json(cluster_summary(back)), to_json(cluster_summary(c))) << name;
  }
}

TEST(ClusterFile, TheSummaryHasPlainNumbersWithUnitsInTheirNames) {
  const Value v = cluster_summary(catalog_cluster("h100-spine-leaf"));
  EXPECT_EQ(*v.find("devices")->as_int(), 1024);
  EXPECT_EQ(*v.find("bisection_bytes_per_s")->as_real(), 6.4e12);
  const Value& node = (*v.find("levels")->as_array())[0];
  EXPECT_EQ(to_json_line(node),
            R"({"name": "node", "kind": "switch", "size": 8, "domains": 128, "devices_per_domain": 8, )"
            R"("bandwidth_bytes_per_s": 4.5e+11, "latency_s": 1e-06, "oversubscription": 1, )"
            R"("bisection_bytes_per_s": 1.8e+12})");
  const Value uneven = cluster_summary(catalog_cluster("dgx-h100-superpod-127"));
  const Value& unit = (*uneven.find("levels")->as_array())[1];
  EXPECT_EQ(to_json_line(*unit.find("sizes")), "[32, 32, 32, 31]");
  EXPECT_EQ(to_json_line(*unit.find("devices_per_domain")), "[248, 256]");
}

TEST(ClusterFile, AnotherKindOfFileIsNamed) {
  EXPECT_EQ(
      error_of("{\"model_type\": \"llama\"}"),
      "x.yaml: line 1: this is not a cluster file; this looks like a model's config.json: nest models show "
      "x.yaml");
  EXPECT_EQ(
      error_of("{\"format\": \"nest-layer-profile\"}"),
      "x.yaml: line 1: this is not a cluster file; this looks like a layer profile: nest models show x.yaml");
  EXPECT_EQ(
      error_of(kHead + "devices: 8\nlinks: []\n"),
      "x.yaml: line 1: this is not a cluster file; this looks like a graph file: nest clusters from-graph "
      "x.yaml");
  EXPECT_EQ(error_of("null"), "x.yaml: line 1: a group of keys is expected here, not nothing");
}

TEST(ClusterFile, RemarksMayHaveLinesAndNamesMayNot) {
  EXPECT_EQ(read(kHead + "note: |\n  one\n  two\nlevels:\n" + kNode).parts().note, "one two");
  EXPECT_EQ(error_of("name: \"a\\nb\"\naccelerator: h100-sxm\nlevels:\n" + kNode),
            "x.yaml: line 1, name: a text without control characters is expected");
  EXPECT_EQ(error_of(kHead + "levels:\n  - {name: \"\\e[1m\", size: 8, bandwidth: 1, latency: 1}\n"),
            "x.yaml: line 4, levels[0].name: a text without control characters is expected");
  EXPECT_EQ(error_of(kHead + "levels:\n  - {name: node, size: 8,000, bandwidth: 1 GB/s, latency: 1 us}\n"),
            "x.yaml: line 4, levels[0]: unknown key '000'; a comma inside a number? write 8000");
}

TEST(ClusterFile, LevelsMayTakeKeysOver) {
  const Cluster c =
      read(kHead + "levels:\n  - &node {name: node, size: 8, bandwidth: 450 GB/s, latency: 1 us}\n" +
           "  - {<<: *node, name: rack, size: 3}\n");
  EXPECT_EQ(c.devices(), 24);
  EXPECT_EQ(c.levels()[1].bandwidth.value, 450e9);
}

// Ten kinds of broken file; the levels' own mistakes are in level_test.cpp, the accelerator's in
// accelerator_test.cpp.
TEST(ClusterFile, BrokenFilesAreAnsweredToTheLetter) {
  EXPECT_EQ(error_of("name: x\nlevels:\n" + kNode),
            "x.yaml: line 1: the key 'accelerator' is missing; it holds a text");
  EXPECT_EQ(error_of("accelerator: h100-sxm\nlevels:\n" + kNode),
            "x.yaml: line 1: the key 'name' is missing; it holds a text");
  EXPECT_EQ(error_of(kHead), "x.yaml: line 1: the key 'levels' is missing; it holds a list");
  EXPECT_EQ(error_of(kHead + "levels: []\n"), "x.yaml: line 3, levels: a cluster needs at least one level");
  EXPECT_EQ(error_of(kHead + "levels: 3\n"),
            "x.yaml: line 3, levels: a list is expected, not a whole number");
  EXPECT_EQ(error_of(kHead + "levels: [8]\n"),
            "x.yaml: line 3, levels[0]: a group of keys is expected here, not a whole number");
  EXPECT_EQ(error_of(kHead + "levles:\n" + kNode),
            "x.yaml: line 3: unknown key 'levles'; did you mean 'levels'?");
  EXPECT_EQ(error_of(kHead + "colour: red\nlevels:\n" + kNode),
            "x.yaml: line 3: unknown key 'colour'; known here: name, accelerator, levels, source, date, "
            "note, devices, absent, slow");
  EXPECT_EQ(
      error_of(kHead + "levels:\n" + kNode + "  - {name: rack, size: 3, bandwith: 50 GB/s, latency: 5 us}\n"),
      "x.yaml: line 5, levels[1]: unknown key 'bandwith'; did you mean 'bandwidth'?");
  EXPECT_EQ(error_of(kHead + "levels:\n" + kNode + kNode),
            "x.yaml: line 5, levels[1].name: two levels are called 'node'");
  EXPECT_EQ(error_of(kHead + "levels:\n  - {name: node, sizes: [4, 8], bandwidth: 1 GB/s, latency: 1 us}\n" +
                     kRack),
            "x.yaml: line 4, levels[0].sizes: 'sizes' describes 2 domains, but the levels outside it make 3; "
            "give one "
            "number for each domain");
  EXPECT_EQ(error_of(kHead + "levels:\n" + kNode +
                     "  - {name: rack, sizes: [3, 4], bandwidth: 1 GB/s, latency: 1 us}\n"),
            "x.yaml: line 5, levels[1].sizes: 'sizes' describes 2 domains, but the outermost level has 1");
  EXPECT_EQ(error_of(kHead + "levels:\n  - {name: node, size: 8, bandwidth: fast, latency: 1 us}\n"),
            "x.yaml: line 4, levels[0].bandwidth: 'fast' is not a bandwidth; write it like '50 GB/s'");
  EXPECT_EQ(error_of(kHead + "levels:\n" + kNode +
                     "  - {name: rack, size: 4000000, bandwidth: 1 GB/s, latency: 0}\n"),
            "x.yaml: line 4, levels[0].size: the levels make more than 16,777,216 devices");
  EXPECT_EQ(error_of("name: x\naccelerator: [h100-sxm]\nlevels:\n" + kNode),
            "x.yaml: line 2, accelerator: a text is expected, not '[\"h100-sxm\"]'");
}

TEST(ClusterFile, NamesOfDevicesComeBack) {
  const std::string text = R"(
name: named
accelerator: h100-sxm
levels: [{name: node, size: 4, bandwidth: 100 GB/s, latency: 1 us}]
devices: )";
  const Cluster c = read_cluster(parse_yaml("x", text + "[d0, d2, d1, d3]"));
  EXPECT_EQ(c.parts().device_names, (std::vector<std::string>{"d0", "d2", "d1", "d3"}));
  const Cluster again = read_cluster(parse_json("y", to_json(cluster_file_value(c))));
  EXPECT_EQ(again.parts().device_names, c.parts().device_names);
  EXPECT_EQ(read_cluster(parse_yaml("x", text + "['a/g[0-1]', 'b[3]', c]")).parts().device_names,
            (std::vector<std::string>{"a/g0", "a/g1", "b[3]", "c"}));
  const auto message = [&](const std::string& names) {
    try {
      (void)read_cluster(parse_yaml("x", text + names));
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  EXPECT_EQ(message("[a, b]"), "x: line 5, devices: 2 names, but there are 4 devices");
  EXPECT_EQ(message("[a, b, c, b]"), "x: line 5, devices: two devices are called 'b'");
  EXPECT_EQ(message("[a, b, c, 4]"), "x: line 5, devices: the name of a device is a text");
  EXPECT_EQ(message("['g[0-9999999999]']"), "x: line 5, devices: 'g[0-9999999999]' is too many names");
  EXPECT_EQ(message("7"), "x: line 5, devices: a list with the name of every device is expected");
}

}  // namespace
}  // namespace nest::cluster
