#include "nest/validate/scatter.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <vector>

#include "nest/base/drawing/svg.hpp"

namespace nest::validate {
namespace {

constexpr double kSide = 520;  // of the square that holds the points
constexpr double kLeft = 70;
constexpr double kTop = 58;
constexpr double kLegend = 190;  // at least
constexpr double kLetter = 6.8;  // the mean width of one
constexpr double kSmall = 5.8;   // and of a small one

std::string digits(double value) {
  std::array<char, 32> buffer{};
  const auto end =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::general, 3).ptr;
  return {buffer.data(), end};
}

// Without an exponent: 0.00005, where the digit that counts is that of a power of ten.
std::string plain(double value, int power) {
  std::array<char, 64> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                 std::chars_format::fixed, std::max(0, -power))
                       .ptr;
  return {buffer.data(), end};
}

// Both axes alike, so that the diagonal is one.
struct Axis {
  double low = 0;  // log10
  double high = 1;

  [[nodiscard]] double share(double value) const { return (std::log10(value) - low) / (high - low); }
  [[nodiscard]] double x(double value) const { return kLeft + kSide * share(value); }
  [[nodiscard]] double y(double value) const { return kTop + kSide * (1 - share(value)); }
};

Axis axis_of(const std::vector<ScatterPoint>& points) {
  if (points.empty()) return {};
  double least = points.front().measured;
  double most = least;
  for (const ScatterPoint& p : points) {
    least = std::min({least, p.measured, p.predicted});
    most = std::max({most, p.measured, p.predicted});
  }
  constexpr double kMargin = 0.05;
  return {std::log10(least) - kMargin, std::log10(most) + kMargin};
}

// Labels that would lie over the one before are left out.
void draw_ticks(Svg& svg, const Axis& axis) {
  double free_from = 0;
  for (int power = static_cast<int>(std::floor(axis.low)); power <= static_cast<int>(axis.high); ++power) {
    for (const double first : {1.0, 2.0, 5.0}) {
      const double value = first * std::pow(10.0, power);
      if (axis.share(value) < 0 || axis.share(value) > 1) continue;
      svg.line(axis.x(value), kTop + kSide, axis.x(value), kTop + kSide + 5);
      svg.line(kLeft - 5, axis.y(value), kLeft, axis.y(value));
      const std::string label = plain(value, power);
      svg.text(kLeft - 8, axis.y(value) + 4, label, Svg::Anchor::end, "small");
      const double half = kSmall * static_cast<double>(label.size()) / 2;
      if (axis.x(value) - half < free_from) continue;
      svg.text(axis.x(value), kTop + kSide + 18, label, Svg::Anchor::middle, "small");
      free_from = axis.x(value) + half + 4;
    }
  }
}

// How a group's points look: eight colours (classes level0 .. level7), then the same as squares, then both lighter.
struct Mark {
  static constexpr std::size_t kColours = 8;
  std::size_t index = 0;

  void draw(Svg& svg, double x, double y, double radius, const std::string& tooltip = {}) const {
    const std::string style =
        "level" + std::to_string(index % kColours) + (index / kColours / 2 % 2 == 0 ? "" : " light");
    if (index / kColours % 2 == 0) {
      svg.dot(x, y, radius, style, tooltip);
    } else {
      svg.box({x - radius, y - radius, 2 * radius, 2 * radius}, style + " square", tooltip);
    }
  }
};

// predicted = factor * measured, as far as it lies inside the square.
void draw_slope(Svg& svg, const Axis& axis, double factor, std::string_view style) {
  const double shift = std::log10(factor);
  const double low = std::pow(10.0, std::max(axis.low, axis.low - shift));
  const double high = std::pow(10.0, std::min(axis.high, axis.high - shift));
  if (low >= high) return;
  svg.line(axis.x(low), axis.y(factor * low), axis.x(high), axis.y(factor * high), style);
}

}  // namespace

std::string scatter(const std::string& title, const std::string& unit, std::span<const ScatterPoint> points) {
  std::vector<ScatterPoint> shown;
  std::copy_if(points.begin(), points.end(), std::back_inserter(shown),
               [](const ScatterPoint& p) { return p.measured > 0 && p.predicted > 0; });
  const Axis axis = axis_of(shown);
  std::map<std::string, int> counts;
  for (const ScatterPoint& p : shown) ++counts[p.group];
  const auto entry = [](const std::string& group, int count) {
    return group + " (" + std::to_string(count) + ")";
  };
  const std::string lines = "lines: equal, 15 % more, 15 % less";
  double legend = std::max(kLegend, 20 + kSmall * static_cast<double>(lines.size()));
  for (const auto& [group, count] : counts)
    legend = std::max(legend, 42 + kLetter * static_cast<double>(entry(group, count).size()));
  const double height = std::max(kTop + kSide + 50, kTop + 40 + 20 * static_cast<double>(counts.size()));
  Svg svg(kLeft + kSide + legend, height, title);
  svg.text(kLeft, 28, title, Svg::Anchor::start, "title");
  svg.box({kLeft, kTop, kSide, kSide}, "quiet");
  draw_ticks(svg, axis);
  draw_slope(svg, axis, 1, "wire");
  draw_slope(svg, axis, 1 + kScatterBand, "guide");
  draw_slope(svg, axis, 1 - kScatterBand, "guide");
  svg.text(kLeft + kSide / 2, kTop + kSide + 40, "measured, " + unit, Svg::Anchor::middle);
  svg.text(kLeft, kTop - 8, "predicted, " + unit);

  std::map<std::string, Mark> marks;
  double at = kTop + 10;
  for (const auto& [group, count] : counts) {
    const Mark mark{marks.size()};
    marks.emplace(group, mark);
    mark.draw(svg, kLeft + kSide + 20, at, 5);
    svg.text(kLeft + kSide + 32, at + 4, entry(group, count));
    at += 20;
  }
  svg.text(kLeft + kSide + 15, at + 12, lines, Svg::Anchor::start, "small");
  for (const ScatterPoint& p : shown) {
    const double off = 100 * (p.predicted / p.measured - 1);
    marks.at(p.group).draw(svg, axis.x(p.measured), axis.y(p.predicted), 4,
                           p.name + ": measured " + digits(p.measured) + ", predicted " +
                               digits(p.predicted) + " " + unit + " (" + (off >= 0 ? "+" : "") + digits(off) +
                               " %)");
  }
  return svg.str();
}

}  // namespace nest::validate
