// Elements, attributes and text of small XML files, as NCCL and nvidia-smi write them: no schemas, no namespaces, no
// entities but the five of XML itself.
//
//   const XmlElement root = parse_xml("topo.xml", "<system version=\"1\"><cpu numaid=\"0\"/></system>");
//   root.children[0].attribute("numaid")   -> "0"
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "nest/base/rooms.hpp"

namespace nest::cluster {

struct XmlElement {
  std::string name;
  std::vector<std::pair<std::string, std::string>> attributes;
  std::string text;  // without what its children hold, and without blanks around it
  std::vector<XmlElement> children;
  int line = 0;

  // Empty where there is none.
  [[nodiscard]] std::string_view attribute(std::string_view key) const;
  [[nodiscard]] const XmlElement* child(std::string_view child_name) const;
  // The text of a child; empty where there is none.
  [[nodiscard]] std::string_view text_of(std::string_view child_name) const;
};

// Throws an InputError with the line where elements are not closed, or nested too deep.
[[nodiscard]] XmlElement parse_xml(const std::string& file, std::string_view text);

}  // namespace nest::cluster
