// Hosts in nested domains as a tree of fan-outs. Hosts keep the order of the files as far as domains allow: domains follow
// each other in the order of their first hosts.
//
//   hosts a b c d in leaves 1 2 1 2    -> order a c b d, leaves of 2 and 2
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace nest::cluster {

struct HostTree {
  std::vector<std::int32_t> order;               // hosts by their place in the tree
  std::vector<std::vector<std::int32_t>> sizes;  // by tier, innermost first: the children of each domain
};

// `labels[tier][host]` names the domain of a host, innermost tier first. Where it is empty the host lies where another
// one of the same inner domain does, else in a domain of its own. Equal names in different outer domains are different
// domains.
[[nodiscard]] HostTree make_host_tree(std::vector<std::vector<std::string>> labels, std::int32_t hosts);

// Whether every domain of the first labels lies within one domain of the second.
[[nodiscard]] bool nested_in(const std::vector<std::string>& inner, const std::vector<std::string>& outer);

}  // namespace nest::cluster
