// The rows of asked_fields() that say what a run costs and how it fails (price/run/run_terms.hpp).
//
//   --price 2.5/h   --price h100-sxm=2.5,b200=5   --mtbf 50000h   --mtbf 6000h/node   --restart 10min
#pragma once

#include <vector>

#include "nest/question/asked.hpp"

namespace nest::question {

[[nodiscard]] std::vector<AskedField> run_fields();

}  // namespace nest::question
