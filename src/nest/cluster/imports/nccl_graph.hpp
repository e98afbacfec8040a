// The graphs that NCCL has searched (NCCL_GRAPH_DUMP_FILE): which GPUs follow each other in its channels, over which kinds
// of ways. Speeds in it are what the search asked for, not those of links.
//
//   <graphs version="1"> <graph id="0" pattern="4" nchannels="16" speedintra="20" speedinter="20" typeintra="NVL" typeinter="PIX">
//     <channel> <net dev="0"/> <gpu dev="0"/> <gpu dev="7"/> .. </channel>
#pragma once

#include <string>

#include "nest/cluster/imports/facts.hpp"
#include "nest/cluster/imports/xml.hpp"

namespace nest::cluster {

[[nodiscard]] NodeFacts node_of_graphs(const XmlElement& graphs, const std::string& file,
                                       const std::string& accelerator, ImportNotes& notes);

}  // namespace nest::cluster
