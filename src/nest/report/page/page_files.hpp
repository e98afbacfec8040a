// The files of page/: the report's template, style and scripts, compiled into the library.
#pragma once

#include <span>

#include "nest/base/embedded.hpp"

namespace nest::report {

[[nodiscard]] std::span<const EmbeddedFile> page_files();

}  // namespace nest::report
