#include "nest/frameworks/slurm/slurm.hpp"

#include <gtest/gtest.h>

#include "nest/frameworks/test_launches.hpp"

namespace nest::frameworks {
namespace {

// The hosts of all ranks as srun deals them out, from the text of the files: by the distribution over the
// hosts in the order of nodes.txt, or by the list.
std::vector<std::string> hosts_by_srun(const test::Files& files) {
  const std::string& script = files.at("run.sbatch");
  const auto value = [&](const std::string& name) {
    const std::size_t at = script.find(name + "=", script.find("\nhosts=")) + name.size() + 1;
    return script.substr(at, script.find_first_of(" \n", at) - at);
  };
  const std::size_t hosts = std::stoul(value("hosts"));
  const std::size_t ranks = std::stoul(value("ranks"));
  const std::string method = value("method");
  if (method == "arbitrary") return test::split(files.at("placement/slurm_hostfile"), '\n');
  const std::size_t portion = method == "block"    ? ranks / hosts
                              : method == "cyclic" ? 1
                                                   : std::stoul(method.substr(method.find('=') + 1));
  const std::vector<std::string> names = test::split(files.at("placement/hosts.txt"), '\n');
  EXPECT_EQ(names.size(), hosts);
  std::vector<std::string> out;
  for (std::size_t r = 0; r < ranks; ++r) out.push_back(names[r / portion % hosts]);
  return out;
}

TEST(Slurm, RandomPlansAreDealtOutAsThePlanSays) {
  std::map<std::string, int> methods;
  test::for_random_launches(200, [&](const ExportQuestion& question, unsigned seed) {
    const test::Exported out = test::exported("slurm", question);
    ASSERT_EQ(out.result.rule, "");
    const RankMap map = make_rank_map(question, RankOrder::data_before_stage);
    const std::vector<std::string> hosts = hosts_by_srun(out.files);
    ASSERT_EQ(hosts.size(), map.ranks.size()) << "seed " << seed;
    for (std::size_t r = 0; r < hosts.size(); ++r)
      ASSERT_EQ(hosts[r], map.hosts[map.ranks[r].host].name) << "seed " << seed << " rank " << r;
    const Strategy& s = question.plan.parallelism.strategy;
    ASSERT_EQ(
        test::check_placement(out.files, s.tensor, s.context, question.plan.parallelism.pipeline, false), "")
        << "seed " << seed;
    const std::string& script = out.files.at("run.sbatch");
    const std::size_t at = script.find("method=") + 7;
    ++methods[script.substr(at, script.find_first_of("= ", at) - at)];
  });
  EXPECT_EQ(methods.size(), 4U);
}

// 2,048 hosts of 8.
TEST(Slurm, TakesLargePlans) {
  test::Planner planner("llama3.1-8b", "megatron", "meta-h100-24k");
  const test::Exported out = test::exported(
      "slurm", planner.question(test::degrees({.tensor = 8, .sequence_parallel = true}, 4, 512)));
  EXPECT_NE(out.files.at("run.sbatch").find("#SBATCH --nodes=2048\n#SBATCH --ntasks=16384\n"),
            std::string::npos);
  EXPECT_EQ(hosts_by_srun(out.files).size(), 16384U);
  EXPECT_LT(out.files.at("run.sbatch").size(), 8000U);
}

TEST(Slurm, SaysWhichHostsDiffer) {
  test::Planner planner("llama3.1-8b");
  const test::Exported out = test::exported(
      "slurm", planner.question(test::degrees({.tensor = 8, .sequence_parallel = true}, 1, 6)));
  ASSERT_EQ(out.result.lost.size(), 1U);
  EXPECT_EQ(out.result.lost[0],
            "the plan has different numbers of hosts in domains of the level rack: Slurm is asked for 2 at "
            "most, not "
            "for their sizes");
  EXPECT_EQ(out.files.size(), 10U);
}

}  // namespace
}  // namespace nest::frameworks
