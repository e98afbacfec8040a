// A plan as the report's views want it, and the report itself.
#pragma once

#include <string>

#include "nest/base/document/document.hpp"
#include "nest/base/document/value.hpp"

namespace nest::server {

// Of an answer of the search. Long steps are cut in the middle, so that a browser can draw them while
// somebody drags a slider.
[[nodiscard]] Value views_value(const Value& answer);

// The same of any plan file.
[[nodiscard]] Value plan_views(const Document& plan);

[[nodiscard]] std::string report_html(const Document& plan);

}  // namespace nest::server
