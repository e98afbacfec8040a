#include "nest/cluster/imports/xml.hpp"

#include <gtest/gtest.h>

#include <string>

#include "support/message_of.hpp"

namespace nest::cluster {
namespace {

std::string refusal(const std::string& text) {
  return message_of([&] { static_cast<void>(parse_xml("x.xml", text)); });
}

TEST(Xml, ElementsAttributesAndText) {
  const XmlElement root = parse_xml(
      "x.xml",
      "<?xml version=\"1.0\" ?>\n<!DOCTYPE nvidia_smi_log SYSTEM \"nvsmi_device_v12.dtd\">\n"
      "<log a='1' b=\"x &lt; &quot;y&quot;\">\n <gpu id=\"0\"><name> H100 &amp; more </name></gpu>\n"
      " <!-- nothing <gpu> -->\n <gpu id=\"1\"/>\n</log>\n");
  EXPECT_EQ(root.name, "log");
  EXPECT_EQ(root.attribute("b"), "x < \"y\"");
  EXPECT_EQ(root.attribute("c"), "");
  ASSERT_EQ(root.children.size(), 2U);
  EXPECT_EQ(root.children[0].text_of("name"), "H100 & more");
  EXPECT_EQ(root.children[1].attribute("id"), "1");
  EXPECT_EQ(root.children[1].line, 6);
  EXPECT_EQ(root.child("none"), nullptr);
}

TEST(Xml, WhatIsBrokenIsSaidWithItsLine) {
  const std::string hint = "; a whole XML file is expected";
  EXPECT_EQ(refusal("hello"), "x.xml: line 1: no XML element" + hint);
  EXPECT_EQ(refusal("<a>\n<b>\n</a>"), "x.xml: line 3: </a> closes <b> of line 2" + hint);
  EXPECT_EQ(refusal("<a>\n"), "x.xml: line 1: <a> of line 1 is not closed" + hint);
  EXPECT_EQ(refusal("<a b>"), "x.xml: line 1: 'b' has no value" + hint);
  EXPECT_EQ(refusal("<a b=1>"), "x.xml: line 1: the value of 'b' is not in quotes" + hint);
  EXPECT_EQ(refusal("<a/>\n<b/>"), "x.xml: line 2: text after the end of <a>" + hint);
  EXPECT_EQ(refusal("<a><!-- x</a>"), "x.xml: line 1: '<!--' is not closed" + hint);
  std::string deep;
  for (int i = 0; i < 100; ++i) deep += "<a>";
  EXPECT_EQ(refusal(deep), "x.xml: line 1: nested more than 64 deep" + hint);
}

}  // namespace
}  // namespace nest::cluster
