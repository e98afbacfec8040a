#include "nest/frameworks/kubernetes/kubernetes.hpp"

#include <fmt/format.h>

#include <string_view>

#include "nest/frameworks/common/allocation.hpp"
#include "nest/frameworks/common/notes.hpp"
#include "nest/frameworks/common/placement_files.hpp"
#include "nest/frameworks/kubernetes/pods.hpp"
#include "nest/frameworks/kubernetes/topology_request.hpp"

namespace nest::frameworks {
namespace {

constexpr std::string_view kLaunch = R"sh(#!/bin/bash
# launch.sh COMMAND..: runs COMMAND as every rank of this pod. If one fails, the others are ended.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
read -r _ _ NODE_RANK ranks CUDA_VISIBLE_DEVICES < <(
  awk -v job="$NEST_JOB" -v index_of="$JOB_COMPLETION_INDEX" '$1 == job && $2 == index_of' "$here"/pods-*.txt) ||
  { echo "launch.sh: the plan has no pod $JOB_COMPLETION_INDEX of $NEST_JOB" >&2; exit 1; }
all=()
for range in ${ranks//,/ }; do
  for ((rank = ${range%-*}; rank <= ${range#*-}; rank++)); do all+=("$rank"); done
done
export NODE_RANK CUDA_VISIBLE_DEVICES LOCAL_WORLD_SIZE=${#all[@]}
pids=()
for local in "${!all[@]}"; do
  RANK=${all[local]} LOCAL_RANK=$local "$@" &
  pids+=($!)
done
trap 'kill "${pids[@]}" 2> /dev/null || true' INT TERM EXIT
for _ in "${pids[@]}"; do wait -n; done
)sh";

// Kubernetes' names: small letters, digits and '-'.
std::string job_set_name(const std::string& model) {
  std::string name = "nest-";
  constexpr std::size_t kMost = 35;
  for (const char c : model) {
    const bool capital = c >= 'A' && c <= 'Z';
    const bool fine = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    const char next = capital ? static_cast<char>(c - 'A' + 'a') : fine ? c : '-';
    if (name.size() < kMost && (next != '-' || name.back() != '-')) name += next;
  }
  while (name.back() == '-') name.pop_back();
  return name;
}

std::string indented(std::string_view text, std::string_view by) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    if (end > 0) out += fmt::format("{}{}", by, text.substr(0, end));
    out += '\n';
    text.remove_prefix(end + 1);
  }
  return out;
}

std::string config_name(const std::string& name, std::size_t part) {
  return part == 0 ? name : fmt::format("{}-{}", name, part);
}

std::string ranks_yaml(const std::string& name, const std::vector<std::string>& tables) {
  std::string out = "# What pods find in /nest: their ranks, and the script that starts them.\n";
  for (std::size_t i = 0; i < tables.size(); ++i) {
    out += fmt::format("{}apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {}\ndata:\n",
                       i == 0 ? "" : "---\n", config_name(name, i));
    if (i == 0) out += "  launch.sh: |\n" + indented(kLaunch, "    ");
    out += fmt::format("  pods-{}.txt: |\n", i) + indented(tables[i], "    ");
  }
  return out;
}

class JobSet {
 public:
  JobSet(const RankMap& map, std::string name, std::size_t tables)
      : map_(map), name_(std::move(name)), tables_(tables), jobs_(pod_jobs(map)) {}

  [[nodiscard]] std::string text() const {
    std::string out = fmt::format(
        R"yaml(# {ranks} ranks in {pods} pods. Put your image for YOUR_IMAGE, and the command of one rank in args.
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata:
  name: {name}
  labels:
    kueue.x-k8s.io/queue-name: nest-queue
spec:
  network:
    enableDNSHostnames: true
    subdomain: {name}
    publishNotReadyAddresses: true
  replicatedJobs:
)yaml",
        fmt::arg("ranks", map_.ranks.size()), fmt::arg("pods", map_.hosts.size()), fmt::arg("name", name_));
    for (const PodJob& job : jobs_) out += job_text(job);
    return out;
  }

 private:
  [[nodiscard]] std::string job_text(const PodJob& job) const {
    std::string annotations;
    for (const auto& [key, value] : topology_request(map_, jobs_).annotations)
      annotations += fmt::format("                {}: \"{}\"\n", key, value);
    return fmt::format(
        R"yaml(    - name: {job}
      replicas: 1
      template:
        spec:
          parallelism: {pods}
          completions: {pods}
          completionMode: Indexed
          backoffLimit: 0
          template:
            metadata:
              annotations:
{annotations}            spec:
              restartPolicy: Never
              # The network of the host, which RDMA and NCCL need on most clusters.
              hostNetwork: true
              dnsPolicy: ClusterFirstWithHostNet
              tolerations:
                - key: {resource}
                  operator: Exists
                  effect: NoSchedule
              containers:
                - name: ranks
                  image: YOUR_IMAGE
                  command: ["bash", "/nest/launch.sh"]
                  args: ["python3", "train.py"]
                  env:
{env}                  resources:
                    limits:
                      {resource}: {devices}
                  securityContext:
                    capabilities:
                      # RDMA registers memory that must stay in place.
                      add: ["IPC_LOCK"]
                  volumeMounts:
                    - name: nest
                      mountPath: /nest
                    - name: dshm
                      mountPath: /dev/shm
              volumes:
                - name: nest
                  projected:
                    sources:
{sources}                - name: dshm
                  emptyDir:
                    medium: Memory
)yaml",
        fmt::arg("job", job.name), fmt::arg("pods", job.hosts.size()), fmt::arg("annotations", annotations),
        fmt::arg("resource", map_.resource), fmt::arg("devices", job.devices), fmt::arg("env", env_text(job)),
        fmt::arg("sources", sources_text()));
  }

  [[nodiscard]] std::string env_text(const PodJob& job) const {
    std::string out;
    const auto add = [&](std::string_view name, std::string_view value, std::string_view why = {}) {
      if (!why.empty()) out += fmt::format("                    # {}\n", why);
      out +=
          fmt::format("                    - name: {}\n                      value: \"{}\"\n", name, value);
    };
    add("NEST_JOB", job.name);
    add("WORLD_SIZE", fmt::format("{}", map_.ranks.size()));
    add("NNODES", fmt::format("{}", map_.hosts.size()));
    add("MASTER_ADDR", fmt::format("{}.{}", master_pod(name_, map_, jobs_), name_));
    add("MASTER_PORT", "29500");
    for (const LaunchVariable& v : launch_variables(map_)) add(v.name, v.value, v.why);
    return out;
  }

  [[nodiscard]] std::string sources_text() const {
    std::string out;
    for (std::size_t i = 0; i < tables_; ++i)
      out += fmt::format("                      - configMap:\n                          name: {}\n",
                         config_name(name_, i));
    return out;
  }

  const RankMap& map_;
  std::string name_;
  std::size_t tables_;
  std::vector<PodJob> jobs_;
};

// A label that nodes with such devices have; the operators of NVIDIA and AMD set theirs.
std::string node_label(const RankMap& map) {
  if (map.resource == "nvidia.com/gpu") return "nvidia.com/gpu.present: \"true\"";
  if (map.resource == "amd.com/gpu") return "feature.node.kubernetes.io/amd-gpu: \"true\"";
  return "nest-nodes: \"true\"  # label them: kubectl label node NODE nest-nodes=true";
}

std::string topology_yaml(const RankMap& map, std::int64_t devices) {
  std::string levels;
  const std::vector<std::string> labels = level_labels(map);
  for (std::size_t l = labels.size(); l-- > 0;)
    levels += fmt::format("    - nodeLabel: {}  # {}\n", labels[l], map.levels[l].name);
  return fmt::format(
      R"yaml(# Queues of Kueue for a cluster like the plan's, once and by an administrator. The labels are topograph's.
apiVersion: kueue.x-k8s.io/v1beta2
kind: Topology
metadata:
  name: nest-topology
spec:
  levels:
{levels}    - nodeLabel: kubernetes.io/hostname
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata:
  name: nest-flavor
spec:
  nodeLabels:
    {label}
  topologyName: nest-topology
  tolerations:
    - key: {resource}
      operator: Exists
      effect: NoSchedule
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata:
  name: nest-cluster-queue
spec:
  namespaceSelector: {{}}
  resourceGroups:
    - coveredResources: ["{resource}"]
      flavors:
        - name: nest-flavor
          resources:
            - name: {resource}
              nominalQuota: {devices}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata:
  name: nest-queue
  namespace: default
spec:
  clusterQueue: nest-cluster-queue
)yaml",
      fmt::arg("levels", levels), fmt::arg("label", node_label(map)), fmt::arg("resource", map.resource),
      fmt::arg("devices", devices));
}

std::vector<std::string> remarks() {
  const std::string labels =
      "labels of levels: topograph 1.0 writes those of topology.yaml and of the annotations in jobset.yaml; "
      "older "
      "ones write network.topology.nvidia.com/leaf, /spine and /core, Google's clusters have "
      "cloud.google.com/gce-topology-host, -subblock and -block: put yours in both files";
  return {"in jobset.yaml: the image, which has bash and awk; the command of one rank; volumes with data",
          "requests of processors and memory, which the ClusterQueue must then cover",
          "RDMA devices, if a device plugin hands them out (such as rdma/ib: 8); hostNetwork may then go",
          labels, "the namespace: the LocalQueue is in 'default'"};
}

}  // namespace

ExportResult export_kubernetes(const ExportQuestion& question, const ExportSink& sink) {
  const RankMap map = make_rank_map(question, RankOrder::data_before_stage);
  const std::string name = job_set_name(question.inputs.model_name());
  const std::vector<PodJob> jobs = pod_jobs(map);
  const std::vector<std::string> tables = pod_tables(map, jobs);
  ExportResult result;
  result.releases = {question.release != nullptr ? question.release : &find_releases("kubernetes")->usual()};
  result.lost = allocation_losses(map);
  for (std::string& sentence : topology_request(map, jobs).lost) result.lost.push_back(std::move(sentence));
  if (map.named) result.lost.emplace_back("names of hosts: Kueue chooses the nodes");
  result.next = {"kubectl apply --server-side -f topology.yaml, once and by an administrator",
                 "kubectl apply --server-side -f ranks.yaml",
                 "kubectl apply --server-side -f jobset.yaml, with your image and command",
                 fmt::format("kubectl logs job/{}-{}-0", name, jobs.front().name)};
  sink({"jobset.yaml", JobSet(map, name, tables.size()).text()});
  sink({"ranks.yaml", ranks_yaml(name, tables)});
  sink({"topology.yaml", topology_yaml(map, question.inputs.cluster.devices())});
  write_placement(map, "placement/", sink);
  sink({"NOTES.md", export_notes(question, map, "Kubernetes", result, remarks())});
  return result;
}

}  // namespace nest::frameworks
