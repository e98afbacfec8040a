// Which hosts of an import make the cluster: those that the files about the network and about hosts have in common, that
// somebody picked, and that have accelerators.
#pragma once

#include <string>
#include <vector>

#include "nest/cluster/imports/facts.hpp"

namespace nest::cluster {

// Leaves the others out of `facts`, and says so there. `only`: hosts by name, instance type, accelerator or group, as
// Slurm writes lists of names. Throws an InputError where none is left.
void choose_hosts(ImportFacts& facts, const std::string& only);

}  // namespace nest::cluster
