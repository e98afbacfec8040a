// All export targets: a plain table. Adding one is one new file and one row.
#pragma once

#include <span>
#include <string_view>

#include "nest/base/document/value.hpp"
#include "nest/frameworks/common/exporter.hpp"

namespace nest::frameworks {

[[nodiscard]] std::span<const Exporter> exporters();
[[nodiscard]] const Exporter* find_exporter(std::string_view name);

// [{"name", "title", "text", "usual_release", "releases": [{"name", "released", "tried", "how"}]}]
[[nodiscard]] Value exporters_value();

struct ExportTarget {
  const Exporter* exporter = nullptr;
  const Release* release = nullptr;  // none: nobody named one
};
// "megatron" or "megatron@core_v0.16"; an InputError where there is no such target or release.
[[nodiscard]] ExportTarget read_target(std::string_view spelling);

}  // namespace nest::frameworks
