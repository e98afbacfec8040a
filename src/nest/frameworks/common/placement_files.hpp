// The files that make launchers obey a rank map, the same for every framework:
//
//   rank_map.csv        rank,host,local_rank,local_device,device,stage,copy,side,context,tensor
//   nodes.txt           node rank, host, first rank, ranks, CUDA_VISIBLE_DEVICES, domains from the outermost
//   hosts.txt           one host a line, by node rank
//   slurm_hostfile      one host for each rank: SLURM_HOSTFILE of srun --distribution=arbitrary
//   openmpi_rankfile    rank 0=node000 slot=0
//   launch_rank.sh      runs a command as one rank, under srun, mpirun or by hand
//   launch_host.sh      runs a command as every rank of this host
//   launch_torchrun.sh  the same with torchrun, where every host's ranks follow each other
#pragma once

#include <string>

#include "nest/frameworks/common/exporter.hpp"
#include "nest/frameworks/common/rank_map.hpp"
#include "nest/frameworks/common/slurm_script.hpp"  // IWYU pragma: export

namespace nest::frameworks {

// `folder` is "" or ends with a slash.
void write_placement(const RankMap& map, const std::string& folder, const ExportSink& sink);

// A script for every host of the list that runs `command`, a script beside it that takes the words of a
// launcher, by torchrun where it can number the ranks.
[[nodiscard]] std::string host_script(const RankMap& map, const std::string& command);

// What every export says about its ranks, a sentence each.
[[nodiscard]] std::vector<std::string> placement_losses(const RankMap& map);

// The export target "placement".
[[nodiscard]] ExportResult export_placement(const ExportQuestion& question, const ExportSink& sink);

}  // namespace nest::frameworks
