// Texts made from the command table: the overview, a command's help, the manual's reference, bash completion.
#pragma once

#include <string>

#include "command.hpp"

#include "nest/base/rooms.hpp"

namespace nest::cli {

[[nodiscard]] std::string overview(const Terminal& terminal);
[[nodiscard]] std::string help_of(const Command& command, const Terminal& terminal);
[[nodiscard]] std::string manual_reference();
[[nodiscard]] std::string bash_completion();

}  // namespace nest::cli
