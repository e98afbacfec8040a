#include <optional>
#include <utility>

#include "nest/base/document/document.hpp"
#include "nest/base/document/reader.hpp"
#include "nest/base/error.hpp"
#include "nest/cluster/imports/slurm_network.hpp"
#include "nest/cluster/imports/slurm_topology.hpp"
#include "nest/cluster/imports/text_lines.hpp"

namespace nest::cluster {
namespace {

constexpr std::int64_t kMostSide = 4096;

// A list of names: one text, or a list of them.
std::string names(Reader& r, const std::string& key) {
  const Value* value = r.find(key);
  if (value == nullptr) return "";
  if (value->as_string() != nullptr) return *value->as_string();
  if (value->as_int() != nullptr) return std::to_string(*value->as_int());
  std::string out;
  const Value::Array* list = value->as_array();
  if (list == nullptr) r.fail_at(key, "a list of names such as node[01-04] is expected");
  for (const Value& item : *list) {
    if (item.as_string() == nullptr) r.fail_at(key, "a list of names such as node[01-04] is expected");
    out += (out.empty() ? "" : ",") + *item.as_string();
  }
  return out;
}

SlurmGroup read_group(Reader& r, const std::string& noun) {
  SlurmGroup group;
  group.name = r.text(noun);
  group.line = r.value().line();
  group.nodes = names(r, "nodes");
  if (noun == "switch") group.children = names(r, "children");
  if (noun == "switch") static_cast<void>(r.find("link_speed"));
  return group;
}

std::vector<SlurmGroup> read_groups(Reader r, const std::string& list, const std::string& noun) {
  std::vector<SlurmGroup> out;
  for (Reader& entry : r.objects(list)) {
    out.push_back(read_group(entry, noun));
    entry.done();
  }
  r.done();
  return out;
}

void read_blocks(Reader r, SlurmNetwork& network) {
  if (r.has("block_sizes")) network.block_sizes = r.wholes("block_sizes", {1, 1 << 20});
  for (Reader& entry : r.objects("blocks")) {
    network.blocks.push_back(read_group(entry, "block"));
    entry.done();
  }
  r.done();
}

void read_toruses(Reader r, SlurmNetwork& network) {
  for (Reader& entry : r.objects("toruses")) {
    SlurmGroup torus = read_group(entry, "name");
    Reader dims = entry.object("dims");
    for (const char* side : {"x", "y", "z"})
      torus.dims.push_back(static_cast<std::int32_t>(dims.whole(side, {1, kMostSide})));
    dims.done();
    static_cast<void>(entry.find("placements"));  // what jobs may take of it
    if (torus.nodes.empty() && entry.has("regions"))
      entry.fail_at("regions", "nodes by region are not understood",
                    "list all nodes of the torus under 'nodes', x fastest");
    network.toruses.push_back(std::move(torus));
    entry.done();
  }
  r.done();
}

// None where this is not the topology that counts.
SlurmNetwork read_topology(Reader& r, const std::string& file) {
  SlurmNetwork network;
  network.file = file;
  if (auto tree = r.object_if("tree")) network.switches = read_groups(std::move(*tree), "switches", "switch");
  if (auto block = r.object_if("block")) read_blocks(std::move(*block), network);
  if (auto ring = r.object_if("ring")) network.rings = read_groups(std::move(*ring), "rings", "ring");
  if (auto torus = r.object_if("torus3d")) read_toruses(std::move(*torus), network);
  static_cast<void>(r.boolean_or("flat", false));
  r.done();
  return network;
}

}  // namespace

bool is_slurm_yaml(std::string_view text) {
  for (const TextLine& line : lines_of(text)) {
    std::string_view own = trimmed(line.text);
    if (own.starts_with('-')) own = trimmed(own.substr(1));
    if (own.starts_with("topology:") || own.starts_with("\"topology\":")) {
      // ASTRA-sim's network files have a list there.
      return !holds(own, "[");
    }
  }
  return false;
}

ImportFacts read_slurm_yaml(const ImportFile& file) {
  Document document = parse_document(file.name, file.text);
  if (document.root.as_array() == nullptr)
    throw InputError(file.name, "", "a list of topologies is expected",
                     "each entry is like '- topology: default'");
  Value root = Value::object();
  root.set("topologies", std::move(document.root));
  document.root = std::move(root);
  Reader top(document);
  std::optional<SlurmNetwork> chosen;
  std::string chosen_name;
  bool chosen_default = false;
  std::vector<std::string> others;
  for (Reader& entry : top.objects("topologies")) {
    std::string name = entry.text("topology");
    const bool usual = entry.boolean_or("cluster_default", false);
    SlurmNetwork network = read_topology(entry, file.name);
    if (!chosen || (usual && !chosen_default)) {
      if (chosen) others.push_back(chosen_name);
      chosen = std::move(network);
      chosen_name = std::move(name);
      chosen_default = usual;
    } else {
      others.push_back(std::move(name));
    }
  }
  if (!chosen) throw InputError(file.name, "", "the list of topologies is empty");
  ImportFacts facts;
  if (chosen->empty()) {
    facts.sources.push_back(own_name(file.name) + " (Slurm)");
    facts.notes.known.push_back("the topology '" + chosen_name + "' is flat: Slurm tells no nodes apart");
  } else {
    facts = facts_of(*chosen);
  }
  const std::string taken = " of " + own_name(file.name) + ": '" + chosen_name + "' is taken";
  for (const std::string& other : others)
    facts.notes.left_out.push_back(std::string("the topology '").append(other).append("'").append(taken));
  return facts;
}

}  // namespace nest::cluster
