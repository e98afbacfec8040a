#include "nest/cluster/imports/kubernetes.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <utility>

#include "nest/base/document/document.hpp"
#include "nest/base/error.hpp"
#include "nest/cluster/imports/json_facts.hpp"
#include "nest/cluster/imports/node_models.hpp"
#include "nest/cluster/imports/text_lines.hpp"

namespace nest::cluster {
namespace {

// Who labels nodes with their switches, the nearest tier first.
struct LabelFamily {
  std::array<std::string_view, 4> keys;
  std::array<std::string_view, 4> names;
};
constexpr std::array kFamilies{
    LabelFamily{{"network.topology.nvidia.com/leaf", "network.topology.nvidia.com/spine",
                 "network.topology.nvidia.com/core"},
                {"leaf", "spine", "core"}},
    LabelFamily{{"topology.k8s.aws/network-node-layer-4", "topology.k8s.aws/network-node-layer-3",
                 "topology.k8s.aws/network-node-layer-2", "topology.k8s.aws/network-node-layer-1"},
                {"layer4", "layer3", "layer2", "layer1"}},
    LabelFamily{{"cloud.google.com/gce-topology-subblock", "cloud.google.com/gce-topology-block"},
                {"sub-block", "block"}},
    LabelFamily{{"oci.oraclecloud.com/rdma.local_block_id", "oci.oraclecloud.com/rdma.network_block_id",
                 "oci.oraclecloud.com/rdma.hpc_island_id"},
                {"local-block", "network-block", "island"}},
    LabelFamily{{"oci.oraclecloud.com/host.rack_id", "oci.oraclecloud.com/host.network_block_id"},
                {"rack", "network-block"}},
    LabelFamily{{"ib.coreweave.cloud/leafgroup", "ib.coreweave.cloud/superpod", "ib.coreweave.cloud/fabric"},
                {"leafgroup", "superpod", "fabric"}},
    LabelFamily{{"backend.coreweave.cloud/leafgroup", "backend.coreweave.cloud/superpod",
                 "backend.coreweave.cloud/fabric"},
                {"leafgroup", "superpod", "fabric"}},
};
constexpr std::string_view kTierLabel = "fabric.topograph.run/tier-";
constexpr std::size_t kMostTiers = 8;

// Domains of links that reach over several nodes.
constexpr std::array<std::string_view, 6> kLinkLabels{"nvidia.com/gpu.clique",
                                                      "accelerator.topograph.run/domain",
                                                      "network.topology.nvidia.com/accelerator",
                                                      "topology.k8s.aws/ultraserver-id",
                                                      "cloud.google.com/gke-tpu-slice",
                                                      "cloud.google.com/gke-nodepool"};

// What device plugins count.
constexpr std::array<std::string_view, 5> kResources{"nvidia.com/gpu", "amd.com/gpu", "google.com/tpu",
                                                     "aws.amazon.com/neuron", "habana.ai/gaudi"};
constexpr std::array<std::string_view, 5> kChipLabels{
    "nvidia.com/gpu.product", "amd.com/gpu.product-name", "beta.amd.com/gpu.product-name",
    "cloud.google.com/gke-accelerator", "cloud.google.com/gke-tpu-accelerator"};

struct Node {
  std::string name;
  const Value* value = nullptr;
  const Value* labels = nullptr;

  [[nodiscard]] std::string label(std::string_view key) const {
    return labels == nullptr ? "" : text_of(labels->find(key));
  }
};

std::optional<std::int64_t> resource(const Node& node, const char* of) {
  const Value* list = member(*node.value, {"status", of});
  if (list == nullptr) return std::nullopt;
  std::optional<std::int64_t> out;
  for (const std::string_view key : kResources) {
    const auto count = digits_of(text_of(list->find(key)));
    if (count && *count <= kMostOfAHost) out = out.value_or(0) + *count;
  }
  return out;
}

// Why no pods come to the node.
std::string why_out(const Node& node) {
  if (const Value* cordoned = member(*node.value, {"spec", "unschedulable"});
      cordoned != nullptr && cordoned->as_bool() != nullptr && *cordoned->as_bool())
    return "cordoned";
  const Value* conditions = member(*node.value, {"status", "conditions"});
  if (conditions == nullptr || conditions->as_array() == nullptr) return "";
  for (const Value& condition : *conditions->as_array()) {
    if (text_of(condition.find("type")) != "Ready") continue;
    const Value* status = condition.find("status");
    const bool ready = status != nullptr &&
                       (text_of(status) == "True" || (status->as_bool() != nullptr && *status->as_bool()));
    return ready ? "" : "not ready";
  }
  return "";
}

class Nodes {
 public:
  explicit Nodes(const ImportFile& file) : document_(parse_document(file.name, file.text)) {}

  ImportFacts read() {
    for (const Entry& entry : entries_of(document_, {"items"})) {
      Node node{text_of(*entry.value, {"metadata", "name"}), entry.value,
                member(*entry.value, {"metadata", "labels"})};
      const std::string kind = text_of(entry.value->find("kind"));
      if (!kind.empty() && kind != "Node")
        fail_entry(document_, entry, "this is a " + kind + ", not a node",
                   "kubectl get nodes -o json lists nodes");
      if (node.name.empty())
        fail_entry(document_, entry, "a node without metadata.name", "kubectl get nodes -o json has it");
      nodes_.push_back(std::move(node));
    }
    if (nodes_.empty()) throw InputError(document_.file, "", "the list of nodes is empty");
    for (const Node& node : nodes_) add(node);
    add_tiers();
    add_sites();
    facts_.sources.push_back(own_name(document_.file) + " (Kubernetes)");
    facts_.notes.known.push_back(count_of(static_cast<std::int64_t>(nodes_.size()), "node") +
                                 " of Kubernetes (" + own_name(document_.file) + ")");
    return std::move(facts_);
  }

 private:
  void add(const Node& node) {
    HostFacts& host = facts_.host(node.name, document_.file, 0);
    if (host.listed) throw InputError(document_.file, "", "the node '" + node.name + "' is listed twice");
    host.listed = true;
    host.type = node.label("node.kubernetes.io/instance-type");
    if (host.type.empty()) host.type = node.label("beta.kubernetes.io/instance-type");
    for (const std::string_view key : kChipLabels) {
      if (host.chip.empty()) host.chip = node.label(key);
    }
    // Machines of one's own have types that mean nothing elsewhere.
    if (find_node_model(host.type) == nullptr && !host.chip.empty())
      host.groups.push_back(std::exchange(host.type, ""));
    count(node, host);
    if (std::string why = why_out(node); !why.empty()) host.out = std::move(why);
    host.slice = node.label("cloud.google.com/gke-tpu-topology");
    for (const std::string_view key : kLinkLabels) {
      const bool slices = key.ends_with("nodepool") || key.ends_with("tpu-slice");
      if (host.links.empty() && slices == !host.slice.empty()) host.links = node.label(key);
    }
    for (const char* key : {"topology.kubernetes.io/zone", "topology.kubernetes.io/region",
                            "cloud.google.com/gke-nodepool", "eks.amazonaws.com/nodegroup", "agentpool"}) {
      if (std::string group = node.label(key); !group.empty()) host.groups.push_back(std::move(group));
    }
  }

  // A device that cannot be allocated is broken, or not there; which one it is nobody says.
  void count(const Node& node, HostFacts& host) {
    const auto capacity = resource(node, "capacity");
    const auto usable = resource(node, "allocatable");
    const auto labelled = digits_of(node.label("nvidia.com/gpu.count"));
    const auto devices = usable ? usable : capacity ? capacity : labelled;
    host.devices = static_cast<std::int32_t>(std::min(devices.value_or(0), kMostOfAHost));
    if (capacity && usable && *usable > 0 && *usable < *capacity)
      facts_.notes.left_out.push_back(count_of(*capacity - *usable, "accelerator") + " of " + node.name +
                                      " that cannot be allocated; which of them is not said");
    if (capacity && usable && *capacity > 0 && *usable == 0) {
      host.devices = static_cast<std::int32_t>(std::min(*capacity, kMostOfAHost));
      host.out = "none of its accelerators can be allocated";
    }
  }

  [[nodiscard]] bool any(std::string_view key) const {
    return std::any_of(nodes_.begin(), nodes_.end(),
                       [&](const Node& node) { return !node.label(key).empty(); });
  }

  void add_tier(const std::string& key, std::string name) {
    TierFacts tier;
    tier.name = std::move(name);
    facts_.tiers.push_back(std::move(tier));
    for (std::size_t n = 0; n < nodes_.size(); ++n) facts_.hosts[n].domains.push_back(nodes_[n].label(key));
    mark_placed();
  }

  void mark_placed() {
    for (HostFacts& host : facts_.hosts) host.placed = true;
  }

  void add_tiers() {
    for (std::size_t t = 0; t < kMostTiers; ++t) {
      const std::string key = std::string(kTierLabel) + std::to_string(t);
      if (any(key)) add_tier(key, usual_tier_name(facts_.tiers.size()));
    }
    if (!facts_.tiers.empty()) return;
    for (const LabelFamily& family : kFamilies) {
      for (std::size_t t = 0; t < family.keys.size(); ++t) {
        if (!family.keys[t].empty() && any(family.keys[t]))
          add_tier(std::string(family.keys[t]), std::string(family.names[t]));
      }
      if (!facts_.tiers.empty()) return;
    }
  }

  // Zones and regions, where the nodes are in several.
  void add_sites() {
    struct Site {
      const char* key;
      const char* older;
      const char* name;
      Seconds latency;
    };
    const std::array sites{Site{"topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone",
                                "zone", import_defaults().zone_latency},
                           Site{"topology.kubernetes.io/region", "failure-domain.beta.kubernetes.io/region",
                                "region", import_defaults().region_latency}};
    for (std::size_t s = 0; s < sites.size(); ++s) {
      std::vector<std::string> labels;
      std::set<std::string> different;
      for (const Node& node : nodes_) {
        std::string label = node.label(sites[s].key);
        if (label.empty()) label = node.label(sites[s].older);
        if (node_counts(node)) different.insert(label);
        labels.push_back(std::move(label));
      }
      if (different.size() < 2) continue;
      TierFacts inside;
      inside.name = sites[s].name;
      TierFacts between;
      between.name = s == 0 ? "region" : "world";
      between.latency = sites[s].latency;
      between.oversubscription_known = true;
      between.assumed = format(sites[s].latency) + " between " + std::to_string(different.size()) + " " +
                        sites[s].name + "s, at the bandwidth of the network inside them";
      const bool follows = !facts_.tiers.empty() && facts_.tiers.back().latency.has_value();
      if (follows) {
        // The tier that joins zones is the region.
        for (std::size_t n = 0; n < nodes_.size(); ++n) facts_.hosts[n].domains.back() = labels[n];
      } else {
        facts_.tiers.push_back(std::move(inside));
        for (std::size_t n = 0; n < nodes_.size(); ++n) facts_.hosts[n].domains.push_back(labels[n]);
      }
      facts_.tiers.push_back(std::move(between));
      for (HostFacts& host : facts_.hosts) host.domains.emplace_back("all");
      mark_placed();
    }
  }

  [[nodiscard]] bool node_counts(const Node& node) const {
    const HostFacts* host = facts_.find(node.name);
    return host != nullptr && host->devices.value_or(0) > 0;
  }

  Document document_;
  std::vector<Node> nodes_;
  ImportFacts facts_;
};

}  // namespace

bool is_kubernetes_nodes(std::string_view text) {
  const std::string_view head = text.substr(0, 1 << 20);
  const bool api = has_key(head, "apiVersion") || has_key(head, "kind");
  return api && (has_key(head, "allocatable") || has_key(head, "capacity") || has_key(head, "nodeInfo"));
}

ImportFacts read_kubernetes_nodes(const ImportFile& file) {
  return Nodes(file).read();
}

}  // namespace nest::cluster
