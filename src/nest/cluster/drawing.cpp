#include "nest/cluster/drawing.hpp"

#include <algorithm>

#include "nest/base/drawing/svg.hpp"
#include "nest/base/drawing/table.hpp"

namespace nest::cluster {
namespace {

constexpr double kPad = 12;
constexpr double kStrip = 38;   // a level's heading: two lines of text
constexpr double kDevice = 18;  // side of a device's square
constexpr double kGap = 5;
constexpr double kSlip = 12;        // width of a domain that is only hinted at
constexpr double kCharacter = 6.9;  // a generous mean width at 12 px
constexpr double kTitle = 34;
constexpr double kFoot = 26;
constexpr std::int32_t kMostSlips = 3;
constexpr std::int32_t kMostColumns = 16;
constexpr std::int32_t kMostRows = 16;

struct Size {
  double width = 0;
  double height = 0;
};

double text_room(const std::string& text) {
  return kCharacter * static_cast<double>(text_width(text)) + 2 * kPad;
}

std::string times(std::int64_t n) {
  return "\xc3\x97 " + format_digits(n);
}

class Picture {
 public:
  explicit Picture(const Cluster& cluster) : cluster_(cluster) {}

  std::string draw() {
    const std::int32_t top = cluster_.tree().levels() - 1;
    const Size box = size_of(top);
    const std::string title =
        cluster_.name() + ": " + format_digits(cluster_.devices()) + " \xc3\x97 " + cluster_.device_name();
    const std::string foot = "bisection " + format(bisection(cluster_)) + " in one direction";
    constexpr double kTitleScale = 1.25;
    const double width = std::max({box.width, kTitleScale * text_room(title), text_room(foot)}) + 2 * kPad;
    Svg svg(width, box.height + kTitle + kFoot + kPad, title);
    svg.text(kPad, kTitle - kPad, title, Svg::Anchor::start, "title");
    domain(svg, top, kPad, kTitle);
    svg.text(kPad, kTitle + box.height + kFoot - kGap, foot, Svg::Anchor::start, "small");
    return svg.str();
  }

 private:
  [[nodiscard]] const Level& level(std::int32_t l) const { return cluster_.level(LevelId{l}); }

  // The domain that is drawn: the first with the most children.
  [[nodiscard]] std::int32_t children(std::int32_t l) const {
    const FanOut& fan_out = level(l).fan_out;
    return fan_out.uniform() ? fan_out.size : *std::max_element(fan_out.sizes.begin(), fan_out.sizes.end());
  }

  [[nodiscard]] std::string heading(std::int32_t l) const {
    const Level& at = level(l);
    std::string count = format_digits(children(l));
    if (!at.fan_out.uniform()) {
      count =
          format_digits(*std::min_element(at.fan_out.sizes.begin(), at.fan_out.sizes.end())) + " to " + count;
    }
    std::string shape;
    if (at.is_grid()) {
      for (const std::int32_t n : at.dims) shape += (shape.empty() ? " " : " \xc3\x97 ") + std::to_string(n);
      shape += " =";
    }
    const std::string child = l == 0 ? "device" : level(l - 1).name;
    return at.name + " \xe2\x80\x93 " +
           std::string(at.kind == LevelKind::fully_connected ? "fully connected" : to_string(at.kind)) +
           (at.is_grid() ? "" : " of") + shape + " " + count + " \xc3\x97 " + child;
  }

  [[nodiscard]] std::string figures(std::int32_t l) const {
    const Level& at = level(l);
    std::string s = format(at.bandwidth) + " a device, " + format(at.latency) +
                    (at.hops_through_children() ? " a hop" : "");
    if (at.oversubscription > 1) {
      std::string ratio = std::to_string(at.oversubscription);
      ratio.erase(ratio.find_last_not_of('0') + 1);
      if (ratio.back() == '.') ratio.pop_back();
      s += ", " + ratio + ":1 oversubscribed";
    }
    if (at.kind == LevelKind::torus) {
      const auto wrapped = std::count(at.wrap.begin(), at.wrap.end(), true);
      if (wrapped == static_cast<std::ptrdiff_t>(at.wrap.size())) {
        s += ", every side wraps";
      } else if (wrapped == 0) {
        s += ", no side wraps";
      } else {
        std::string sides;
        for (std::size_t d = 0; d < at.wrap.size(); ++d) {
          if (at.wrap[d]) sides += (sides.empty() ? "" : ", ") + std::to_string(at.dims[d]);
        }
        s += ", wraps on the side of " + sides;
      }
    }
    return at.in_network_reduction ? s + ", reduces in the network" : s;
  }

  [[nodiscard]] std::int32_t columns(std::int32_t l) const {
    const Level& at = level(l);
    return std::min(at.is_grid() ? at.dims[0] : children(l), at.is_grid() ? kMostColumns : 8);
  }
  [[nodiscard]] std::int32_t rows(std::int32_t l) const {
    const Level& at = level(l);
    if (at.is_grid()) return at.dims.size() > 1 ? std::min(at.dims[1], kMostRows) : 1;
    return std::min((children(l) + columns(l) - 1) / columns(l), 2);
  }
  // What the squares, or the slips, leave out.
  [[nodiscard]] std::string remainder(std::int32_t l) const {
    const Level& at = level(l);
    if (l > 0) return children(l) > 1 ? times(children(l)) : "";
    if (!at.is_grid()) return children(l) > rows(l) * columns(l) ? times(children(l)) : "";
    std::int32_t layers = 1;
    for (std::size_t d = 2; d < at.dims.size(); ++d) layers *= at.dims[d];
    const bool cut = columns(l) < at.dims[0] || (at.dims.size() > 1 && rows(l) < at.dims[1]);
    if (cut) return times(children(l));
    return layers > 1 ? times(layers) + " layers" : "";
  }

  [[nodiscard]] Size inside(std::int32_t l) const {
    const double more = remainder(l).empty() ? 0 : text_room(remainder(l)) - kPad;
    if (l == 0) {
      return {columns(l) * (kDevice + kGap) - kGap + more, rows(l) * (kDevice + kGap) - kGap};
    }
    const Size child = size_of(l - 1);
    return {child.width + slips(l) * (kSlip + kGap) + more, child.height};
  }
  [[nodiscard]] std::int32_t slips(std::int32_t l) const { return std::min(children(l) - 1, kMostSlips); }

  [[nodiscard]] Size size_of(std::int32_t l) const {
    const Size content = inside(l);
    const double text = std::max(text_room(heading(l)), text_room(figures(l)));
    return {std::max(content.width + 2 * kPad, text), content.height + kStrip + 2 * kPad};
  }

  void domain(Svg& svg, std::int32_t l, double x, double y) const {
    const Size size = size_of(l);
    const std::string style = "level" + std::to_string(l % 5);
    const std::string tooltip =
        heading(l) + "; " + figures(l) + "; bisection " + format(bisection(cluster_, LevelId{l}));
    svg.box({x, y, size.width, size.height}, "quiet", tooltip);
    svg.box({x, y, size.width, kStrip}, style, tooltip);
    svg.text(x + kPad, y + kStrip / 2 - 3, heading(l), Svg::Anchor::start, "inside");
    svg.text(x + kPad, y + kStrip - 6, figures(l), Svg::Anchor::start, "inside");
    const double top = y + kStrip + kPad;
    const double end =
        l == 0 ? devices(svg, l, x + kPad, top, style) : child_and_slips(svg, l, x + kPad, top);
    const double middle = top + inside(l).height / 2 + 4;
    if (!remainder(l).empty()) svg.text(end + kGap, middle, remainder(l));
  }

  double devices(Svg& svg, std::int32_t l, double x, double y, const std::string& style) const {
    const std::int32_t shown =
        level(l).is_grid() ? columns(l) * rows(l) : std::min(children(l), columns(l) * rows(l));
    for (std::int32_t i = 0; i < shown; ++i) {
      const std::int32_t column = i % columns(l);
      const std::int32_t row = i / columns(l);
      const double left = x + column * (kDevice + kGap);
      const double top = y + row * (kDevice + kGap);
      if (level(l).hops_through_children()) links(svg, l, left, top, i);
      svg.box({left, top, kDevice, kDevice}, style, cluster_.device_name() + " " + std::to_string(i));
    }
    return x + columns(l) * (kDevice + kGap);
  }

  // The links to the next square in its row and column.
  void links(Svg& svg, std::int32_t l, double x, double y, std::int32_t i) const {
    const bool last_column = i % columns(l) == columns(l) - 1;
    const bool last_row = i / columns(l) == rows(l) - 1;
    const double middle = kDevice / 2;
    if (!last_column) svg.line(x + kDevice, y + middle, x + kDevice + kGap, y + middle);
    if (!last_row && level(l).is_grid()) svg.line(x + middle, y + kDevice, x + middle, y + kDevice + kGap);
  }

  double child_and_slips(Svg& svg, std::int32_t l, double x, double y) const {
    domain(svg, l - 1, x, y);
    const Size child = size_of(l - 1);
    double at = x + child.width + kGap;
    for (std::int32_t i = 0; i < slips(l); ++i) {
      svg.box({at, y, kSlip, child.height}, "quiet", level(l - 1).name + " " + std::to_string(i + 1));
      svg.box({at, y, kSlip, kStrip}, "level" + std::to_string((l - 1) % 5));
      at += kSlip + kGap;
    }
    return at;
  }

  const Cluster& cluster_;
};

}  // namespace

std::string cluster_svg(const Cluster& cluster) {
  return Picture(cluster).draw();
}

}  // namespace nest::cluster
