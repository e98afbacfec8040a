// The formats from which clusters are read, as a table: a new kind is one reader and one row in importers.cpp.
//
//   ClusterImport question{.kind = "slurm", .files = {{"topology.conf", text}}, .nodes = {{"scontrol.txt", text2}}};
//   const ImportedCluster read = import_cluster(question);
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nest/cluster/imports/build.hpp"
#include "nest/cluster/imports/facts.hpp"

namespace nest::cluster {

// What a file is about: a network or a list of hosts, or the inside of one host.
enum class ImportRole { hosts, node, whole };

// One format of a kind.
struct ImportFormat {
  std::string_view file;  // "the output of nvidia-smi topo -m"
  ImportRole role = ImportRole::hosts;
  bool (*recognizes)(std::string_view text) = nullptr;
  // `accelerator` is what somebody states or another file has said; empty: nobody has.
  ImportFacts (*read)(const ImportFile& file, const std::string& accelerator) = nullptr;
};

struct ClusterImporter {
  std::string_view name;     // "slurm"
  std::string_view file;     // what it reads, for the help
  std::string_view sample;   // a real input
  std::string_view example;  // the words behind `nest import KIND`
  std::span<const ImportFormat> formats;
  ImportFacts (*read_name)(const std::string& name) =
      nullptr;  // of kinds that take a name in place of a file
};

[[nodiscard]] std::span<const ClusterImporter> cluster_importers();
[[nodiscard]] const ClusterImporter* find_cluster_importer(std::string_view name);
// The kind that a text shows; nullptr where it is none of them.
[[nodiscard]] const ClusterImporter* cluster_importer_of(std::string_view text);

// What a word behind `nest import KIND` means: a file, or a name where the kind takes names and there is no such file.
// Throws an InputError for files that cannot be read or are empty.
[[nodiscard]] ImportFile open_import(const ClusterImporter* kind, const std::string& word);

struct ClusterImport {
  std::string kind;                // of the table; empty: by what the files hold
  std::vector<ImportFile> files;   // files, or names without a text
  std::vector<ImportFile> nodes;   // further lists of hosts
  std::vector<ImportFile> inside;  // what one host looks like
  ImportOptions options;
};

[[nodiscard]] ImportedCluster import_cluster(const ClusterImport& question);

}  // namespace nest::cluster
