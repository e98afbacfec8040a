// A script for sbatch that puts every rank of a plan where the plan has it, on hosts that nobody knows before
// the job starts. Ask for so many hosts and devices, and for hosts below few switches; once the allocation is
// there, sort its hosts by the switches above them, give each the part of one host of the plan, warn where
// hosts that the plan has below one switch are not so, and start the ranks by srun:
//
//   #SBATCH --nodes=4
//   #SBATCH --gpus-per-node=8
//   #SBATCH --switches=2@60
//   ..
//   srun --ntasks=32 --distribution=plane=4 .. placement/launch_rank.sh "$@"
#pragma once

#include <string>

#include "nest/frameworks/common/rank_map.hpp"

namespace nest::frameworks {

struct SlurmJob {
  std::string name;     // of the job
  std::string usage;    // the first line says what it does
  std::string command;  // the words of one rank
  bool enter = false;   // run it in the folder of the export
};
[[nodiscard]] std::string slurm_script(const RankMap& map, const SlurmJob& job);
// run_slurm.sh of a framework, which runs `command`, a script beside it that takes the words of a launcher.
[[nodiscard]] std::string slurm_script(const RankMap& map, const std::string& job,
                                       const std::string& command);

}  // namespace nest::frameworks
