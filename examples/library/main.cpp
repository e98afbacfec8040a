// A program of somebody else: it opens a model and a cluster through the installed library.
#include <cstdlib>
#include <iostream>

#include "nest/api/nest.hpp"

int main() {
  nest::Warnings warnings;
  const nest::Model model = nest::open_model("llama3.1-8b", {}, warnings);
  const nest::Cluster cluster = nest::load_cluster("h100-spine-leaf");
  std::cout << "nest " << nest::version() << ": " << model.parameters() << " parameters on "
            << cluster.devices() << " devices\n";
  const bool right = model.parameters() == 8'030'261'248 && cluster.devices() == 1024;
  return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
