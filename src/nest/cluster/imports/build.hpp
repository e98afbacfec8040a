// The facts of an import as a cluster. What no file says is assumed, and the notes name it; hosts that cannot be used are
// listed as absent, so that the file keeps their places.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "nest/base/document/value.hpp"
#include "nest/cluster/cluster.hpp"
#include "nest/cluster/imports/facts.hpp"

namespace nest::cluster {

struct ImportOptions {
  std::string name;                   // of the cluster; empty: that of the first file
  std::string accelerator;            // of the catalog; empty: as the files say
  std::optional<std::int64_t> count;  // of hosts that nobody names
  std::string only;                   // which hosts: names, types, accelerators, groups
  bool with_drained = false;          // as if hosts out of service were in it
};

struct ImportedCluster {
  Cluster cluster;
  ImportNotes notes;
  std::int64_t hosts = 0;
};

// {"cluster", "hosts", "devices", "known", "assumed", "left_out"}: the cluster as its file, and what is told of it.
[[nodiscard]] Value to_value(const ImportedCluster& read);

[[nodiscard]] ImportedCluster build_cluster(ImportFacts facts, const ImportOptions& options);

}  // namespace nest::cluster
