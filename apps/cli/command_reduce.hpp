// nest clusters from-graph and from-matrix: any network as levels, with a report of what that loses.
#pragma once

#include <vector>

#include "command.hpp"

#include "nest/base/rooms.hpp"

namespace nest::cli {

[[nodiscard]] std::vector<Command> reduce_commands();

}  // namespace nest::cli
