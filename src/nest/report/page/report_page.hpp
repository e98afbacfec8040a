// A report as one HTML file: data, scripts and style inside, nothing fetched, so that it works from disk and
// for ever. Nothing of the data can become markup: it stands in a JSON block whose '<' are escaped, and the
// scripts only ever set text.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "nest/base/document/value.hpp"

namespace nest::report {

[[nodiscard]] std::string report_page(const Value& report_data);
// The same page with these of its sections alone, by the names of page_sections(): for a notebook. Throws an InputError
// where there is no such section.
[[nodiscard]] std::string report_page(const Value& report_data, std::span<const std::string> sections);
[[nodiscard]] std::span<const std::string> page_sections();

// JSON that can stand inside <script>: no '<', '>', '&' and no line separators.
[[nodiscard]] std::string script_json(const Value& value);

// A module as part of one script with others: import lines and the word export left out. The modules of
// page/ keep to what this understands: imports and re-exports of one line, names that do not clash.
[[nodiscard]] std::string inline_module(std::string_view text);

}  // namespace nest::report
