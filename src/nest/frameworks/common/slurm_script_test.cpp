#include "nest/frameworks/common/slurm_script.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "nest/base/files.hpp"
#include "nest/frameworks/test_launches.hpp"

namespace nest::frameworks {
namespace {

namespace fs = std::filesystem;

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(SlurmScript, AsksForWhatThePlanNeeds) {
  test::Planner planner("llama3.1-8b");
  ExportQuestion question = planner.question(test::degrees({.tensor = 8, .sequence_parallel = true}, 1, 8));
  const auto script = [&] {
    return slurm_script(make_rank_map(question, RankOrder::data_before_stage), "job", "x.sh");
  };
  EXPECT_TRUE(
      holds(script(),
            "#SBATCH --job-name=job\n#SBATCH --nodes=8\n#SBATCH --ntasks=64\n#SBATCH --gpus-per-node=8\n"
            "#SBATCH --exclusive\n# In a tree, hosts below at most so many leaf switches (rack), or after "
            "60 minutes below any:\n#SBATCH --switches=2@60\n"))
      << script();
  EXPECT_TRUE(holds(script(), "\n##SBATCH --segment=4\n"));
  EXPECT_TRUE(holds(script(), "hosts=8 ranks=64 devices=8 method=block level=rack\n"));
  EXPECT_TRUE(
      script().ends_with("\ncd \"$here\"\n\"${run[@]}\" ./x.sh ./placement/launch_rank.sh python3\n"));
  for (int i = 0; i < 8; ++i) question.hosts.push_back("n" + std::to_string(i));
  EXPECT_TRUE(holds(script(), "#SBATCH --nodelist=./placement/hosts.txt\n"));
  EXPECT_FALSE(holds(script(), "--switches"));
}

// 18 hosts of 4 devices share a rack's NVLink: blocks of Slurm.
TEST(SlurmScript, RacksOfNvlinkAreBlocks) {
  test::Planner planner("llama3.1-8b", "megatron", "gb200-nvl72");
  ExportQuestion question = planner.question(test::degrees({.tensor = 8, .sequence_parallel = true}, 1, 16));
  question.devices_per_host = 4;
  const std::string script =
      slurm_script(make_rank_map(question, RankOrder::data_before_stage), "job", "x.sh");
  EXPECT_TRUE(holds(script, "\n#SBATCH --segment=")) << script;
  EXPECT_TRUE(holds(script, "\n##SBATCH --switches="));
  EXPECT_TRUE(holds(script, "export NCCL_MNNVL_ENABLE=${NCCL_MNNVL_ENABLE:-1}  # the plan counts on NVLink"));
}

// Slurm's commands, for hosts n0, n1, .. that lie below the switches A and B in turn.
constexpr const char* kScontrol = "#!/bin/bash\nfor ((i = 0; i < FAKE_HOSTS; i++)); do echo n$i; done\n";
constexpr const char* kSrun = R"sh(#!/bin/bash
method=block hosts=$FAKE_HOSTS
while [[ $1 == --* ]]; do
  case $1 in
    --nodes=*) hosts=${1#*=} ;;
    --ntasks=*) ranks=${1#*=} ;;
    --distribution=*) method=${1#*=} ;;
  esac
  shift
done
for ((r = 0; r < ranks; r++)); do
  case $method in
    block) host=n$((r / (ranks / hosts))) ;;
    cyclic) host=n$((r % hosts)) ;;
    plane=*) host=n$((r / ${method#*=} % hosts)) ;;
    arbitrary) host=$(sed -n "$((r + 1))p" "$SLURM_HOSTFILE") ;;
  esac
  switch=B; [ $((${host#n} % 2)) = 0 ] || switch=A
  SLURM_PROCID=$r SLURMD_NODENAME=$host SLURM_GPUS_ON_NODE=8 SLURM_TOPOLOGY_ADDR=${FAKE_TOP:-root.$switch.}$host "$@"
done
)sh";

class FakeSlurm {
 public:
  FakeSlurm() {
    folder_ = fs::temp_directory_path() / ("nest_slurm_" + std::to_string(std::rand()));
    fs::create_directories(folder_ / "bin");
    put("bin/scontrol", kScontrol);
    put("bin/srun", kSrun);
    put("bin/nvidia-smi", "#!/bin/bash\nexit 1\n");
  }
  FakeSlurm(const FakeSlurm&) = delete;
  FakeSlurm& operator=(const FakeSlurm&) = delete;
  FakeSlurm(FakeSlurm&&) = delete;
  FakeSlurm& operator=(FakeSlurm&&) = delete;
  ~FakeSlurm() { fs::remove_all(folder_); }

  // What the job prints, line by line; every rank says "RANK HOST LOCAL_RANK VISIBLE MASTER".
  std::vector<std::string> run(const ExportQuestion& question, const std::string& variables) {
    const test::Exported out = test::exported("slurm", question);
    for (const auto& [name, bytes] : out.files) put(name, bytes);
    const std::size_t hosts = make_rank_map(question, RankOrder::data_before_stage).hosts.size();
    const std::string command =
        "cd " + folder_.string() + " && PATH=$PWD/bin:$PATH FAKE_HOSTS=" + std::to_string(hosts) +
        " SLURM_JOB_NODELIST=x " + variables +
        " ./run.sbatch bash -c 'echo $RANK $SLURMD_NODENAME $LOCAL_RANK $CUDA_VISIBLE_DEVICES $MASTER_ADDR' "
        "> out 2>&1";
    EXPECT_EQ(std::system(command.c_str()), 0);
    return test::split(read_file((folder_ / "out").string()), '\n');
  }

 private:
  void put(const std::string& name, const std::string& bytes) {
    fs::create_directories((folder_ / name).parent_path());
    write_file((folder_ / name).string(), bytes);
    fs::permissions(folder_ / name, fs::perms::owner_all);
  }
  fs::path folder_;
};

// Every rank runs on the host that the log gives its part of the plan to, hosts of one rack lie below one
// switch, and the order on the host is the plan's.
void check_job(const std::vector<std::string>& lines, const RankMap& map) {
  std::map<std::string, std::string> real;
  std::map<std::int32_t, std::string> below;
  std::size_t ranks = 0;
  for (const std::string& line : lines) {
    const std::vector<std::string> words = test::split(line, ' ');
    if (line.starts_with("nest: host ")) {
      real[words[2]] = words[7];
      for (const HostRow& host : map.hosts) {
        if (host.name == words[2] && words.size() > 9) {
          EXPECT_EQ(below.try_emplace(host.domains[0], words[9]).first->second, words[9]);
        }
      }
      continue;
    }
    ASSERT_EQ(words.size(), 5U) << line;
    const RankRow& row = map.ranks[std::stoul(words[0])];
    EXPECT_EQ(words[1], real[map.hosts[row.host].name]);
    EXPECT_EQ(words[2], std::to_string(row.local_rank));
    const HostRow& host = map.hosts[row.host];
    EXPECT_EQ(test::split(words[3], ',')[static_cast<std::size_t>(row.local_rank)],
              std::to_string(row.local_device));
    EXPECT_EQ(test::split(words[3], ',').size(), host.ranks.size());
    EXPECT_EQ(words[4], real[map.hosts.front().name]);
    ++ranks;
  }
  EXPECT_EQ(ranks, map.ranks.size());
}

// Racks of 4 hosts; the allocation has their hosts in turn, so that srun's own order would mix racks.
TEST(SlurmScript, PutsRanksWhereThePlanHasThem) {
  test::Planner planner("llama3.1-8b");
  FakeSlurm slurm;
  Plan stages_first = test::degrees({.tensor = 2, .sequence_parallel = true}, 4, 8);
  stages_first.parallelism.data_inner = 1;
  for (const Plan& plan : {stages_first, test::degrees({}, 1, 1)}) {
    const ExportQuestion question = planner.question(plan);
    check_job(slurm.run(question, ""), make_rank_map(question, RankOrder::data_before_stage));
  }
}

// Hosts of the plan: four in one rack and one in another. The allocation has three and two.
TEST(SlurmScript, WarnsOfHostsThatAreApart) {
  test::Planner planner("llama3.1-8b");
  FakeSlurm slurm;
  const ExportQuestion question =
      planner.question(test::degrees({.tensor = 4, .sequence_parallel = true}, 3, 3));
  const RankMap map = make_rank_map(question, RankOrder::data_before_stage);
  const std::vector<std::string> lines = slurm.run(question, "");
  EXPECT_EQ(
      std::count(lines.begin(), lines.end(),
                 "nest: warning: hosts of one rack of the plan lie below several switches, such as root.A"),
      1);
  // Without a topology the allocation's own order holds, and nothing is known to be wrong.
  check_job(slurm.run(question, "FAKE_TOP=' '"), map);
}

}  // namespace
}  // namespace nest::frameworks
