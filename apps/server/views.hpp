// A plan as the report's views want it, and the report itself.
#pragma once

#include <functional>
#include <string>

#include "nest/base/document/document.hpp"
#include "nest/base/document/value.hpp"

namespace nest::server {

// Of an answer of the search. Long steps are cut in the middle, so that a browser can draw them while
// somebody drags a slider.
// `go_on` is called before each part, and throws where nobody wants them any more.
[[nodiscard]] Value views_value(const Value& answer, const std::function<void()>& go_on);

// The same of any plan file.
[[nodiscard]] Value plan_views(const Document& plan, const std::function<void()>& go_on);

[[nodiscard]] std::string report_html(const Document& plan);

}  // namespace nest::server
