// NOTES.md of an export: what the plan is, what was lost in translation, how to run it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "nest/frameworks/common/exporter.hpp"
#include "nest/frameworks/common/rank_map.hpp"

namespace nest::frameworks {

// `remarks` are about what the export leaves to the user, a sentence each without a full stop.
[[nodiscard]] std::string export_notes(const ExportQuestion& question, const RankMap& map,
                                       std::string_view title, const ExportResult& result,
                                       const std::vector<std::string>& remarks);

}  // namespace nest::frameworks
