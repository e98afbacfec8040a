#include "imports.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "nest/base/document/document.hpp"
#include "nest/base/document/file_kind.hpp"
#include "nest/base/error.hpp"
#include "nest/cluster/cluster_file.hpp"
#include "nest/cluster/cluster_text.hpp"
#include "nest/cluster/imports/importers.hpp"
#include "nest/frameworks/importers.hpp"
#include "nest/validate/calibrate/measured_cluster.hpp"
#include "safe_inputs.hpp"

namespace nest::server {
namespace {

constexpr std::size_t kMostFiles = 20;
// Of a cluster's text: it travels in links of the page, and in every further request.
constexpr std::size_t kMostText = 100'000;

struct Dropped {
  std::vector<ImportFile> hosts;
  std::vector<ImportFile> inside;
  std::vector<MeasuredFile> measured;
  std::vector<ImportFile> clusters;
  std::string kind;
};

bool is_cluster_file(const ImportFile& file) {
  try {
    return kind_of(parse_document(file.name, file.text)) == FileKind::cluster;
  } catch (const InputError&) {
    return false;
  }
}

[[noreturn]] void refuse(const ImportFile& file) {
  for (const Importer& importer : nest::frameworks::importers()) {
    if (importer.recognizes(file.text))
      throw InputError(file.name, "",
                       fmt::format("this looks like {}, which describes a run and no cluster", importer.file),
                       fmt::format("'nest import {}' reads it as a plan", importer.name));
  }
  throw InputError(file.name, "", "it is none of the formats that clusters are read from",
                   "docs/formats/imports.md lists them");
}

// Which of the files are about hosts and networks, which about the inside of a host, which are measurements.
void sort_in(ImportFile file, Dropped& out) {
  if (nest::validate::is_link_measurement(file.text)) {
    out.measured.push_back({std::move(file.name), std::move(file.text)});
    return;
  }
  const ClusterImporter* importer = cluster_importer_of(file.text);
  if (importer == nullptr) {
    if (!is_cluster_file(file)) refuse(file);
    out.clusters.push_back(std::move(file));
    return;
  }
  const auto format = std::find_if(importer->formats.begin(), importer->formats.end(),
                                   [&](const ImportFormat& f) { return f.recognizes(file.text); });
  const bool inside = format->role == ImportRole::node;
  if (out.kind.empty() || (!inside && out.hosts.empty())) out.kind = importer->name;
  (inside ? out.inside : out.hosts).push_back(std::move(file));
}

Dropped read_files(Reader& request) {
  const Value* list = request.find("files");
  if (list == nullptr || list->as_array() == nullptr || list->as_array()->empty())
    request.fail("'files' is missing: a list of {\"name\", \"text\"}");
  if (list->as_array()->size() > kMostFiles)
    request.fail_at("files", fmt::format("more than {} files", kMostFiles));
  Dropped out;
  for (Reader& entry : request.objects("files")) {
    ImportFile file{entry.text("name"), ""};
    const Value* text = entry.find("text");
    if (text == nullptr || text->as_string() == nullptr || text->as_string()->empty())
      entry.fail_at("text", "the text of a file is expected");
    file.text = *text->as_string();
    entry.done();
    sort_in(std::move(file), out);
  }
  return out;
}

Value texts(const std::vector<std::string>& list) {
  Value out = Value::array();
  for (const std::string& text : list) out.push(text);
  return out;
}

Value answer_of(const std::string& kind, const Cluster& cluster, ImportNotes notes, const Limits& limits) {
  if (cluster.devices() > limits.devices)
    throw InputError("request", "files",
                     fmt::format("{} devices are more than the {} that this server plans for",
                                 format_digits(cluster.devices()), format_digits(limits.devices)));
  std::string text = cluster_yaml(cluster);
  if (text.size() > kMostText) {
    ClusterParts parts = cluster.parts();
    parts.device_names.clear();
    parts.absences = {};
    text = cluster_yaml(Cluster(std::move(parts)));
    notes.left_out.emplace_back(
        "the names of hosts and devices, which are too many for a link: 'nest import' keeps them");
  }
  Value out = Value::object();
  out.set("kind", kind)
      .set("name", cluster.name())
      .set("devices", cluster.devices())
      .set("cluster_text", std::move(text));
  out.set("known", texts(notes.known))
      .set("assumed", texts(notes.assumed))
      .set("left_out", texts(notes.left_out));
  return out;
}

}  // namespace

Value imported_cluster(Reader& request, const Limits& limits) {
  Dropped dropped = read_files(request);
  ClusterImport question;
  question.options.accelerator = request.text_or("accelerator", "");
  question.options.only = request.text_or("only", "");
  question.options.name = request.text_or("name", "");
  if (request.has("count")) question.options.count = request.whole("count", {1, kMostHosts});
  question.options.with_drained = request.boolean_or("with_drained", false);
  Warnings warnings;
  // What was measured is a change of the cluster that is being asked about.
  const Cluster asked = read_request_inputs(request, limits, warnings).cluster;
  request.done();
  const std::size_t about = dropped.hosts.size() + dropped.inside.size();
  if (dropped.clusters.size() > 1 || (!dropped.clusters.empty() && about > 0))
    throw InputError("request", "files", "a cluster file describes a cluster alone",
                     "send the other files without it");
  std::optional<Cluster> cluster;
  ImportNotes notes;
  if (!dropped.clusters.empty()) {
    const ImportFile& file = dropped.clusters.front();
    cluster = read_cluster(parse_document(file.name, file.text));
    dropped.kind = "cluster";
  } else if (about > 0) {
    // Several files about hosts may be of different kinds: each says itself what it is.
    question.files = dropped.hosts.empty() ? std::move(dropped.inside) : std::move(dropped.hosts);
    question.inside = std::move(dropped.inside);
    ImportedCluster read = import_cluster(question);
    cluster = std::move(read.cluster);
    notes = std::move(read.notes);
  }
  if (!dropped.measured.empty()) {
    if (dropped.kind.empty()) dropped.kind = "nccl-tests";
    MeasuredCluster measured = measured_cluster(cluster ? *cluster : asked, dropped.measured, {});
    notes.known.insert(notes.known.end(), measured.said.begin(), measured.said.end());
    cluster = std::move(measured.cluster);
  }
  return answer_of(dropped.kind, *cluster, std::move(notes), limits);
}

}  // namespace nest::server
