// POST /api/v1/import: texts of other programs as a cluster file. Texts come with the request; no file of the host is read.
//
//   {"files": [{"name": "topology.conf", "text": "SwitchName=.."}, {"name": "scontrol.txt", "text": ".."}], "only": "gpu"}
//     ->  {"kind": "slurm", "cluster_text": "name: topology\n..", "devices": 512, "known": [..], "assumed": [..]}
#pragma once

#include "limits.hpp"
#include "nest/base/document/reader.hpp"
#include "nest/base/document/value.hpp"

namespace nest::server {

[[nodiscard]] Value imported_cluster(Reader& request, const Limits& limits);

}  // namespace nest::server
