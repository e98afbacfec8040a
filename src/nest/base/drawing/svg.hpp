// A small SVG writer: shapes go in, one self-contained picture comes out, readable on light and dark pages.
//
//   Svg svg(400, 120, "h100-spine-leaf");
//   svg.box({10, 10, 80, 30}, "level0", "node: 8 devices");     // class for the colour, text for the tooltip
//   svg.text(50, 30, "node", Svg::Anchor::middle);
//   write_file("cluster.svg", svg.str());
#pragma once

#include <string>
#include <string_view>

#include "nest/base/rooms.hpp"

namespace nest::base {

class Svg {
 public:
  enum class Anchor { start, middle, end };
  struct Box {
    double x = 0;
    double y = 0;
    double width = 0;
    double height = 0;
  };

  Svg(double width, double height, std::string title);

  // `style` is one of the classes in the sheet: level0 .. level7, quiet, strong; "light" after it
  // makes it lighter.
  void box(Box at, std::string_view style, std::string_view tooltip = {});
  void dot(double x, double y, double radius, std::string_view style, std::string_view tooltip = {});
  // `style` is wire, or guide for a broken line.
  void line(double x1, double y1, double x2, double y2, std::string_view style = "wire");
  void text(double x, double y, std::string_view words, Anchor anchor = Anchor::start,
            std::string_view style = "label");

  [[nodiscard]] std::string str() const;

 private:
  double width_;
  double height_;
  std::string title_;
  std::string body_;
};

// & < > " as entities.
[[nodiscard]] std::string escape_xml(std::string_view text);

}  // namespace nest::base
