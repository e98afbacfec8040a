#include "nest/cluster/imports/host_kind.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <utility>

#include "nest/base/closest.hpp"
#include "nest/base/error.hpp"
#include "nest/cluster/imports/node_models.hpp"

namespace nest::cluster {
namespace {

// What the words of one host come to.
struct Found {
  std::string accelerator;
  std::int32_t devices = 0;
  const NodeModel* model = nullptr;
  bool slots = false;
  std::string what;  // "p5.48xlarge"
};

// "1g.10gb": a slice of a GPU.
bool is_slice(const std::string& chip) {
  const std::size_t dot = chip.find("g.");
  return dot != std::string::npos && dot > 0 && std::isdigit(static_cast<unsigned char>(chip[dot - 1])) != 0;
}

[[noreturn]] void refuse_chip(const HostFacts& host, const std::string& chip) {
  throw InputError(
      host.file, host.place(), "no figures are known of '" + chip + "'",
      "name a like accelerator with --accelerator; 'nest clusters --accelerators' lists those known");
}

class KindFinder {
 public:
  KindFinder(ImportFacts& facts, std::string accelerator) : facts_(facts), stated_(std::move(accelerator)) {
    if (!stated_.empty()) stated_ = find_accelerator(stated_).name;
  }

  HostKind find() {
    std::map<std::string, std::vector<std::string>> hosts;  // by accelerator
    std::map<std::int32_t, std::int64_t> counts;            // hosts with so many devices
    std::optional<Found> usual;
    for (HostFacts& host : facts_.hosts) {
      const Found& found = look_up(host);
      if (host.devices.value_or(0) > kMostOfAHost)
        throw InputError(host.file, host.place(), format_digits(*host.devices) + " devices in one host");
      host.devices = host.devices.value_or(found.devices);
      hosts[found.accelerator].push_back(host.name);
      ++counts[*host.devices];
      if (!usual) usual = found;
    }
    if (!usual) usual = look_up(HostFacts{});
    refuse_mixture(hosts);
    const auto most = std::max_element(counts.begin(), counts.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    const std::int32_t devices = counts.empty() ? usual->devices : most->first;
    return kind(*usual, devices);
  }

 private:
  const Found& look_up(const HostFacts& host) {
    const std::string key = host.type + "\n" + host.chip;
    const auto [at, fresh] = found_.try_emplace(key);
    if (fresh) at->second = found(host);
    return at->second;
  }

  Found found(const HostFacts& host) {
    Found out;
    if (is_slice(host.chip))
      throw InputError(host.file, host.place(), "'" + host.chip + "' is a slice of a GPU (MIG)",
                       "plans are made for whole ones");
    out.model = host.type.empty() ? nullptr : find_node_model(host.type);
    const std::optional<NodeFacts>& node = facts_.node;
    const Chip* chip = host.chip.empty() ? nullptr : find_chip(host.chip);
    if (chip == nullptr && out.model == nullptr && !host.type.empty()) chip = find_chip(host.type);
    if (!stated_.empty()) {
      out.accelerator = stated_;
      chip = chip_of(stated_);
      out.what = "--accelerator";
    } else if (node && !node->accelerator.empty()) {
      out.accelerator = node->accelerator;
      out.what = node->source;
    } else if (out.model != nullptr) {
      out.accelerator = out.model->accelerator;
      out.what = host.type;
    } else if (chip != nullptr) {
      out.accelerator = chip->accelerator;
      out.what = host.chip.empty() ? host.type : host.chip;
      if (!chip->assumed.empty())
        facts_.notes.assumed.push_back(chip->assumed + " for '" + out.what + "' (" + chip->accelerator +
                                       "); --accelerator says otherwise");
    } else if (!host.chip.empty()) {
      refuse_chip(host, host.chip);
    } else if (!host.type.empty()) {
      refuse_type(host);
    } else {
      out.accelerator = import_defaults().accelerator;
      facts_.notes.assumed.push_back("the accelerator is " + out.accelerator +
                                     ": no file names it; --accelerator or --node says otherwise");
    }
    out.slots = out.model != nullptr ? out.model->slots : chip != nullptr && chip->slots;
    out.devices = devices(out, host);
    return out;
  }

  std::int32_t devices(const Found& found, const HostFacts& host) {
    if (facts_.node && facts_.node->devices > 0) return facts_.node->devices;
    if (found.model != nullptr) return found.model->devices;
    if (host.devices) return *host.devices;
    constexpr std::int32_t kTray = 4;  // of a rack whose links reach over all of it
    const bool rack = find_accelerator(found.accelerator).scale_up.domain > 0;
    const std::int32_t usual = rack ? kTray : import_defaults().devices;
    facts_.notes.assumed.push_back(std::to_string(usual) +
                                   " accelerators in a host: no file says how many; --nodes or --node does");
    return usual;
  }

  [[noreturn]] static void refuse_type(const HostFacts& host) {
    std::vector<std::string> known;
    for (const NodeModel& model : node_models())
      known.insert(known.end(), model.names.begin(), model.names.end());
    const std::string guess = did_you_mean(host.type, known);
    throw InputError(
        host.file, host.place(), "the instance type '" + host.type + "' is not known",
        guess.empty() ? "name its accelerator with --accelerator, or pick other hosts with --only" : guess);
  }

  void refuse_mixture(const std::map<std::string, std::vector<std::string>>& hosts) const {
    if (hosts.size() < 2) return;
    std::string what = "hosts have different accelerators";
    for (const auto& [name, own] : hosts)
      what += (what.back() == 's' ? ": " : "; ") + name + " in " + count_hosts(own);
    throw InputError(facts_.hosts.front().file, "", what,
                     "a cluster has one kind for now: pick hosts with --only");
  }

  void refuse_other_size(std::int32_t devices) const {
    const NodeFacts& node = *facts_.node;
    if (node.devices == devices || facts_.hosts.empty()) return;
    throw InputError(node.source, "",
                     "it describes a host with " + count_of(node.devices, "accelerator") +
                         ", but most hosts have " + std::to_string(devices),
                     "--only picks hosts that are like it");
  }

  void say(const Found& found, const HostKind& kind) {
    std::string sentence =
        count_of(kind.devices, "accelerator") + " " + kind.accelerator.name + " in a " + noun();
    if (!found.what.empty()) sentence += " (" + found.what + ")";
    facts_.notes.known.push_back(std::move(sentence));
    std::vector<std::string> fewer;
    for (const HostFacts& host : facts_.hosts) {
      if (*host.devices != kind.devices) fewer.push_back(host.name + " has " + std::to_string(*host.devices));
    }
    constexpr std::size_t kShown = 4;
    if (fewer.size() > kShown) {
      facts_.notes.known.push_back(format_digits(static_cast<std::int64_t>(fewer.size())) +
                                   " hosts have another number, the first: " + fewer.front());
    } else {
      for (const std::string& one : fewer) facts_.notes.known.push_back(one);
    }
    if (found.model == nullptr) return;
    if (!found.model->checked)
      facts_.notes.assumed.push_back("the figures of " + found.model->names.front() +
                                     " come from general knowledge (data/nodes.yaml)");
    if (!found.model->note.empty())
      facts_.notes.assumed.push_back(found.model->names.front() + ": " + found.model->note);
  }

  HostKind kind(const Found& found, std::int32_t devices) {
    HostKind out;
    out.accelerator = find_accelerator(found.accelerator);
    out.devices = devices;
    const std::optional<NodeFacts>& node = facts_.node;
    if (node && !node->levels.empty()) {
      refuse_other_size(devices);
      out.levels = node->levels;
      out.device_names = node->device_names;
    } else if (found.model != nullptr && !found.model->levels.empty() && found.model->devices == devices) {
      out.levels = found.model->levels;
    } else if (found.slots || !out.accelerator.scale_up_bandwidth) {
      const int generation = usual_pcie(out.accelerator);
      out.levels = {level_of_slots(devices, generation)};
      if (devices > 1)
        facts_.notes.assumed.push_back("PCI Express " + std::to_string(generation) + ".0 between the " +
                                       std::to_string(devices) +
                                       " accelerators of a host; --node says otherwise");
    } else {
      out.levels = {level_of_links(out.accelerator, devices)};
    }
    network(found, out);
    if (found.model != nullptr) {
      out.unit = found.model->unit;
      out.domain = found.model->domain;
    }
    if (out.domain == 0 && out.accelerator.scale_up.domain > 0)
      out.domain = static_cast<std::int32_t>(out.accelerator.scale_up.domain) / std::max(1, devices);
    if (!node || (!node->whole_cluster && node->noun == "host")) say(found, out);
    return out;
  }

  [[nodiscard]] std::string noun() const { return facts_.node ? facts_.node->noun : "host"; }

  void network(const Found& found, HostKind& out) {
    const std::optional<NodeFacts>& node = facts_.node;
    const bool model = found.model != nullptr && found.model->network.has_value();
    out.latency = import_defaults().network_latency;
    if (model && found.model->latency) out.latency = *found.model->latency;
    if (node && node->latency) out.latency = *node->latency;
    out.fabric = node && !node->fabric.empty() ? node->fabric
                 : found.model != nullptr      ? found.model->fabric
                                               : "";
    if (node && node->network) {
      out.network = *node->network;
    } else if (model) {
      out.network = *found.model->network;
    } else {
      const BytesPerSecond one = out.accelerator.nic_bandwidth.value_or(import_defaults().network);
      out.network = one * (node && node->nics ? *node->nics : out.devices);
      const std::string own = "what is usual for " + out.accelerator.name;
      out.network_assumed = format(out.network) + " of network for a " + noun() + ": ";
      out.network_assumed +=
          node && node->nics
              ? count_of(static_cast<std::int64_t>(*node->nics), "network interface") + " at " + own
              : own;
    }
  }

  ImportFacts& facts_;
  std::string stated_;
  std::map<std::string, Found> found_;
};

}  // namespace

HostKind find_host_kind(ImportFacts& facts, const std::string& accelerator) {
  return KindFinder(facts, accelerator).find();
}

}  // namespace nest::cluster
