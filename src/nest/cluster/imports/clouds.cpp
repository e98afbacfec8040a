#include "nest/cluster/imports/clouds.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "nest/base/document/document.hpp"
#include "nest/base/error.hpp"
#include "nest/base/units.hpp"
#include "nest/cluster/imports/json_facts.hpp"
#include "nest/cluster/imports/node_models.hpp"
#include "nest/cluster/imports/text_lines.hpp"

namespace nest::cluster {
namespace {

constexpr std::size_t kMostLayers = 8;

void say(ImportFacts& facts, const Document& document, const std::string& cloud) {
  facts.sources.push_back(own_name(document.file) + " (" + cloud + ")");
  facts.notes.known.push_back(count_of(static_cast<std::int64_t>(facts.hosts.size()), "instance") + " of " +
                              cloud + " (" + own_name(document.file) + ")");
}

HostFacts& add_host(ImportFacts& facts, const Document& document, const Entry& entry,
                    const std::string& name) {
  if (name.empty()) fail_entry(document, entry, "an instance without a name");
  HostFacts& host = facts.host(name, document.file, 0);
  if (host.placed) fail_entry(document, entry, "the instance '" + name + "' is listed twice");
  host.placed = true;
  return host;
}

void add_tiers(ImportFacts& facts, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    TierFacts tier;
    tier.name = name;
    facts.tiers.push_back(std::move(tier));
  }
}

// {"NetworkNodes": ["nn-spine", "nn-mid", "nn-leaf"]}: from the outside in.
void read_network_nodes(const Document& document, const Entry& entry, HostFacts& host) {
  const Value* nodes = entry.value->find("NetworkNodes");
  if (nodes == nullptr || nodes->is_null()) return;
  if (nodes->as_array() == nullptr || nodes->as_array()->size() > kMostLayers)
    fail_entry(document, entry, "'NetworkNodes' is a list of three or four nodes of the network");
  for (auto at = nodes->as_array()->rbegin(); at != nodes->as_array()->rend(); ++at)
    host.domains.push_back(text_of(&*at));
}

// What an instance type has, of one that data/nodes.yaml does not know.
void read_instance_type(const Document& document, const Entry& entry, ImportFacts& facts) {
  const std::string type = text_of(entry.value->find("InstanceType"));
  if (type.empty()) fail_entry(document, entry, "an instance type without 'InstanceType'");
  if (find_node_model(type) != nullptr) return;
  const Value* gpus = member(*entry.value, {"GpuInfo", "Gpus"});
  if (gpus == nullptr || gpus->as_array() == nullptr || gpus->as_array()->empty()) return;
  const Value& gpu = gpus->as_array()->front();
  const std::string name = text_of(gpu.find("Name"));
  const auto count = digits_of(text_of(gpu.find("Count")));
  const Chip* chip = find_chip(name);
  if (chip == nullptr || !count || *count < 1 || *count > kMostOfAHost) return;
  NodeFacts node;
  node.source = type;
  node.accelerator = chip->accelerator;
  node.devices = static_cast<std::int32_t>(*count);
  node.fabric = find_accelerator(chip->accelerator).aws_fabric;
  double gigabits = 0;
  if (const Value* cards = member(*entry.value, {"NetworkInfo", "NetworkCards"});
      cards != nullptr && cards->as_array() != nullptr) {
    for (const Value& card : *cards->as_array()) {
      const Value* rate = card.find("BaselineBandwidthInGbps");
      if (rate == nullptr) continue;
      if (rate->as_real() != nullptr && *rate->as_real() > 0 && *rate->as_real() < 1e6)
        gigabits += *rate->as_real();
      if (rate->as_int() != nullptr && *rate->as_int() > 0 && *rate->as_int() < 1'000'000)
        gigabits += static_cast<double>(*rate->as_int());
    }
  }
  if (gigabits > 0) node.network = BytesPerSecond{gigabits * 1e9 / 8};
  facts.notes.known.push_back(type + " has " + std::to_string(*count) + " x " + name + " (" +
                              own_name(document.file) + ")");
  facts.node = std::move(node);
}

}  // namespace

bool is_aws(std::string_view text) {
  return has_key(text, "NetworkNodes") || has_key(text, "InstanceTypes");
}

ImportFacts read_aws(const ImportFile& file) {
  const Document document = parse_document(file.name, file.text);
  ImportFacts facts;
  if (document.root.find("InstanceTypes") != nullptr) {
    for (const Entry& entry : entries_of(document, {"InstanceTypes"}))
      read_instance_type(document, entry, facts);
    facts.sources.push_back(own_name(file.name) + " (AWS)");
    return facts;
  }
  std::size_t layers = 0;
  for (const Entry& entry : entries_of(document, {"Instances"})) {
    HostFacts& host = add_host(facts, document, entry, text_of(entry.value->find("InstanceId")));
    host.type = text_of(entry.value->find("InstanceType"));
    host.links = text_of(entry.value->find("CapacityBlockId"));
    for (const char* key : {"ZoneId", "AvailabilityZone", "GroupName"}) {
      if (std::string group = text_of(entry.value->find(key)); !group.empty())
        host.groups.push_back(std::move(group));
    }
    read_network_nodes(document, entry, host);
    layers = std::max(layers, host.domains.size());
  }
  if (facts.hosts.empty()) throw InputError(file.name, "", "the list of instances is empty");
  // AWS numbers its layers from the outside in.
  for (std::size_t t = 0; t < layers; ++t) {
    TierFacts tier;
    tier.name = "layer" + std::to_string(layers - t);
    facts.tiers.push_back(std::move(tier));
  }
  if (document.root.find("NextToken") != nullptr && !text_of(document.root.find("NextToken")).empty())
    facts.notes.left_out.push_back("further pages of instances: " + file.name + " ends with a NextToken");
  say(facts, document, "AWS");
  return facts;
}

bool is_gcp(std::string_view text) {
  return has_key(text, "physicalHostTopology") ||
         (has_key(text, "machineType") && has_key(text, "selfLink")) ||
         (has_key(text, "machineType") && has_key(text, "zone"));
}

ImportFacts read_gcp(const ImportFile& file) {
  const Document document = parse_document(file.name, file.text);
  ImportFacts facts;
  bool any = false;
  for (const Entry& entry : entries_of(document, {"items", "instances"})) {
    HostFacts& host = add_host(facts, document, entry, text_of(entry.value->find("name")));
    const auto last_of = [&](const char* key) {
      const std::string url = text_of(entry.value->find(key));
      return url.substr(url.rfind('/') + 1);
    };
    host.type = last_of("machineType");
    if (std::string zone = last_of("zone"); !zone.empty()) host.groups.push_back(std::move(zone));
    const std::string status = text_of(entry.value->find("status"));
    if (!status.empty() && status != "RUNNING") host.out = lower_case(status);
    const Value* topology = member(*entry.value, {"resourceStatus", "physicalHostTopology"});
    if (topology == nullptr) topology = entry.value->find("physicalHostTopology");
    if (topology == nullptr || topology->as_object() == nullptr) {
      host.domains.assign(3, "");
      continue;
    }
    for (const char* key : {"subblock", "block", "cluster"})
      host.domains.push_back(text_of(topology->find(key)));
    host.links = host.domains.front();  // one NVL72 rack is one sub-block
    any = true;
  }
  if (facts.hosts.empty()) throw InputError(file.name, "", "the list of instances is empty");
  if (any) {
    add_tiers(facts, {"sub-block", "block", "cluster"});
    facts.links_assumed = "the accelerators' links join the hosts of a sub-block";
  } else {
    for (HostFacts& host : facts.hosts) host.domains.clear();
  }
  say(facts, document, "Google Cloud");
  return facts;
}

bool is_oci(std::string_view text) {
  return has_key(text, "hpc-island-id") || has_key(text, "compute-hpc-island-id") ||
         has_key(text, "hpcIslandId") || has_key(text, "computeHpcIslandId") ||
         has_key(text, "customerHPCIslandId");
}

ImportFacts read_oci(const ImportFile& file) {
  const Document document = parse_document(file.name, file.text);
  ImportFacts facts;
  // {"data": {"items": [..]}} of the command line, {"items": [..]} or a list of its SDKs, one host of the metadata service.
  Document inner;
  const Value* data = document.root.find("data");
  if (data != nullptr) inner = {document.file, document.text, *data, document.is_json};
  const Document& own = data != nullptr ? inner : document;
  // The command line, SDKs and the metadata service spell keys in three ways.
  const auto any_of = [](const Value& value, std::initializer_list<std::string_view> keys) {
    for (const std::string_view key : keys) {
      if (std::string text = text_of(value.find(key)); !text.empty()) return text;
    }
    return std::string();
  };
  for (const Entry& entry : entries_of(own, {"items", "hosts"})) {
    const Value& value = *entry.value;
    HostFacts& host = add_host(facts, own, entry,
                               any_of(value, {"display-name", "displayName", "instance-id", "instanceId",
                                              "id", "customerHostId", "hostname"}));
    host.type = any_of(value, {"shape", "instance-shape", "instanceShape"});
    host.domains = {any_of(value, {"local-block-id", "compute-local-block-id", "localBlockId",
                                   "computeLocalBlockId", "customerLocalBlock"}),
                    any_of(value, {"network-block-id", "compute-network-block-id", "networkBlockId",
                                   "computeNetworkBlockId", "customerNetworkBlock"}),
                    any_of(value, {"hpc-island-id", "compute-hpc-island-id", "hpcIslandId",
                                   "computeHpcIslandId", "customerHPCIslandId"})};
    host.links = any_of(value, {"gpu-memory-fabric-id", "compute-gpu-memory-fabric-id", "gpuMemoryFabricId",
                                "customerGpuMemoryFabric"});
    const std::string state = any_of(value, {"lifecycle-state", "lifecycleState"});
    if (!state.empty() && state != "ACTIVE" && state != "OCCUPIED" && state != "AVAILABLE" &&
        state != "RUNNING")
      host.out = lower_case(state);
  }
  if (facts.hosts.empty()) throw InputError(file.name, "", "the list of hosts is empty");
  add_tiers(facts, {"local-block", "network-block", "island"});
  say(facts, document, "OCI");
  return facts;
}

bool is_azure(std::string_view text) {
  return has_key(text, "vmSize") || (has_key(text, "vmId") && has_key(text, "sku"));
}

ImportFacts read_azure(const ImportFile& file) {
  const Document document = parse_document(file.name, file.text);
  ImportFacts facts;
  for (const Entry& entry : entries_of(document, {"value"})) {
    // The metadata service has all of it under "compute".
    const Value* compute = entry.value->find("compute");
    const Value& value = compute != nullptr ? *compute : *entry.value;
    HostFacts& host = add_host(facts, document, entry, text_of(value.find("name")));
    host.type = text_of(value, {"hardwareProfile", "vmSize"});
    if (host.type.empty()) host.type = text_of(value.find("vmSize"));
    if (host.type.empty()) host.type = text_of(value, {"sku", "name"});
    for (const char* key : {"location", "resourceGroup"}) {
      if (std::string group = text_of(value.find(key)); !group.empty())
        host.groups.push_back(std::move(group));
    }
    const std::string state = text_of(value.find("powerState"));
    if (!state.empty() && !holds(state, "running")) host.out = state;
    host.placed = false;
    host.listed = true;
  }
  if (facts.hosts.empty()) throw InputError(file.name, "", "the list of machines is empty");
  say(facts, document, "Azure");
  return facts;
}

}  // namespace nest::cluster
