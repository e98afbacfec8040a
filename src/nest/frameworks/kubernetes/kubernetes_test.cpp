#include "nest/frameworks/kubernetes/kubernetes.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <set>

#include "nest/base/files.hpp"
#include "nest/frameworks/kubernetes/test_kubernetes_fields.hpp"
#include "nest/frameworks/test_launches.hpp"

namespace nest::frameworks {
namespace {

namespace fs = std::filesystem;

struct Pod {
  std::vector<std::int64_t> ranks;
  std::vector<std::string> devices;
};
using Pods = std::map<std::pair<std::string, std::int64_t>, Pod>;  // by job and completion index

// As launch.sh reads them.
Pods pods_of(const test::Files& files) {
  Pods pods;
  for (const Value& map : test::yaml_documents("ranks.yaml", files.at("ranks.yaml"))) {
    EXPECT_EQ(*map.find("kind")->as_string(), "ConfigMap");
    for (const auto& [name, text] : *map.find("data")->as_object()) {
      if (!name.starts_with("pods-")) continue;
      for (const std::string& line : test::split(*text.as_string(), '\n')) {
        if (line.starts_with('#')) continue;
        const std::vector<std::string> words = test::split(line, ' ');
        Pod& pod = pods[{words[0], std::stol(words[1])}];
        for (const std::string& range : test::split(words[3], ',')) {
          const std::size_t dash = range.find('-');
          const long last = std::stol(dash == std::string::npos ? range : range.substr(dash + 1));
          for (long r = std::stol(range); r <= last; ++r) pod.ranks.push_back(r);
        }
        pod.devices = test::split(words[4], ',');
      }
    }
  }
  return pods;
}

const Value& at(const Value& value, const std::vector<std::string>& path) {
  const Value* found = &value;
  for (const std::string& key : path) found = found->find(key);
  return *found;
}

// Over how many domains of a level the hosts are spread.
std::size_t spread(const RankMap& map, std::size_t level) {
  std::set<std::int32_t> domains;
  for (const HostRow& host : map.hosts) domains.insert(host.domains[level]);
  return domains.size();
}

// Every rank is in one pod, with its device in its place; Jobs have as many pods as there are rows; the pod of rank 0
// is the master; slices of pods lie in one domain of the plan.
void check_ranks(const test::Files& files, const RankMap& map) {
  const Pods pods = pods_of(files);
  const Value job_set = test::yaml_documents("jobset.yaml", files.at("jobset.yaml"))[0];
  const std::string name = *at(job_set, {"metadata", "name"}).as_string();
  std::size_t counted = 0;
  std::vector<bool> seen(map.ranks.size());
  for (const Value& job : *at(job_set, {"spec", "replicatedJobs"}).as_array()) {
    const std::string own = *job.find("name")->as_string();
    const Value& spec = at(job, {"template", "spec"});
    const std::int64_t count = *spec.find("completions")->as_int();
    ASSERT_EQ(*spec.find("parallelism")->as_int(), count);
    const Value& container = (*at(spec, {"template", "spec", "containers"}).as_array())[0];
    const std::int64_t devices = *at(container, {"resources", "limits", map.resource}).as_int();
    const Value& annotations = at(spec, {"template", "metadata", "annotations"});
    const Value* size = annotations.find("kueue.x-k8s.io/podset-slice-size");
    const std::int64_t slice = size == nullptr ? 1 : std::stol(*size->as_string());
    const bool scale_up =
        size != nullptr &&
        annotations.find("kueue.x-k8s.io/podset-slice-required-topology")->as_string()->starts_with("acc");
    ASSERT_EQ(count % slice, 0);
    std::int32_t domain = 0;
    for (std::int64_t i = 0; i < count; ++i, ++counted) {
      const Pod& pod = pods.at({own, i});
      ASSERT_EQ(pod.ranks.size(), pod.devices.size());
      const HostRow& host = map.hosts[map.ranks[static_cast<std::size_t>(pod.ranks[0])].host];
      ASSERT_EQ(host.devices, devices);
      ASSERT_EQ(host.ranks, pod.ranks);
      for (std::size_t local = 0; local < pod.ranks.size(); ++local) {
        const RankRow& row = map.ranks[static_cast<std::size_t>(pod.ranks[local])];
        ASSERT_EQ(row.local_rank, static_cast<std::int64_t>(local));
        ASSERT_EQ(std::to_string(row.local_device), pod.devices[local]);
        ASSERT_FALSE(seen[static_cast<std::size_t>(pod.ranks[local])]);
        seen[static_cast<std::size_t>(pod.ranks[local])] = true;
      }
      // The level of slices is the accelerators' own, or the first that joins hosts in several domains.
      if (slice > 1) {
        std::size_t level = 0;
        while (!scale_up && (map.levels[level].scale_up || spread(map, level) == map.hosts.size())) ++level;
        if (i % slice == 0) domain = host.domains[level];
        ASSERT_EQ(host.domains[level], domain);
      }
    }
    const Value& environment = *container.find("env");
    for (const Value& one : *environment.as_array()) {
      const std::string& key = *one.find("name")->as_string();
      const std::string& value = *one.find("value")->as_string();
      if (key == "WORLD_SIZE") {
        ASSERT_EQ(value, std::to_string(map.ranks.size()));
      }
      if (key != "MASTER_ADDR") continue;
      ASSERT_TRUE(value.ends_with("." + name));
      const std::string pod = value.substr(0, value.find('.'));
      ASSERT_LE(pod.size(), 63U);
      const std::size_t dash = pod.rfind("-0-");
      const Pod& master =
          pods.at({pod.substr(name.size() + 1, dash - name.size() - 1), std::stol(pod.substr(dash + 3))});
      ASSERT_EQ(master.ranks[0], 0);
    }
  }
  ASSERT_EQ(counted, pods.size());
  ASSERT_EQ(std::count(seen.begin(), seen.end(), true), static_cast<std::ptrdiff_t>(seen.size()));
}

// NEST_KEEP_EXPORTS=DIR keeps the files, for tools/frameworks/kubernetes_fields --check.
void keep(const test::Files& files, unsigned seed) {
  const char* folder = std::getenv("NEST_KEEP_EXPORTS");
  if (folder == nullptr) return;
  const fs::path own = fs::path(folder) / std::to_string(seed);
  fs::create_directories(own);
  for (const char* name : {"jobset.yaml", "topology.yaml", "ranks.yaml"})
    write_file((own / name).string(), files.at(name));
}

TEST(Kubernetes, RandomPlansHaveKnownFieldsAndThePlansRanks) {
  const test::KubernetesFields fields;
  std::set<std::string> annotations;
  test::for_random_launches(200, [&](const ExportQuestion& question, unsigned seed) {
    const test::Exported out = test::exported("kubernetes", question);
    ASSERT_EQ(out.result.rule, "");
    for (const char* file : {"jobset.yaml", "topology.yaml"}) {
      for (const Value& document : test::yaml_documents(file, out.files.at(file)))
        ASSERT_EQ(fields.problem(document), "") << "seed " << seed << "\n" << out.files.at(file);
    }
    check_ranks(out.files, make_rank_map(question, RankOrder::data_before_stage));
    ASSERT_FALSE(testing::Test::HasFatalFailure()) << "seed " << seed << "\n" << out.files.at("jobset.yaml");
    const Value job_set = test::yaml_documents("jobset.yaml", out.files.at("jobset.yaml"))[0];
    for (const Value& job : *at(job_set, {"spec", "replicatedJobs"}).as_array()) {
      for (const auto& [key, value] :
           *at(job, {"template", "spec", "template", "metadata", "annotations"}).as_object())
        annotations.insert(key);
    }
    keep(out.files, seed);
  });
  EXPECT_EQ(annotations.size(), 5U);
}

TEST(Kubernetes, ResourcesAreTheVendors) {
  const std::map<std::string, std::string> resources{{"h100-spine-leaf", "nvidia.com/gpu: 8"},
                                                     {"mi300x-roce", "amd.com/gpu: 8"},
                                                     {"tpu-v5e-64", "google.com/tpu: "},
                                                     {"aws-trn2", "aws.amazon.com/neuron: "},
                                                     {"gaudi2-ethernet", "habana.ai/gaudi: 8"}};
  for (const auto& [cluster, resource] : resources) {
    test::Planner planner("llama3.2-1b", "megatron", cluster);
    const test::Exported out = test::exported("kubernetes", planner.question(test::degrees({}, 1, 1)));
    EXPECT_NE(out.files.at("jobset.yaml").find("limits:\n                      " + resource),
              std::string::npos)
        << out.files.at("jobset.yaml");
  }
}

// 2,048 pods of 8.
TEST(Kubernetes, TakesLargePlans) {
  test::Planner planner("llama3.1-8b", "megatron", "meta-h100-24k");
  const ExportQuestion question =
      planner.question(test::degrees({.tensor = 8, .sequence_parallel = true}, 4, 512));
  const test::Exported out = test::exported("kubernetes", question);
  EXPECT_NE(out.files.at("jobset.yaml").find("completions: 2048\n"), std::string::npos);
  check_ranks(out.files, make_rank_map(question, RankOrder::data_before_stage));
}

// launch.sh as a pod runs it: ranks of a pod in their order, and a failure ends the others.
TEST(Kubernetes, PodsStartTheirRanks) {
  test::Planner planner("llama3.1-8b");
  Plan plan = test::degrees({.tensor = 2, .sequence_parallel = true}, 4, 4);
  plan.parallelism.data_inner = 1;
  const ExportQuestion question = planner.question(plan);
  const test::Exported out = test::exported("kubernetes", question);
  const Value config = test::yaml_documents("ranks.yaml", out.files.at("ranks.yaml"))[0];
  const fs::path folder = fs::temp_directory_path() / ("nest_pods_" + std::to_string(std::rand()));
  fs::create_directories(folder);
  for (const auto& [name, text] : *config.find("data")->as_object())
    write_file((folder / name).string(), *text.as_string());
  const auto run = [&](const std::string& index, const std::string& command) {
    const std::string line = "cd " + folder.string() + " && NEST_JOB=hosts JOB_COMPLETION_INDEX=" + index +
                             " timeout 20 bash ./launch.sh bash -c '" + command + "' > out 2>&1";
    return std::system(line.c_str());
  };
  EXPECT_EQ(
      run("1",
          "echo $LOCAL_RANK $RANK $LOCAL_WORLD_SIZE $NODE_RANK $CUDA_VISIBLE_DEVICES >> $LOCAL_RANK.txt"),
      0);
  const Pod pod = pods_of(out.files).at({"hosts", 1});
  for (std::size_t i = 0; i < pod.ranks.size(); ++i) {
    const std::vector<std::string> words =
        test::split(test::split(read_file((folder / (std::to_string(i) + ".txt")).string()), '\n')[0], ' ');
    EXPECT_EQ(words[1], std::to_string(pod.ranks[i]));
    EXPECT_EQ(words[2], std::to_string(pod.ranks.size()));
    EXPECT_EQ(test::split(words[4], ',')[i], pod.devices[i]);
  }
  EXPECT_NE(run("1", "[ $LOCAL_RANK != 3 ] || exit 7; exec sleep 60"), 0);
  EXPECT_NE(run("9", "true"), 0);
  EXPECT_EQ(read_file((folder / "out").string()), "launch.sh: the plan has no pod 9 of hosts\n");
  fs::remove_all(folder);
}

}  // namespace
}  // namespace nest::frameworks
