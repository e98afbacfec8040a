// All export targets: a plain table. Adding one is one new file and one row.
#pragma once

#include <span>
#include <string_view>

#include "nest/frameworks/common/exporter.hpp"

namespace nest::frameworks {

[[nodiscard]] std::span<const Exporter> exporters();
[[nodiscard]] const Exporter* find_exporter(std::string_view name);

}  // namespace nest::frameworks
