#include "nest/frameworks/slurm/slurm.hpp"

#include <fmt/format.h>

#include "nest/frameworks/common/allocation.hpp"
#include "nest/frameworks/common/notes.hpp"
#include "nest/frameworks/common/placement_files.hpp"

namespace nest::frameworks {
namespace {

std::vector<std::string> losses(const RankMap& map) {
  std::vector<std::string> lost = allocation_losses(map);
  if (map.named) return lost;
  for (const HostGroups& groups : host_groups(map)) {
    if (groups.domains == static_cast<std::int64_t>(map.hosts.size()) || groups.equal) continue;
    lost.push_back(
        fmt::format("the plan has different numbers of hosts in domains of the level {}: Slurm is asked for "
                    "{} at most, not "
                    "for their sizes",
                    groups.level->name, groups.domains));
  }
  return lost;
}

std::vector<std::string> remarks(const RankMap& map) {
  const std::string method = slurm_distribution(map);
  std::vector<std::string> out{
      "the command of one rank, after run.sbatch; it finds RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE, "
      "MASTER_ADDR, MASTER_PORT and CUDA_VISIBLE_DEVICES",
      "partition, account and time limit, as options of sbatch",
      "NCCL_SOCKET_IFNAME and NCCL_IB_HCA where a host has several networks"};
  out.push_back(
      method == "arbitrary"
          ? "no distribution of srun puts ranks where the plan has them: a list of hosts does (arbitrary)"
          : fmt::format(
                "ranks are dealt out by --distribution={} if the allocation lists its hosts in the plan's "
                "order, else by a list of hosts (arbitrary)",
                method));
  out.emplace_back(
      "the job's log says which host has which part of the plan, and warns where hosts that the plan has "
      "below "
      "one switch are not so; Slurm says where they are if it has a topology (SLURM_TOPOLOGY_ADDR)");
  return out;
}

}  // namespace

ExportResult export_slurm(const ExportQuestion& question, const ExportSink& sink) {
  const RankMap map = make_rank_map(question, RankOrder::data_before_stage);
  ExportResult result;
  const ReleaseTable& table = *find_releases("slurm");
  for (const Release& release : table.releases) {
    if (question.release == nullptr || question.release == &release) result.releases.push_back(&release);
  }
  result.lost = losses(map);
  result.next = {"sbatch --time=10 run.sbatch env, in this folder, shows the variables of every rank",
                 "sbatch run.sbatch python3 /path/to/train.py .."};
  sink({"run.sbatch",
        slurm_script(map,
                     SlurmJob{"nest",
                              "sbatch run.sbatch COMMAND.., from this folder: COMMAND as every rank, on the "
                              "plan's device.",
                              "\"$here/placement/launch_rank.sh\" \"$@\""}),
        true});
  write_placement(map, "placement/", sink);
  sink({"NOTES.md", export_notes(question, map, "Slurm", result, remarks(map))});
  return result;
}

}  // namespace nest::frameworks
