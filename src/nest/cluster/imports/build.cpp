#include "nest/cluster/imports/build.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "nest/base/error.hpp"
#include "nest/base/plain_text.hpp"
#include "nest/cluster/cluster_file.hpp"
#include "nest/cluster/imports/host_choice.hpp"
#include "nest/cluster/imports/host_kind.hpp"
#include "nest/cluster/imports/host_levels.hpp"
#include "nest/cluster/imports/host_tree.hpp"
#include "nest/cluster/imports/node_models.hpp"
#include "nest/cluster/leave_out.hpp"
#include "nest/cluster/name_list.hpp"

namespace nest::cluster {
namespace {

// Hosts that nobody names, in the units that the maker's design has.
void add_unnamed(ImportFacts& facts, std::int64_t count) {
  const std::int64_t most = kMostHosts / facts.counted_by;
  if (count < 1 || count > most)
    throw InputError("--count", "", format_digits(count) + " is outside 1 to " + format_digits(most));
  count *= facts.counted_by;
  const HostFacts like = facts.hosts.empty() ? HostFacts{} : facts.hosts.front();
  facts.hosts.assign(static_cast<std::size_t>(count), like);
}

// Sums of decimal figures stay decimal.
Seconds whole_nanoseconds(Seconds time) {
  constexpr double kNanoseconds = 1e9;
  return Seconds{std::round(time.value * kNanoseconds) / kNanoseconds};
}

class Builder {
 public:
  Builder(ImportFacts facts, const ImportOptions& options) : facts_(std::move(facts)), options_(options) {}

  ImportedCluster build() {
    const bool named = std::any_of(facts_.hosts.begin(), facts_.hosts.end(),
                                   [](const HostFacts& host) { return !host.name.empty(); });
    if (named && options_.count)
      throw InputError("--count", "", "the files name the hosts: their number is known",
                       "--only leaves some of them out");
    choose_hosts(facts_, options_.only);
    if (!named) add_unnamed(facts_, options_.count.value_or(facts_.count.value_or(1)));
    kind_ = find_host_kind(facts_, options_.accelerator);
    if (!named) place_in_units();
    ClusterParts parts{.name = name(), .accelerator = kind_.accelerator};
    check_size();
    hosts_ = static_cast<std::int32_t>(facts_.hosts.size());
    gather_labels();
    tree_ = make_host_tree(labels_, hosts_);
    parts.levels = inner();
    outer(parts.levels);
    parts.source = joined(facts_.sources, ", ");
    if (named) parts.device_names = device_names();
    std::vector<std::string> absent = out_of_service();
    if (!facts_.notes.assumed.empty()) parts.note = "assumed: " + joined(facts_.notes.assumed, "; ");
    ImportedCluster out{leave_out(std::move(parts), std::move(absent)), {}, hosts_};
    out.notes = std::move(facts_.notes);
    return out;
  }

 private:
  [[nodiscard]] std::string name() const {
    std::string text = printable(!options_.name.empty() ? options_.name : facts_.name);
    return text.empty() ? "cluster" : text;
  }

  void check_size() const {
    std::int64_t devices = 0;
    for (const HostFacts& host : facts_.hosts) devices += *host.devices;
    const auto hosts = static_cast<std::int64_t>(facts_.hosts.size());
    if (hosts > kMostHosts || devices > kMostImported)
      throw InputError(facts_.hosts.front().file, "",
                       format_digits(hosts) + " hosts with " + format_digits(devices) +
                           " accelerators are more than are read: " + format_digits(kMostHosts) + " and " +
                           format_digits(kMostImported));
  }

  // The first switches and the racks of hosts that nobody names.
  void place_in_units() {
    const bool racks = kind_.domain > 1 && kind_.accelerator.scale_up.domain > 0;
    const bool units = kind_.unit > 0 && static_cast<std::size_t>(kind_.unit) < facts_.hosts.size();
    for (std::size_t h = 0; h < facts_.hosts.size(); ++h) {
      HostFacts& host = facts_.hosts[h];
      if (racks) host.links = std::to_string(h / static_cast<std::size_t>(kind_.domain));
      if (units) host.domains = {std::to_string(h / static_cast<std::size_t>(kind_.unit))};
    }
    if (!units) return;
    facts_.tiers.assign(2, TierFacts{});
    facts_.tiers[0].name = "scalable-unit";
    facts_.tiers[1].name = "superpod";
    for (HostFacts& host : facts_.hosts) host.domains.emplace_back("all");
    facts_.notes.assumed.push_back("units of " + std::to_string(kind_.unit) +
                                   " hosts, as the maker's design has them");
  }

  static std::int64_t most_alike(const std::vector<std::string>& labels) {
    std::map<std::string, std::int64_t> counts;
    std::int64_t most = 0;
    for (const std::string& label : labels) most = std::max(most, ++counts[label]);
    return most;
  }

  // The domain of links first, where there is one, then the tiers that do not cut across it.
  void gather_labels() {
    const auto all = [&](const auto& text) {
      std::vector<std::string> out;
      out.reserve(facts_.hosts.size());
      for (const HostFacts& host : facts_.hosts) out.push_back(text(host));
      return out;
    };
    std::vector<std::string> links = all([](const HostFacts& host) { return host.links; });
    const bool linked =
        std::any_of(links.begin(), links.end(), [](const std::string& d) { return !d.empty(); });
    const bool reaches = kind_.domain > 1 || kind_.accelerator.scale_up.torus > 0;
    linked_ = linked && reaches && (facts_.links_assumed.empty() || most_alike(links) <= kind_.domain);
    if (linked_) {
      if (!facts_.links_assumed.empty()) facts_.notes.assumed.push_back(facts_.links_assumed);
      labels_.push_back(std::move(links));
    } else if (kind_.domain > 1 && hosts_ > 1) {
      facts_.notes.assumed.push_back(
          "each host's accelerators have links of their own: no file says which hosts of a rack share "
          "theirs");
    }
    for (std::size_t t = 0; t < facts_.tiers.size(); ++t) {
      std::vector<std::string> own = all(
          [&](const HostFacts& host) { return t < host.domains.size() ? host.domains[t] : std::string(); });
      if (!labels_.empty() && !nested_in(labels_.back(), own)) {
        facts_.notes.left_out.push_back("the tier '" + facts_.tiers[t].name +
                                        "': it cuts across the domains inside it");
        continue;
      }
      labels_.push_back(std::move(own));
      tiers_.push_back(t);
    }
  }

  std::vector<std::int32_t> devices_in_order() const {
    std::vector<std::int32_t> out;
    out.reserve(tree_.order.size());
    for (const std::int32_t host : tree_.order)
      out.push_back(*facts_.hosts[static_cast<std::size_t>(host)].devices);
    return out;
  }

  // Inside hosts, or inside the domains of links that join them.
  std::vector<Level> inner() {
    const std::vector<std::int32_t> devices = devices_in_order();
    if (!linked_) return levels_of_hosts(kind_, devices, facts_.notes);
    std::vector<std::int32_t> sizes;
    std::size_t at = 0;
    for (const std::int32_t hosts : tree_.sizes.front()) {
      const auto first = devices.begin() + static_cast<std::ptrdiff_t>(at);
      sizes.push_back(std::accumulate(first, first + hosts, std::int32_t{0}));
      at += static_cast<std::size_t>(hosts);
    }
    const HostFacts& some = facts_.hosts[static_cast<std::size_t>(tree_.order.front())];
    Level level = level_of_links(kind_.accelerator, sizes.front());
    level.name = "rack";
    if (!some.slice.empty()) {
      level = level_of_slice(kind_.accelerator, some);
      const bool alike = std::all_of(facts_.hosts.begin(), facts_.hosts.end(),
                                     [&](const HostFacts& host) { return host.slice == some.slice; });
      const bool whole =
          std::all_of(sizes.begin(), sizes.end(), [&](auto size) { return size == level.fan_out.size; });
      if (!alike || !whole)
        throw InputError(
            some.file, some.place(),
            "a slice of " + some.slice + " has " + std::to_string(level.fan_out.size) +
                " chips, but its hosts have " + std::to_string(sizes.front()),
            "slices of one shape with all of their hosts are expected: --only picks some of them");
      return {level};
    }
    const std::int64_t most = kind_.accelerator.scale_up.domain;
    const std::int32_t largest = *std::max_element(sizes.begin(), sizes.end());
    if (most > 0 && largest > most)
      facts_.notes.known.push_back("a domain of links has " + count_of(largest, "accelerator") +
                                   ", more than the usual " + std::to_string(most));
    level.fan_out = fan_out_of(std::move(sizes));
    return {level};
  }

  void outer(std::vector<Level>& levels) {
    const BytesPerSecond device = kind_.network * (1.0 / kind_.devices);
    Seconds latency = kind_.latency;
    bool any = false;
    std::vector<std::string> open;  // tiers of which nobody knows how much they carry
    const auto add = [&](const TierFacts& tier, FanOut fan_out) {
      Level level{
          .name = unused_name(levels, tier.name), .kind = tier.kind, .bandwidth = device, .latency = latency};
      if (tier.host_bandwidth) level.bandwidth = *tier.host_bandwidth * (1.0 / kind_.devices);
      if (tier.latency) level.latency = *tier.latency;
      latency = whole_nanoseconds(level.latency + import_defaults().tier_latency);
      level.fan_out = std::move(fan_out);
      level.fabric = tier.host_bandwidth ? "" : kind_.fabric;
      level.oversubscription = tier.kind == LevelKind::switched ? std::max(1.0, tier.oversubscription) : 1;
      if (tier.kind == LevelKind::torus) shape_torus(level, tier);
      if (!tier.oversubscription_known && any && tier.kind == LevelKind::switched) open.push_back(level.name);
      if (!tier.assumed.empty()) facts_.notes.assumed.push_back(tier.assumed);
      any = true;
      levels.push_back(std::move(level));
    };
    const std::size_t skip = linked_ ? 1 : 0;
    for (std::size_t i = 0; i < tiers_.size(); ++i) {
      const std::vector<std::int32_t>& sizes = tree_.sizes[i + skip];
      // The last tier's own children are counted below; a tier that joins nothing says nothing.
      if (std::all_of(sizes.begin(), sizes.end(), [](auto size) { return size == 1; })) continue;
      add(facts_.tiers[tiers_[i]], fan_out_of(sizes));
    }
    const std::int32_t top = labels_.empty() ? hosts_ : static_cast<std::int32_t>(tree_.sizes.back().size());
    if (top > 1) {
      TierFacts network;
      network.name = "network";
      if (any) {
        facts_.notes.assumed.push_back("one more tier joins the " + std::to_string(top) + " domains of '" +
                                       levels.back().name + "': no file says how they are joined");
      } else if (facts_.tiers.empty()) {
        facts_.notes.assumed.push_back(
            "one network without bottlenecks joins all hosts: no file describes it");
      }
      add(network, {top, {}});
    }
    if (!any) return;
    if (!kind_.network_assumed.empty() && !measured_network())
      facts_.notes.assumed.push_back(kind_.network_assumed);
    facts_.notes.assumed.push_back("latencies of the network are typical figures");
    if (!open.empty())
      facts_.notes.assumed.push_back("no oversubscription at " + list_words(open) + ": no file says it");
  }

  [[nodiscard]] bool measured_network() const {
    return std::any_of(facts_.tiers.begin(), facts_.tiers.end(),
                       [](const TierFacts& tier) { return tier.host_bandwidth.has_value(); });
  }

  static std::string unused_name(const std::vector<Level>& levels, const std::string& wanted) {
    std::string name = printable(wanted);
    const auto taken = [&] {
      return std::any_of(levels.begin(), levels.end(),
                         [&](const Level& level) { return level.name == name; });
    };
    while (name.empty() || taken()) name += name.empty() ? "tier" : "-2";
    return name;
  }

  void shape_torus(Level& level, const TierFacts& tier) const {
    std::int64_t places = 1;
    for (const std::int32_t side : tier.dims) places *= side;
    const FanOut& fan_out = level.fan_out;
    if (!fan_out.uniform() || fan_out.size != places) {
      throw InputError(facts_.sources.empty() ? "" : facts_.sources.front(), "",
                       "the torus '" + tier.name + "' has " + format_digits(places) + " places, but " +
                           format_digits(fan_out.uniform() ? fan_out.size : fan_out.sizes.front()) + " hosts",
                       "all of its hosts are needed: a torus has no holes");
    }
    level.dims = tier.dims;
    level.wrap.assign(tier.dims.size(), true);
  }

  std::vector<std::string> device_names() const {
    std::vector<std::string> names;
    const std::string noun = kind_.accelerator.software.empty() ? "gpu" : "device";
    for (const std::int32_t h : tree_.order) {
      const HostFacts& host = facts_.hosts[static_cast<std::size_t>(h)];
      const bool own = kind_.device_names.size() == static_cast<std::size_t>(*host.devices) && !linked_;
      for (std::int32_t d = 0; d < *host.devices; ++d)
        names.push_back(printable(host.name) + "/" +
                        (own ? kind_.device_names[static_cast<std::size_t>(d)] : noun + std::to_string(d)));
    }
    return names;
  }

  std::vector<std::string> out_of_service() {
    std::vector<std::string> out;
    std::map<std::string, std::vector<std::string>> why;
    for (const std::int32_t h : tree_.order) {
      const HostFacts& host = facts_.hosts[static_cast<std::size_t>(h)];
      if (host.out.empty() || host.name.empty()) continue;
      why[host.out].push_back(host.name);
      out.push_back(printable(host.name));
    }
    if (out.empty()) return out;
    if (options_.with_drained) {
      for (const auto& [reason, names] : why)
        facts_.notes.assumed.push_back(count_hosts(names) + " can be used although " + reason);
      return {};
    }
    for (const auto& [reason, names] : why)
      facts_.notes.left_out.push_back(count_hosts(names) + ": " + reason);
    if (out.size() == facts_.hosts.size())
      throw InputError(facts_.hosts.front().file, "", "every host is out of service: " + why.begin()->first,
                       "--with-drained takes them as if they were not");
    return shorten_names(out);
  }

  ImportFacts facts_;
  const ImportOptions& options_;
  HostKind kind_;
  std::int32_t hosts_ = 0;
  bool linked_ = false;                           // the first labels are domains of links
  std::vector<std::vector<std::string>> labels_;  // innermost first
  std::vector<std::size_t> tiers_;                // of the other labels: their tiers
  HostTree tree_;
};

}  // namespace

ImportedCluster build_cluster(ImportFacts facts, const ImportOptions& options) {
  return Builder(std::move(facts), options).build();
}

Value to_value(const ImportedCluster& read) {
  const auto texts = [](const std::vector<std::string>& list) {
    Value out = Value::array();
    for (const std::string& text : list) out.push(text);
    return out;
  };
  Value out = Value::object();
  out.set("cluster", cluster_file_value(read.cluster)).set("hosts", read.hosts);
  out.set("devices", read.cluster.devices());
  out.set("known", texts(read.notes.known)).set("assumed", texts(read.notes.assumed));
  out.set("left_out", texts(read.notes.left_out));
  return out;
}

}  // namespace nest::cluster
