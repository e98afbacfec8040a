#include "nest/frameworks/megatron_core/hydra_file.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace nest::frameworks {
namespace {

// All but the last word: "actor.megatron" of "+actor.megatron.dtype"; a word alone is its own section.
std::string section_of(std::string_view key) {
  if (key.starts_with('+')) key.remove_prefix(1);
  return std::string(key.substr(0, key.rfind('.')));
}

}  // namespace

std::string hydra_text(const std::vector<Setting>& settings) {
  std::vector<std::string> sections;
  for (const Setting& setting : settings) {
    std::string section = section_of(setting.key);
    if (std::find(sections.begin(), sections.end(), section) == sections.end())
      sections.push_back(std::move(section));
  }
  std::string out;
  for (const std::string& section : sections) {
    out += fmt::format("{}# {}\n", out.empty() ? "" : "\n", section);
    for (const Setting& setting : settings) {
      if (section_of(setting.key) == section) out += fmt::format("{}={}\n", setting.key, setting.value);
    }
  }
  return out;
}

std::string hydra_reader(std::string_view file, std::string_view array) {
  return fmt::format("mapfile -t {} < <(sed -e '/^#/d' -e '/^$/d' \"$here/{}\")\n", array, file);
}

}  // namespace nest::frameworks
