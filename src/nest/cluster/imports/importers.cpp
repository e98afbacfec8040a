#include "nest/cluster/imports/importers.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>
#include <utility>

#include "nest/base/error.hpp"
#include "nest/base/files.hpp"
#include "nest/base/plain_text.hpp"
#include "nest/cluster/imports/astra_sim.hpp"
#include "nest/cluster/imports/clouds.hpp"
#include "nest/cluster/imports/ibnetdiscover.hpp"
#include "nest/cluster/imports/import_samples.hpp"
#include "nest/cluster/imports/kubernetes.hpp"
#include "nest/cluster/imports/names.hpp"
#include "nest/cluster/imports/nccl_xml.hpp"
#include "nest/cluster/imports/nvidia_smi.hpp"
#include "nest/cluster/imports/rocm_smi.hpp"
#include "nest/cluster/imports/slurm_nodes.hpp"
#include "nest/cluster/imports/slurm_topology.hpp"
#include "nest/cluster/imports/topograph.hpp"

namespace nest::cluster {
namespace {

// For formats that say themselves which accelerator hosts have.
template <ImportFacts (*Read)(const ImportFile&)>
ImportFacts plain(const ImportFile& file, const std::string& /*accelerator*/) {
  return Read(file);
}

constexpr std::array kSlurm{
    ImportFormat{"topology.conf, or what scontrol show topology prints", ImportRole::hosts, is_slurm_topology,
                 plain<read_slurm_topology>},
    ImportFormat{"topology.yaml", ImportRole::hosts, is_slurm_yaml, plain<read_slurm_yaml>},
    ImportFormat{"what scontrol show nodes prints, or slurm.conf", ImportRole::hosts, is_scontrol_nodes,
                 plain<read_scontrol_nodes>},
    ImportFormat{"a table of sinfo", ImportRole::hosts, is_sinfo, plain<read_sinfo>}};
constexpr std::array kTopograph{ImportFormat{"JSON of topograph's engine 'graph'", ImportRole::hosts,
                                             is_topograph, plain<read_topograph>}};
constexpr std::array kNvidiaSmi{
    ImportFormat{"the XML of nvidia-smi -q -x", ImportRole::node, is_nvidia_query, read_nvidia_query},
    ImportFormat{"the matrix of nvidia-smi topo -m", ImportRole::node, is_nvidia_topo, read_nvidia_topo}};
constexpr std::array kRocmSmi{
    ImportFormat{"the tables of rocm-smi --showtopo", ImportRole::node, is_rocm_topo, read_rocm_topo}};
constexpr std::array kNccl{ImportFormat{"the XML of NCCL_TOPO_DUMP_FILE or NCCL_GRAPH_DUMP_FILE",
                                        ImportRole::node, is_nccl_xml, read_nccl_xml}};
constexpr std::array kInfiniband{ImportFormat{"the output of ibnetdiscover", ImportRole::hosts,
                                              is_ibnetdiscover, plain<read_ibnetdiscover>}};
constexpr std::array kKubernetes{ImportFormat{"JSON or YAML of kubectl get nodes", ImportRole::hosts,
                                              is_kubernetes_nodes, plain<read_kubernetes_nodes>}};
constexpr std::array kAws{
    ImportFormat{"JSON of aws ec2 describe-instance-topology or describe-instance-types", ImportRole::hosts,
                 is_aws, plain<read_aws>}};
constexpr std::array kGcp{
    ImportFormat{"JSON of gcloud compute instances list", ImportRole::hosts, is_gcp, plain<read_gcp>}};
constexpr std::array kAzure{
    ImportFormat{"JSON of az vm list", ImportRole::hosts, is_azure, plain<read_azure>}};
constexpr std::array kOci{
    ImportFormat{"JSON of oci compute compute-host list", ImportRole::hosts, is_oci, plain<read_oci>}};
constexpr std::array kTpu{
    ImportFormat{"JSON of gcloud compute tpus tpu-vm describe", ImportRole::whole, is_tpu, plain<read_tpu>}};
constexpr std::array kAstraSim{
    ImportFormat{"network.yml of ASTRA-sim", ImportRole::whole, is_astra_sim, plain<read_astra_sim>}};

// What a text is among formats of some roles; nullptr where it is none.
const ImportFormat* format_of(std::span<const ImportFormat> formats, std::string_view text) {
  const auto at =
      std::find_if(formats.begin(), formats.end(), [&](const ImportFormat& f) { return f.recognizes(text); });
  return at == formats.end() ? nullptr : &*at;
}

const ImportFormat& format_for(const ClusterImporter& importer, const ImportFile& file) {
  if (const ImportFormat* format = format_of(importer.formats, file.text)) return *format;
  const ClusterImporter* other = cluster_importer_of(file.text);
  throw InputError(file.name, "", "this is not " + std::string(importer.file),
                   other != nullptr && other != &importer
                       ? "it looks like the kind '" + std::string(other->name) + "'"
                       : "");
}

class Import {
 public:
  explicit Import(const ClusterImport& question)
      : question_(question), accelerator_(question.options.accelerator) {}

  ImportedCluster run() {
    for (const ImportFile& file : question_.files) {
      refuse_unreadable(file.name, file.text, "a text file");
      if (file.text.empty()) {
        merge(facts_, named(file));
      } else {
        read(file, format_for(kind_of(file), file));
      }
    }
    read_all(question_.nodes, ImportRole::hosts, "--nodes", "a list of hosts");
    read_inside();
    if (facts_.name.empty() && !question_.files.empty()) facts_.name = stem(question_.files.front().name);
    return build_cluster(std::move(facts_), question_.options);
  }

 private:
  static std::string stem(const std::string& file) {
    const std::string own = file.substr(file.find_last_of("/\\") + 1);
    return own.substr(0, own.rfind('.'));
  }

  const ClusterImporter& kind_of(const ImportFile& file) const {
    if (!question_.kind.empty()) {
      if (const ClusterImporter* importer = find_cluster_importer(question_.kind)) return *importer;
    } else if (const ClusterImporter* importer = cluster_importer_of(file.text)) {
      return *importer;
    }
    std::vector<std::string> names;
    for (const ClusterImporter& each : cluster_importers()) names.emplace_back(each.name);
    throw InputError(file.name, "", "it is none of the formats that clusters are read from",
                     "they are " + list_words(names));
  }

  ImportFacts named(const ImportFile& file) const {
    const ClusterImporter& importer = kind_of(file);
    if (importer.read_name == nullptr) throw InputError(file.name, "", "the file is empty");
    return importer.read_name(file.name);
  }

  void read(const ImportFile& file, const ImportFormat& format) {
    ImportFacts facts = format.read(file, accelerator_);
    if (accelerator_.empty() && facts.node) accelerator_ = facts.node->accelerator;
    merge(facts_, std::move(facts));
  }

  void read_all(const std::vector<ImportFile>& files, ImportRole role, const char* option, const char* noun) {
    for (const ImportFile& file : files) {
      refuse_unreadable(file.name, file.text, "a text file");
      const ClusterImporter* importer = cluster_importer_of(file.text);
      const ImportFormat* format = importer == nullptr ? nullptr : format_of(importer->formats, file.text);
      if (format == nullptr || format->role != role)
        throw InputError(
            file.name, "", "this is not " + std::string(noun) + ", which " + option + " takes",
            importer == nullptr ? "" : "it looks like the kind '" + std::string(importer->name) + "'");
      read(file, *format);
    }
  }

  // What names the GPU goes first: a matrix of links does not.
  void read_inside() {
    std::vector<ImportFile> files;
    for (const bool query : {true, false}) {
      for (const ImportFile& file : question_.inside) {
        if (is_nvidia_query(file.text) == query) files.push_back(file);
      }
    }
    read_all(files, ImportRole::node, "--node", "what one host looks like inside");
  }

  const ClusterImport& question_;
  std::string accelerator_;
  ImportFacts facts_;
};

template <const char* Vendor>
ImportFacts shape_of(const std::string& name) {
  return read_shape_name(name, Vendor);
}
constexpr char kDgxVendor[] = "dgx";
constexpr char kAwsVendor[] = "aws";
constexpr char kGcpVendor[] = "gcp";
constexpr char kAzureVendor[] = "azure";
constexpr char kOciVendor[] = "oci";

}  // namespace

std::span<const ClusterImporter> cluster_importers() {
  static constexpr std::array kAll{
      ClusterImporter{"slurm", "topology.conf or topology.yaml, lists of nodes by scontrol or sinfo",
                      kSlurmSample, "topology.conf --nodes scontrol.txt -o cluster.yaml", kSlurm, nullptr},
      ClusterImporter{"topograph", "JSON of NVIDIA topograph", kTopographSample,
                      "graph.json --node topo.txt -o cluster.yaml", kTopograph, nullptr},
      ClusterImporter{"nvidia-smi", "nvidia-smi topo -m or nvidia-smi -q -x", kNvidiaSmiSample,
                      "topo.txt --accelerator h200 --count 16 -o cluster.yaml", kNvidiaSmi, nullptr},
      ClusterImporter{"rocm-smi", "rocm-smi --showtopo", kRocmSmiSample, "topo.txt --count 4 -o cluster.yaml",
                      kRocmSmi, nullptr},
      ClusterImporter{"nccl-xml", "NCCL's topology or graphs as XML", kNcclSample,
                      "topo.xml --count 32 -o cluster.yaml", kNccl, nullptr},
      ClusterImporter{"ibnetdiscover", "the output of ibnetdiscover", kInfinibandSample,
                      "fabric.txt --nodes scontrol.txt -o cluster.yaml", kInfiniband, nullptr},
      ClusterImporter{"kubernetes", "kubectl get nodes -o json", kKubernetesSample,
                      "nodes.json -o cluster.yaml", kKubernetes, nullptr},
      ClusterImporter{"aws", "aws ec2 describe-instance-topology, or an instance type", kAwsSample,
                      "topology.json -o cluster.yaml", kAws, shape_of<kAwsVendor>},
      ClusterImporter{"gcp", "gcloud compute instances list --format=json, or a machine type", kGcpSample,
                      "instances.json -o cluster.yaml", kGcp, shape_of<kGcpVendor>},
      ClusterImporter{"azure", "az vm list, or the name of a size", kAzureSample,
                      "Standard_ND96isr_H100_v5 --count 64 -o cluster.yaml", kAzure, shape_of<kAzureVendor>},
      ClusterImporter{"oci", "oci compute compute-host list, or the name of a shape", kOciSample,
                      "BM.GPU.H100.8 --count 64 -o cluster.yaml", kOci, shape_of<kOciVendor>},
      ClusterImporter{"tpu", "the name of a slice, or gcloud compute tpus tpu-vm describe --format=json",
                      kTpuSample, "v5p-256 --count 2 -o cluster.yaml", kTpu, read_tpu_name},
      ClusterImporter{"dgx",
                      "the name of an NVIDIA system, such as DGX-H100 or GB200-NVL72",
                      kDgxSample,
                      "GB200-NVL72 --count 8 -o cluster.yaml",
                      {},
                      shape_of<kDgxVendor>},
      ClusterImporter{"astra-sim", "network.yml of ASTRA-sim", kAstraSimSample,
                      "network.yml --accelerator a100-80 -o cluster.yaml", kAstraSim, nullptr},
  };
  return kAll;
}

const ClusterImporter* find_cluster_importer(std::string_view name) {
  const auto all = cluster_importers();
  const auto at =
      std::find_if(all.begin(), all.end(), [&](const ClusterImporter& i) { return i.name == name; });
  return at == all.end() ? nullptr : &*at;
}

const ClusterImporter* cluster_importer_of(std::string_view text) {
  // What has marks of its own first; "topology:" and words such as machineType stand in several.
  for (const char* name : {"nvidia-smi", "nccl-xml", "rocm-smi", "ibnetdiscover", "topograph", "astra-sim",
                           "kubernetes", "tpu", "aws", "oci", "gcp", "azure", "slurm"}) {
    const ClusterImporter* importer = find_cluster_importer(name);
    if (format_of(importer->formats, text) != nullptr) return importer;
  }
  return nullptr;
}

ImportFile open_import(const ClusterImporter* kind, const std::string& word) {
  std::error_code error;
  const bool takes_names = kind != nullptr && kind->read_name != nullptr;
  if (takes_names && !looks_like_file(word) && !std::filesystem::exists(word, error)) return {word, ""};
  ImportFile file{word, read_file(word)};
  if (file.text.empty()) throw InputError(word, "", "the file is empty");
  return file;
}

ImportedCluster import_cluster(const ClusterImport& question) {
  return Import(question).run();
}

}  // namespace nest::cluster
