#include "nest/cluster/imports/slurm_topology.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "nest/base/closest.hpp"
#include "nest/base/error.hpp"
#include "nest/cluster/imports/slurm_network.hpp"
#include "nest/cluster/imports/text_lines.hpp"

namespace nest::cluster {
namespace {

constexpr std::array<std::string_view, 10> kKeys{"switchname", "switches",  "nodes",      "linkspeed",
                                                 "level",      "blockname", "blockindex", "blocksize",
                                                 "blocksizes", "ringname"};
constexpr std::array<std::string_view, 4> kFirst{"switchname=", "blockname=", "blocksizes=", "ringname="};

// Lines that a backslash continues are one; what is behind '#' does not count.
struct Statement {
  int line = 0;
  std::string text;
};
std::vector<Statement> statements(std::string_view text) {
  std::vector<Statement> out;
  bool continued = false;
  for (const TextLine& line : lines_of(text)) {
    std::string_view own = trimmed(line.text.substr(0, line.text.find('#')));
    const bool more = own.ends_with('\\');
    if (more) own.remove_suffix(1);
    if (continued) {
      out.back().text += " " + std::string(own);
    } else if (!own.empty() || more) {
      out.push_back({line.number, std::string(own)});
    }
    continued = more && !out.empty();
  }
  return out;
}

using Fields = std::map<std::string, std::string>;

Fields fields_of(const Statement& statement, const std::string& file) {
  Fields out;
  for (const std::string_view word : words_of(statement.text)) {
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos)
      fail_line(file, statement.line, "'" + std::string(word) + "' is no KEY=VALUE",
                "lists of names have no blanks: Nodes=node[01-04],node07");
    const std::string key = lower_case(word.substr(0, equals));
    if (std::find(kKeys.begin(), kKeys.end(), key) == kKeys.end()) {
      const std::vector<std::string> known{"SwitchName", "Switches",   "Nodes",   "LinkSpeed",
                                           "BlockName",  "BlockSizes", "RingName"};
      fail_line(file, statement.line, "unknown key '" + std::string(word.substr(0, equals)) + "'",
                did_you_mean(word.substr(0, equals), known));
    }
    std::string_view value = word.substr(equals + 1);
    if (value.size() > 1 && value.starts_with('"') && value.ends_with('"'))
      value = value.substr(1, value.size() - 2);
    if (value == "(null)") value = {};
    out.try_emplace(key, value);
  }
  return out;
}

std::string take(Fields& fields, const std::string& key) {
  const auto at = fields.find(key);
  return at == fields.end() ? "" : at->second;
}

void read_sizes(const std::string& text, const Statement& statement, SlurmNetwork& network) {
  network.block_sizes.clear();
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::size_t comma = rest.find(',');
    const auto size = digits_of(rest.substr(0, comma));
    if (!size || *size < 1)
      fail_line(network.file, statement.line, "BlockSizes is a list of numbers of nodes, such as 30,120");
    network.block_sizes.push_back(*size);
    rest.remove_prefix(comma == std::string_view::npos ? rest.size() : comma + 1);
  }
}

void read_statement(const Statement& statement, SlurmNetwork& network) {
  Fields fields = fields_of(statement, network.file);
  SlurmGroup group{
      .nodes = take(fields, "nodes"), .children = take(fields, "switches"), .line = statement.line};
  const auto named = [&](const char* key) {
    if (!fields.contains(key)) return false;
    group.name = take(fields, key);
    if (group.name.empty()) fail_line(network.file, statement.line, "the name is empty");
    return true;
  };
  if (named("switchname")) {
    // `scontrol show topology` lists for every switch all nodes below it.
    if (!group.children.empty() && fields.contains("level")) group.nodes.clear();
    network.switches.push_back(std::move(group));
  } else if (named("blockname")) {
    network.blocks.push_back(std::move(group));
  } else if (named("ringname")) {
    network.rings.push_back(std::move(group));
  } else if (fields.contains("blocksizes")) {
    read_sizes(take(fields, "blocksizes"), statement, network);
  } else {
    fail_line(network.file, statement.line,
              "a line begins with SwitchName=, BlockName=, BlockSizes= or RingName=");
  }
}

}  // namespace

bool is_slurm_topology(std::string_view text) {
  for (const TextLine& line : lines_of(text)) {
    const std::string own = lower_case(trimmed(line.text).substr(0, 20));
    if (std::any_of(kFirst.begin(), kFirst.end(),
                    [&](std::string_view first) { return own.starts_with(first); }))
      return true;
  }
  return false;
}

ImportFacts read_slurm_topology(const ImportFile& file) {
  SlurmNetwork network;
  network.file = file.name;
  for (const Statement& statement : statements(file.text)) read_statement(statement, network);
  if (network.empty())
    throw InputError(file.name, "", "no switches, blocks or rings are described",
                     "a line is like 'SwitchName=leaf1 Nodes=node[001-032]'");
  return facts_of(network);
}

}  // namespace nest::cluster
