// What the files of an import say, before it becomes levels: hosts, the domains that they lie in, and what a host looks
// like inside. Every reader of a format fills in such facts; build.hpp makes a cluster of them, so that inputs are merged
// and gaps are filled in one place.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "nest/base/units.hpp"
#include "nest/cluster/level.hpp"

namespace nest::cluster {

inline constexpr std::int64_t kMostOfAHost = 1024;  // accelerators
inline constexpr std::int64_t kMostHosts = 1 << 17;
inline constexpr std::int64_t kMostImported = 1 << 20;  // accelerators of all hosts

// Names that a file lists by ranges, each time that it does: a short file can list very many.
inline constexpr std::size_t kMostListed = 1 << 20;

// What people are told of an import, a sentence each.
struct ImportNotes {
  std::vector<std::string> known;     // from the files
  std::vector<std::string> assumed;   // what no file says
  std::vector<std::string> left_out;  // what is not in the cluster

  void add(const ImportNotes& other);
};

// A file, or a name where `text` is empty (nest import tpu v5p-256).
struct ImportFile {
  std::string name;
  std::string text;
};

struct HostFacts {
  std::string name;  // empty: one of several that nobody names
  std::string file;  // where it is first named
  int line = 0;
  std::string type;  // of instance or server, as the file calls it
  std::string chip;  // its accelerator, as the file calls it
  std::optional<std::int32_t> devices;
  std::string out;                   // why it cannot be used: "drained"; empty: it can
  std::vector<std::string> groups;   // partitions and the like, by which hosts are picked
  std::vector<std::string> domains;  // by tier; "" or missing: the file does not say
  std::string links;                 // the domain of accelerators' links that reach over several hosts
  std::string slice;                 // its shape where that is a torus, as the file writes it: "4x4x8"
  bool placed = false;               // by a file about the network
  bool listed = false;               // by a file about hosts

  [[nodiscard]] std::string place() const;  // for messages: its line, or its name
};

// Domains of hosts, and of domains of hosts; the innermost tier comes first.
struct TierFacts {
  std::string name;  // "leaf"
  LevelKind kind = LevelKind::switched;
  std::vector<std::int32_t> dims;  // of a torus of hosts
  std::optional<BytesPerSecond> host_bandwidth;
  std::optional<Seconds> latency;
  double oversubscription = 1;
  bool oversubscription_known = false;
  std::string assumed;  // a sentence, where its figures are
};

// What a host looks like, where a file says it.
struct NodeFacts {
  std::string source;       // the file, for people
  std::string accelerator;  // of the catalog; empty: not known
  std::int32_t devices = 0;
  std::vector<Level> levels;              // inside the host, innermost first; empty: by the accelerator
  std::vector<std::string> device_names;  // in the order of the levels; empty: gpu0, gpu1, ..
  std::optional<BytesPerSecond> network;  // of the host
  std::optional<double> nics;             // that its accelerators use, where their rate is not known
  std::string fabric;
  std::optional<Seconds> latency;
  bool whole_cluster = false;  // the levels are all that there is: no hosts are told apart
  std::string noun = "host";   // what one of these is
};

struct ImportFacts {
  std::string name;                  // for the cluster
  std::vector<std::string> sources;  // "topology.conf (Slurm)"
  std::vector<HostFacts> hosts;
  std::vector<TierFacts> tiers;
  std::optional<NodeFacts> node;
  std::optional<std::int64_t> count;  // of hosts that nobody names
  std::int64_t counted_by = 1;        // hosts that are counted together, as those of a rack
  std::string links_assumed;          // why HostFacts::links are only taken for such domains; empty: they are
  ImportNotes notes;

  // The host of that name, new where it is none of those known.
  HostFacts& host(const std::string& host_name, const std::string& file, int line);
  [[nodiscard]] const HostFacts* find(const std::string& host_name) const;

 private:
  std::unordered_map<std::string, std::size_t> index_;
};

// Takes over what another file says. Tiers of a second file are left out unless they are the same.
void merge(ImportFacts& into, ImportFacts from);

// "3 hosts (n1, n2, n3)", "200 hosts (n1, n2, .. n200)".
[[nodiscard]] std::string count_hosts(const std::vector<std::string>& names);

// A file without its folders.
[[nodiscard]] std::string own_name(const std::string& file);

// What tiers are called where nobody names them: leaf, spine, core, tier4, ..
[[nodiscard]] std::string usual_tier_name(std::size_t tier);

}  // namespace nest::cluster
