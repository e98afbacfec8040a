// NCCL's and RCCL's view of a host as XML: the system that NCCL_TOPO_DUMP_FILE writes, whole or with its PCI tree alone (as
// cloud providers ship it), and the graphs of NCCL_GRAPH_DUMP_FILE. A dump over several hosts, as in racks with NVLink
// between hosts, gives all of them.
//
//   <system version="1"> <cpu numaid="0" ..> <pci busid="0000:19:00.0" class="0x030200" ..>
//     <gpu dev="0" sm="90" rank="0"> <nvlink target="0000:05:00.0" count="18" tclass="0x068000"/>
#pragma once

#include "nest/cluster/imports/facts.hpp"

namespace nest::cluster {

[[nodiscard]] bool is_nccl_xml(std::string_view text);
// `accelerator` is what somebody states; empty: by the file.
[[nodiscard]] ImportFacts read_nccl_xml(const ImportFile& file, const std::string& accelerator);

}  // namespace nest::cluster
