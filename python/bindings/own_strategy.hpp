// A sub-graph strategy of Python beside the library's.
#pragma once

#include <string>
#include <vector>

#include "names.hpp"
#include "nest/strategies/subgraph_strategy.hpp"

namespace nest::python {

struct OwnStrategy {
  SubgraphStrategy row;
  std::string replaces;  // the library's, wherever its own `active` says yes
};

// The library's table with these in it. Throws an InputError where there is nothing of that name to replace.
[[nodiscard]] std::vector<SubgraphStrategy> table_with(const std::vector<OwnStrategy>& own);

}  // namespace nest::python
