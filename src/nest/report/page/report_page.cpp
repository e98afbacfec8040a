#include "nest/report/page/report_page.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "nest/base/closest.hpp"
#include "nest/base/drawing/svg.hpp"
#include "nest/base/error.hpp"
#include "nest/report/page/page_files.hpp"

namespace nest::report {
namespace {

// In the order in which they use each other.
constexpr std::array<std::string_view, 15> kScripts{"format.js",  "colour.js",   "frame.js",    "layout.js",
                                                    "devices.js", "spans.js",    "bars.js",     "uplinks.js",
                                                    "map.js",     "passes.js",   "timeline.js", "memory.js",
                                                    "panels.js",  "roofline.js", "report.js"};

std::string_view page_file(std::string_view name) {
  const EmbeddedFile* file = find_embedded(page_files(), name);
  return file == nullptr ? std::string_view() : file->text;
}

// Fills {{names}} in one pass: what is put in is not looked at again.
std::string fill(std::string_view text, std::span<const std::pair<std::string_view, std::string>> parts) {
  std::string out;
  while (true) {
    const std::size_t open = text.find("{{");
    const std::size_t close = open == std::string_view::npos ? open : text.find("}}", open);
    if (close == std::string_view::npos) return out.append(text);
    out.append(text.substr(0, open));
    const std::string_view name = text.substr(open + 2, close - open - 2);
    for (const auto& [key, value] : parts) {
      if (key == name) out += value;
    }
    text.remove_prefix(close + 2);
  }
}

// Ids of the headings of a named section.
struct Section {
  std::string name;
  std::vector<std::string_view> headings;
};
const std::vector<Section>& sections() {
  static const std::vector<Section> kSections{
      {"plan", {"plan"}},          {"placement", {"map"}},         {"timeline", {"timeline"}},
      {"time", {"time"}},          {"memory", {"memory", "held"}}, {"traffic", {"traffic"}},
      {"sensitivity", {"change"}}, {"roofline", {"roof"}},         {"alternatives", {"others"}},
      {"stages", {"stages"}},      {"network", {"levels"}},        {"inputs", {"inputs"}}};
  return kSections;
}

// Style that leaves these sections to see. The others keep their width, which drawings ask for.
std::string only(std::span<const std::string> wanted) {
  if (wanted.empty()) return "";
  std::string style =
      "header,footer,section{position:absolute;visibility:hidden;height:0;overflow:hidden;width:100%}\n";
  for (const std::string& name : wanted) {
    const auto at = std::ranges::find(sections(), name, &Section::name);
    if (at == sections().end())
      throw InputError("", "sections", "there is no section '" + name + "' in a report",
                       did_you_mean(name, {page_sections().begin(), page_sections().end()}));
    for (const std::string_view heading : at->headings)
      style += "section[aria-labelledby=\"h-" + std::string(heading) +
               "\"]{position:static;visibility:visible;height:auto;overflow:visible;width:auto}\n";
  }
  return style;
}

}  // namespace

std::span<const std::string> page_sections() {
  static const std::vector<std::string> kNames = [] {
    std::vector<std::string> names;
    for (const Section& section : sections()) names.push_back(section.name);
    return names;
  }();
  return kNames;
}

std::string script_json(const Value& value) {
  const std::string json = to_json_line(value);
  std::string out;
  out.reserve(json.size());
  for (std::size_t i = 0; i < json.size(); ++i) {
    const std::string_view rest = std::string_view(json).substr(i, 3);
    if (json[i] == '<') {
      out += "\\u003c";
    } else if (json[i] == '>') {
      out += "\\u003e";
    } else if (json[i] == '&') {
      out += "\\u0026";
    } else if (rest == "\xe2\x80\xa8" || rest == "\xe2\x80\xa9") {
      out += rest == "\xe2\x80\xa8" ? "\\u2028" : "\\u2029";
      i += 2;
    } else {
      out += json[i];
    }
  }
  return out;
}

std::string inline_module(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.starts_with("import ") || line.starts_with("export {") || line.starts_with("export *")) continue;
    if (line.starts_with("export ")) line.remove_prefix(7);
    out.append(line).append("\n");
  }
  return out;
}

std::string report_page(const Value& data) {
  return report_page(data, {});
}

std::string report_page(const Value& data, std::span<const std::string> wanted) {
  std::string script;
  for (const std::string_view name : kScripts) script += inline_module(page_file(name));
  const Value* title = data.find("title");
  const std::string name = title != nullptr && title->as_string() != nullptr ? *title->as_string() : "";
  const std::array<std::pair<std::string_view, std::string>, 6> parts{
      {{"title", escape_xml(name)},
       {"views_style", std::string(page_file("views.css"))},
       {"style", std::string(page_file("report.css"))},
       {"only", only(wanted)},
       {"data", script_json(data)},
       {"script", script}}};
  return fill(page_file("report.html"), parts);
}

}  // namespace nest::report
