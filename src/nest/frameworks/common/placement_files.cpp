#include "nest/frameworks/common/placement_files.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "nest/frameworks/common/allocation.hpp"
#include "nest/frameworks/common/notes.hpp"

namespace nest::frameworks {
namespace {

constexpr std::string_view kHere =
    "set -euo pipefail\nhere=$(cd \"$(dirname \"${BASH_SOURCE[0]}\")\" && pwd)\n";

std::string rank_rows(const RankMap& map) {
  const bool named = !map.ranks.empty() && !map.ranks.front().name.empty();
  std::string out = "rank,host,local_rank,local_device,device,stage,copy,side,context,tensor";
  out += named ? ",name\n" : "\n";
  for (std::size_t r = 0; r < map.ranks.size(); ++r) {
    const RankRow& row = map.ranks[r];
    out += fmt::format("{},{},{},{},{},{},{},{},{},{}", r, map.hosts[row.host].name, row.local_rank,
                       row.local_device, row.device.value, row.stage, row.copy, row.side, row.context,
                       row.tensor);
    out += named ? "," + row.name + "\n" : "\n";
  }
  return out;
}

std::string node_rows(const RankMap& map) {
  std::string out = "# node_rank host first_rank ranks cuda_visible_devices domains\n";
  for (std::size_t n = 0; n < map.hosts.size(); ++n) {
    const HostRow& host = map.hosts[n];
    const std::vector<std::int32_t> outer(host.domains.rbegin(), host.domains.rend());
    out += fmt::format("{} {} {} {} {} {}\n", n, host.name, host.ranks.front(), host.ranks.size(),
                       fmt::join(host.local_devices, ","),
                       outer.empty() ? "-" : fmt::format("{}", fmt::join(outer, ".")));
  }
  return out;
}

// One process: its rank comes from the launcher, everything else from the map.
std::string rank_launcher(const RankMap& map) {
  return fmt::format(
      R"sh(#!/bin/bash
# Runs a command as one rank of the map: srun or mpirun launch_rank.sh COMMAND.., or NEST_RANK=3 launch_rank.sh COMMAND..
{here}rank=${{NEST_RANK:-${{SLURM_PROCID:-${{OMPI_COMM_WORLD_RANK:?no rank: use srun, mpirun or NEST_RANK}}}}}}
IFS=, read -r RANK host LOCAL_RANK _ < <(sed -n "$((rank + 2))p" "$here/rank_map.csv")
read -r _ _ _ LOCAL_WORLD_SIZE CUDA_VISIBLE_DEVICES _ < <(awk -v h="$host" '$2 == h' "$here/nodes.txt")
[ -n "${{NEST_MAPPED:-}}" ] || [ "$(hostname -s)" = "${{host%%.*}}" ] || echo "launch_rank.sh: rank $RANK belongs on $host, not on $(hostname -s)" >&2
export RANK LOCAL_RANK LOCAL_WORLD_SIZE CUDA_VISIBLE_DEVICES WORLD_SIZE={world}
export MASTER_ADDR=${{MASTER_ADDR:-{master}}} MASTER_PORT=${{MASTER_PORT:-29500}}
exec "$@"
)sh",
      fmt::arg("here", kHere), fmt::arg("world", map.ranks.size()),
      fmt::arg("master", map.hosts.front().name));
}

std::string host_launcher() {
  return fmt::format(
      R"sh(#!/bin/bash
# Runs a command as every rank of this host: launch_host.sh COMMAND.. (NEST_HOST names the host where hostname does not).
{here}host=${{NEST_HOST:-$(hostname -s)}}
ranks=$(awk -F, -v h="$host" '$2 == h {{ print $1 }}' "$here/rank_map.csv")
[ -n "$ranks" ] || {{ echo "launch_host.sh: no rank runs on $host" >&2; exit 1; }}
pids=()
for rank in $ranks; do
  NEST_RANK=$rank "$here/launch_rank.sh" "$@" &
  pids+=($!)
done
trap 'kill "${{pids[@]}}" 2>/dev/null || true' INT TERM
status=0
for pid in "${{pids[@]}}"; do wait "$pid" || status=$?; done
exit $status
)sh",
      fmt::arg("here", kHere));
}

std::string torchrun_launcher(const RankMap& map) {
  return fmt::format(
      R"sh(#!/bin/bash
# Runs a Python script as every rank of this host, with static node ranks: launch_torchrun.sh SCRIPT ARGUMENTS..
{here}host=${{NEST_HOST:-$(hostname -s)}}
read -r node _ _ ranks CUDA_VISIBLE_DEVICES _ < <(awk -v h="$host" '$2 == h' "$here/nodes.txt") ||
  {{ echo "launch_torchrun.sh: no rank runs on $host" >&2; exit 1; }}
export CUDA_VISIBLE_DEVICES
exec torchrun --nnodes {nodes} --nproc-per-node "$ranks" --node-rank "$node" \
  --master-addr "${{MASTER_ADDR:-{master}}}" --master-port "${{MASTER_PORT:-29500}}" "$@"
)sh",
      fmt::arg("here", kHere), fmt::arg("nodes", map.hosts.size()),
      fmt::arg("master", map.hosts.front().name));
}

}  // namespace

void write_placement(const RankMap& map, const std::string& folder, const ExportSink& sink) {
  sink({folder + "rank_map.csv", rank_rows(map)});
  sink({folder + "nodes.txt", node_rows(map)});
  std::string hosts;
  for (const HostRow& host : map.hosts) hosts += host.name + "\n";
  sink({folder + "hosts.txt", hosts});
  std::string tasks;
  std::string slots;
  for (std::size_t r = 0; r < map.ranks.size(); ++r) {
    const RankRow& row = map.ranks[r];
    tasks += map.hosts[row.host].name + "\n";
    slots += fmt::format("rank {}={} slot={}\n", r, map.hosts[row.host].name, row.local_device);
  }
  sink({folder + "slurm_hostfile", tasks});
  sink({folder + "openmpi_rankfile", slots});
  sink({folder + "launch_rank.sh", rank_launcher(map), true});
  sink({folder + "launch_host.sh", host_launcher(), true});
  if (map.consecutive) sink({folder + "launch_torchrun.sh", torchrun_launcher(map), true});
}

std::string host_script(const RankMap& map, const std::string& command) {
  return fmt::format(
      R"sh(#!/bin/bash
# Run on each host of placement/hosts.txt: starts the ranks of this host.
set -euo pipefail
cd "$(dirname "${{BASH_SOURCE[0]}}")"
exec ./{} {}
)sh",
      command, map.consecutive ? "./placement/launch_torchrun.sh" : "./placement/launch_host.sh python3");
}

std::vector<std::string> placement_losses(const RankMap& map) {
  std::vector<std::string> lost;
  if (!map.consecutive) {
    lost.emplace_back(
        "torchrun numbers ranks host by host, which this placement does not: launch_host.sh, srun or mpirun "
        "start "
        "the ranks instead");
  }
  if (auto sentence = large_host(map.host_devices)) lost.push_back(*std::move(sentence));
  return lost;
}

ExportResult export_placement(const ExportQuestion& question, const ExportSink& sink) {
  const RankMap map = make_rank_map(question, RankOrder::data_before_stage);
  ExportResult result;
  result.lost = placement_losses(map);
  result.next = {map.consecutive ? "placement/launch_torchrun.sh SCRIPT .. on each host"
                                 : "placement/launch_host.sh COMMAND .. on each host",
                 "SLURM_HOSTFILE=$PWD/placement/slurm_hostfile srun --distribution=arbitrary "
                 "placement/launch_rank.sh COMMAND ..",
                 "mpirun --rankfile placement/openmpi_rankfile placement/launch_rank.sh COMMAND .."};
  write_placement(map, "placement/", sink);
  sink({"NOTES.md", export_notes(question, map, "the placement of a plan", result, {})});
  return result;
}

}  // namespace nest::frameworks
