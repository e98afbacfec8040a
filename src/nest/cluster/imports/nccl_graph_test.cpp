#include "nest/cluster/imports/nccl_graph.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "support/message_of.hpp"

namespace nest::cluster {
namespace {

using testing::ElementsAre;

NodeFacts node(const std::string& type, ImportNotes& notes) {
  const std::string text =
      "<graphs version=\"1\"><graph id=\"0\" nchannels=\"2\" speedintra=\"20\" typeintra=\"" + type +
      "\"><channel><net dev=\"4\"/><gpu dev=\"2\"/><gpu dev=\"0\"/><net "
      "dev=\"4\"/></channel></graph></graphs>";
  return node_of_graphs(parse_xml("g.xml", text), "g.xml", "a100-80", notes);
}

TEST(NcclGraph, GpusInTheOrderOfTheChannel) {
  ImportNotes notes;
  const NodeFacts links = node("NVL", notes);
  EXPECT_THAT(links.device_names, ElementsAre("gpu2", "gpu0"));
  EXPECT_EQ(links.nics, 1);
  EXPECT_DOUBLE_EQ(links.levels.front().bandwidth.value, 300e9);
  EXPECT_DOUBLE_EQ(node("PHB", notes).levels.front().bandwidth.value, 32e9);
}

TEST(NcclGraph, AGraphWithoutGpus) {
  ImportNotes notes;
  EXPECT_EQ(
      message_of(
          [&] { static_cast<void>(node_of_graphs(parse_xml("g.xml", "<graphs/>"), "g.xml", "", notes)); }),
      "g.xml: no channel of a graph has a GPU; NCCL_GRAPH_DUMP_FILE writes <channel> with <gpu dev=..>");
}

}  // namespace
}  // namespace nest::cluster
