// What Slurm says of nodes: `scontrol show nodes` in either form, the NodeName lines of slurm.conf, and tables of `sinfo`.
//
//   NodeName=node001 ... Gres=gpu:h100:8(S:0-1) ... State=IDLE+DRAIN ... Reason=ECC errors [root@2026-10-01]
//
//   PARTITION AVAIL TIMELIMIT NODES STATE NODELIST
//   gpu*      up    infinite      2 drain node[017,023]
#pragma once

#include "nest/cluster/imports/facts.hpp"

namespace nest::cluster {

[[nodiscard]] bool is_scontrol_nodes(std::string_view text);
[[nodiscard]] ImportFacts read_scontrol_nodes(const ImportFile& file);

[[nodiscard]] bool is_sinfo(std::string_view text);
[[nodiscard]] ImportFacts read_sinfo(const ImportFile& file);

// GPUs of a list of generic resources, "gpu:h100:8(S:0-1),mps:400"; none where it names no GPU.
struct SlurmGpus {
  std::string chip;  // "h100"; empty: the list does not say
  std::int32_t count = 0;
};
[[nodiscard]] SlurmGpus gpus_of(std::string_view resources);

// Why a node in this state takes no work: "drained", "down"; empty: it does. Flags follow the state with '+', or with the
// marks of sinfo: "IDLE+DRAIN", "down*".
[[nodiscard]] std::string out_of_service(std::string_view state);

}  // namespace nest::cluster
