#include "nest/base/drawing/svg.hpp"

#include <array>
#include <charconv>
#include <utility>

namespace nest::base {
namespace {

// Colours of the Okabe-Ito set, told apart also by people who do not see red or green.
constexpr std::string_view kStyle = R"(<style>
  svg { background: #ffffff; font-family: system-ui, sans-serif; font-size: 12px; }
  .label { fill: #1b1f24; } .small { fill: #57606a; font-size: 10px; } .title { fill: #1b1f24; font-size: 15px; font-weight: 600; }
  .wire { stroke: #8c959f; stroke-width: 1; fill: none; }
  .square { rx: 0; }
  .guide { stroke: #8c959f; stroke-width: 1; stroke-dasharray: 4 3; fill: none; }
  circle { stroke: #57606a; stroke-width: 0.75; }
  rect { stroke: #57606a; stroke-width: 0.75; rx: 3; }
  .quiet { fill: #f6f8fa; } .strong { fill: #56b4e9; } .light { fill-opacity: 0.45; }
  .level0 { fill: #56b4e9; } .level1 { fill: #e69f00; } .level2 { fill: #009e73; } .level3 { fill: #cc79a7; }
  .level4 { fill: #f0e442; } .level5 { fill: #0072b2; } .level6 { fill: #d55e00; } .level7 { fill: #999999; }
  @media (prefers-color-scheme: dark) {
    svg { background: #0d1117; } .label, .title { fill: #e6edf3; } .small { fill: #9da7b1; }
    .quiet { fill: #161b22; } rect, circle { stroke: #9da7b1; } .inside { fill: #1b1f24; }
    .light { fill-opacity: 0.6; }
  }
</style>
)";

std::string number(double v) {
  std::array<char, 32> buffer{};
  const auto end =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), v, std::chars_format::fixed, 2).ptr;
  std::string s(buffer.data(), end);
  s.erase(s.find_last_not_of('0') + 1);
  if (s.back() == '.') s.pop_back();
  return s;
}

}  // namespace

std::string escape_xml(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
  }
  return out;
}

Svg::Svg(double width, double height, std::string title)
    : width_(width), height_(height), title_(std::move(title)) {}

void Svg::box(Box at, std::string_view style, std::string_view tooltip) {
  body_ += "<rect class=\"" + std::string(style) + "\" x=\"" + number(at.x) + "\" y=\"" + number(at.y) +
           "\" width=\"" + number(at.width) + "\" height=\"" + number(at.height) + "\"";
  body_ += tooltip.empty() ? "/>\n" : "><title>" + escape_xml(tooltip) + "</title></rect>\n";
}

void Svg::dot(double x, double y, double radius, std::string_view style, std::string_view tooltip) {
  body_ += "<circle class=\"" + std::string(style) + "\" cx=\"" + number(x) + "\" cy=\"" + number(y) +
           "\" r=\"" + number(radius) + "\"";
  body_ += tooltip.empty() ? "/>\n" : "><title>" + escape_xml(tooltip) + "</title></circle>\n";
}

void Svg::line(double x1, double y1, double x2, double y2, std::string_view style) {
  body_ += "<line class=\"" + std::string(style) + "\" x1=\"" + number(x1) + "\" y1=\"" + number(y1) +
           "\" x2=\"" + number(x2) + "\" y2=\"" + number(y2) + "\"/>\n";
}

void Svg::text(double x, double y, std::string_view words, Anchor anchor, std::string_view style) {
  static constexpr std::array<std::string_view, 3> kAnchors{"start", "middle", "end"};
  body_ += "<text class=\"" + std::string(style) + "\" x=\"" + number(x) + "\" y=\"" + number(y) +
           "\" text-anchor=\"" + std::string(kAnchors[static_cast<std::size_t>(anchor)]) + "\">" +
           escape_xml(words) + "</text>\n";
}

std::string Svg::str() const {
  const std::string size = number(width_) + "\" height=\"" + number(height_);
  return "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + size + "\" viewBox=\"0 0 " + number(width_) +
         " " + number(height_) + "\" role=\"img\">\n<title>" + escape_xml(title_) + "</title>\n" +
         std::string(kStyle) + body_ + "</svg>\n";
}

}  // namespace nest::base
