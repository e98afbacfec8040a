#include "nest/frameworks/common/slurm_script.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "nest/frameworks/common/allocation.hpp"

namespace nest::frameworks {
namespace {

constexpr std::string_view kFind = R"sh(
set -euo pipefail
here=${NEST_EXPORT:-${SLURM_SUBMIT_DIR:-$PWD}}
[ -f "$here/placement/nodes.txt" ] ||
  { echo "nest: there is no placement/ in $here: run sbatch in the folder of the export, or set NEST_EXPORT to it" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mapfile -t real < <(scontrol show hostnames "$SLURM_JOB_NODELIST")
[ "${#real[@]}" = "$hosts" ] ||
  { echo "nest: the plan runs on $hosts hosts, the allocation has ${#real[@]}" >&2; exit 1; }

# A line for each host of the allocation: its name, the switches above it and its devices.
# shellcheck disable=SC2016
srun --nodes="$hosts" --ntasks="$hosts" --ntasks-per-node=1 bash -c '
  found=$(nvidia-smi --list-gpus 2> /dev/null | grep -c . || true)
  [ "$found" -gt 0 ] || found=${SLURM_GPUS_ON_NODE:-0}
  above=${SLURM_TOPOLOGY_ADDR:-}
  switches=${above%".$SLURMD_NODENAME"}
  [ "$switches" != "$above" ] || switches=-
  echo "$SLURMD_NODENAME $switches $found"' > "$work/found"
awk -v want="$devices" '$3 < want { print "nest: " $1 " has " $3 " devices, the plan needs " want }' "$work/found" >&2
# In the order of the allocation.
awk 'NR == FNR { line[$1] = $0; next } { print line[$1] }' "$work/found" <(printf '%s\n' "${real[@]}") > "$work/real"
)sh";

constexpr std::string_view kMap = R"sh(
# Hosts with the domains above them, domain by domain, larger ones first: the same for the plan and the allocation.
by_domain() {
  awk '
    { host[NR] = $1; above[NR] = $2; parts = split($2, part, "."); domain = ""
      for (i = 1; i <= parts; i++) {
        domain = domain "." part[i]
        if (!(domain in first)) first[domain] = NR
        count[domain]++
      } }
    END {
      for (n = 1; n <= NR; n++) {
        parts = split(above[n], part, "."); domain = ""; key = ""
        for (i = 1; i <= parts; i++) {
          domain = domain "." part[i]
          key = key sprintf("%08d%08d", 99999999 - count[domain], first[domain])
        }
        printf "%s %08d %s %s\n", key, n, host[n], above[n]
      }
    }' | LC_ALL=C sort -k1,1 -k2,2 | cut -d ' ' -f 3-
}
paste -d ' ' <(awk '!/^#/ { print $2, $6 }' "$here/placement/nodes.txt" | by_domain) <(by_domain < "$work/real") > "$work/map"
)sh";

constexpr std::string_view kNamed = R"sh(
# The plan's hosts have real names.
awk 'NR == FNR { above[$1] = $2; next } !/^#/ { print $2, $6, $2, ($2 in above) ? above[$2] : "?" }' \
  "$work/real" "$here/placement/nodes.txt" > "$work/map"
if grep -q ' ?$' "$work/map"; then
  echo "nest: the allocation lacks hosts of placement/hosts.txt" >&2
  exit 1
fi
)sh";

constexpr std::string_view kRun = R"sh(
awk '{ print "nest: host " $1 " of the plan is " $3 ($4 == "-" ? "" : " below " $4) }' "$work/map"
awk -v level="$level" '
  $2 != "-" && $4 != "-" && !(($2, $4) in seen) { seen[$2, $4]; if (below[$2]++ == 1) print "nest: warning: hosts of one " level " of the plan lie below several switches, such as " $4 }
  ' "$work/map" >&2
# One line for each rank: the host that it runs on.
awk 'NR == FNR { real[$1] = $3; next } { print real[$1] }' "$work/map" "$here/placement/slurm_hostfile" > "$work/hostfile"
MASTER_ADDR=$(head -n 1 "$work/hostfile")
export MASTER_ADDR MASTER_PORT=${MASTER_PORT:-29500} NEST_MAPPED=1
# srun deals ranks out over hosts in the order of the allocation; if the plan has them in another, the list says it.
[ "$(awk '!seen[$1]++' "$work/hostfile")" = "$(printf '%s\n' "${real[@]}")" ] || method=arbitrary
# Slurm would bind each rank to one core and to devices of its own choice; the rank's own variables say which device it has.
run=(srun --ntasks="$ranks" --distribution="$method" --cpu-bind=none --gpu-bind=none --kill-on-bad-exit=1)
if [ "$method" = arbitrary ]; then
  export SLURM_HOSTFILE=$work/hostfile
else
  run+=(--nodes="$hosts" --ntasks-per-node=$((ranks / hosts)))
fi
)sh";

// Tree and block topologies have options of their own; the one that the cluster does not look like is a comment.
std::string topology_options(const RankMap& map) {
  if (map.named) return "#SBATCH --nodelist=./placement/hosts.txt\n";
  const std::vector<HostGroups> groups = host_groups(map);
  const auto hosts = static_cast<std::int64_t>(map.hosts.size());
  const auto close =
      std::find_if(groups.begin(), groups.end(), [&](const HostGroups& g) { return g.domains < hosts; });
  if (close == groups.end()) return "";
  const bool block = close->level->scale_up;
  std::string out = fmt::format(
      "# In a tree, hosts below at most so many leaf switches ({}), or after 60 minutes below any:\n"
      "{}#SBATCH --switches={}@60\n",
      close->level->name, block ? "#" : "", close->domains);
  if (close->together == 1) return out;
  return out + fmt::format(
                   "# In a topology of blocks, so many hosts in one block ({}) each:\n"
                   "{}#SBATCH --segment={}\n",
                   close->level->name, block ? "" : "#", close->together);
}

std::string device_options(const RankMap& map, std::int64_t devices) {
  if (has_gpus(map)) return fmt::format("#SBATCH --gpus-per-node={}\n", devices);
  return fmt::format("# Say here what your site calls {} devices, such as --gres=..:{}\n", map.resource,
                     devices);
}

std::int64_t devices_of_each(const RankMap& map) {
  const auto least =
      std::min_element(map.hosts.begin(), map.hosts.end(),
                       [](const HostRow& a, const HostRow& b) { return a.devices < b.devices; });
  return least->devices;
}

}  // namespace

std::string slurm_script(const RankMap& map, const SlurmJob& job) {
  const std::int64_t devices = devices_of_each(map);
  std::string out = fmt::format(
      "#!/bin/bash\n# {}\n#SBATCH --job-name={}\n#SBATCH --nodes={}\n#SBATCH --ntasks={}\n{}#SBATCH "
      "--exclusive\n{}",
      job.usage, job.name, map.hosts.size(), map.ranks.size(), device_options(map, devices),
      topology_options(map));
  out += fmt::format("hosts={} ranks={} devices={} method={} level={}\n", map.hosts.size(), map.ranks.size(),
                     has_gpus(map) ? devices : 0, slurm_distribution(map),
                     map.levels.empty() ? "cluster" : map.levels.front().name);
  out += kFind;
  out += map.named ? kNamed : kMap;
  out += kRun;
  for (const LaunchVariable& v : launch_variables(map))
    out += fmt::format("export {0}=${{{0}:-{1}}}  # {2}\n", v.name, v.value, v.why);
  out += job.enter ? "cd \"$here\"\n" : "";
  out += fmt::format("\"${{run[@]}}\" {}\n", job.command);
  return out;
}

std::string slurm_script(const RankMap& map, const std::string& job, const std::string& command) {
  return slurm_script(map,
                      SlurmJob{job, "sbatch run_slurm.sh, from this folder: every rank on the plan's device.",
                               fmt::format("./{} ./placement/launch_rank.sh python3", command), true});
}

}  // namespace nest::frameworks
