#include "nest/report/answer/bar_chart.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>

#include "nest/base/drawing/svg.hpp"
#include "nest/base/drawing/table.hpp"

namespace nest::report {
namespace {

constexpr double kBar = 30;  // wide enough for its label
constexpr double kBetween = 16;
constexpr double kAxis = 44;  // left of a panel, for the ticks
constexpr double kHeight = 130;
constexpr double kAbove = 30;  // a panel's title
constexpr double kBelow = 36;  // the labels of its groups
constexpr double kMargin = 20;
constexpr double kLetter = 6.6;  // width of one, roughly
constexpr double kMostWidth = 1080;
constexpr std::size_t kColours = 8;

std::string fixed(double value, int decimals) {
  std::array<char, 64> buffer{};
  const auto end =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::fixed, decimals)
          .ptr;
  return {buffer.data(), end};
}

std::string shortest(double value) {
  std::array<char, 32> buffer{};
  const auto end =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::general, 3).ptr;
  return {buffer.data(), end};
}

std::string style_of(std::size_t series) {
  return "level" + std::to_string(series % kColours) + (series / kColours % 2 == 0 ? "" : " light");
}

// Whether the bar has a height.
bool drawn(const BarChart& chart, const Bar& bar) {
  return bar.value && std::isfinite(*bar.value) && (chart.log_axis ? *bar.value > 0 : *bar.value >= 0);
}

// 1, 2 or 5 times a power of ten, the least that is not below.
double round_up(double value) {
  const double power = std::pow(10.0, std::floor(std::log10(value)));
  for (const double first : {1.0, 2.0, 5.0})
    if (value <= first * power * (1 + 1e-12)) return first * power;
  return 10 * power;
}

struct Scale {
  double low = 0;
  double high = 1;
  bool log = false;
  std::vector<double> ticks;

  [[nodiscard]] double share(double value) const {
    return log ? std::log(value / low) / std::log(high / low) : (value - low) / (high - low);
  }
};

Scale scale_of(const BarChart& chart, const BarPanel& panel) {
  std::vector<double> values;
  for (const BarCluster& group : panel.groups)
    for (const Bar& bar : group.bars)
      if (drawn(chart, bar)) values.push_back(*bar.value);
  Scale scale;
  scale.log = chart.log_axis;
  const double most = values.empty() ? 0 : *std::max_element(values.begin(), values.end());
  if (scale.log) {
    const double least = values.empty() ? 1 : *std::min_element(values.begin(), values.end());
    scale.low = std::pow(10.0, std::floor(std::log10(least) - 0.1));
    scale.high = std::max(10 * scale.low, most * 1.3);  // room for the label over the highest bar
    for (double tick = scale.low; tick <= scale.high; tick *= 10) scale.ticks.push_back(tick);
  } else {
    scale.high = most > 0 ? most * 1.12 : 1;
    const double step = round_up(scale.high / 5);
    for (int i = 0; i * step <= scale.high; ++i) scale.ticks.push_back(i * step);
  }
  return scale;
}

std::vector<std::string> series_of(const BarChart& chart) {
  std::vector<std::string> names;
  for (const BarPanel& panel : chart.panels)
    for (const BarCluster& group : panel.groups)
      for (const Bar& bar : group.bars)
        if (std::find(names.begin(), names.end(), bar.series) == names.end()) names.push_back(bar.series);
  return names;
}

struct Drawing {
  const BarChart& chart;
  std::vector<std::string> series;
  Svg svg;

  [[nodiscard]] double group_width() const {
    return kBar * static_cast<double>(std::max<std::size_t>(series.size(), 1)) + kBetween;
  }
  [[nodiscard]] double panel_width(const BarPanel& panel) const {
    return group_width() * static_cast<double>(std::max<std::size_t>(panel.groups.size(), 1)) + kBetween;
  }

  void draw_bar(const Bar& bar, double x, double bottom, const Scale& scale) {
    const auto found = std::find(series.begin(), series.end(), bar.series);
    const auto index = static_cast<std::size_t>(found - series.begin());
    const double left = x + kBar * static_cast<double>(index);
    const double middle = left + kBar / 2;
    if (!drawn(chart, bar)) {
      const std::string mark = bar.mark.empty() ? "\u00d7" : bar.mark;
      svg.box({left + 1, bottom - 16, kBar - 2, 16}, "quiet square",
              bar.tooltip.empty() ? bar.series + ": " + mark : bar.tooltip);
      svg.text(middle, bottom - 4, mark, Svg::Anchor::middle);
      return;
    }
    const std::string label = bar_label(*bar.value);
    const double height = kHeight * std::clamp(scale.share(*bar.value), 0.0, 1.0);
    svg.box({left + 1, bottom - height, kBar - 2, height}, style_of(index) + " square",
            bar.tooltip.empty() ? bar.series + ": " + label : bar.tooltip);
    svg.text(middle, bottom - height - 3, label, Svg::Anchor::middle, "small");
  }

  void draw_panel(const BarPanel& panel, double left, double top) {
    const double width = panel_width(panel);
    const double begin = left + kAxis;
    const double bottom = top + kAbove + kHeight;
    const Scale scale = scale_of(chart, panel);
    svg.box({begin, top + kAbove, width, kHeight}, "quiet square");
    svg.text(begin, top + kAbove - 8, panel.title);
    for (const double tick : scale.ticks) {
      const double y = bottom - kHeight * scale.share(tick);
      svg.line(begin, y, begin + width, y, "guide");
      svg.text(begin - 6, y + 4, tick_label(tick), Svg::Anchor::end, "small");
    }
    double x = begin + kBetween;
    for (const BarCluster& group : panel.groups) {
      for (const Bar& bar : group.bars) draw_bar(bar, x, bottom, scale);
      svg.text(x + (group_width() - kBetween) / 2, bottom + 16, group.label, Svg::Anchor::middle);
      x += group_width();
    }
  }
};

// Where each panel lies: as many side by side as fit.
struct Place {
  double x = 0;
  double y = 0;
};

}  // namespace

std::string bar_label(double value) {
  if (value >= 1e13) return shortest(value);
  for (const auto& [unit, name] : {std::pair{1e9, "G"}, {1e6, "M"}, {1e4, "k"}})
    if (value >= unit) return bar_label(value / (unit == 1e4 ? 1e3 : unit)) + name;
  if (value == 0 || value >= 999.5) return fixed(value, 0);
  if (value < 0.01) return shortest(value);
  return fixed(value, value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2);
}

std::string tick_label(double value) {
  if (value >= 1e13) return shortest(value);
  for (const auto& [unit, name] : {std::pair{1e9, "G"}, {1e6, "M"}, {1e4, "k"}})
    if (value >= unit) return tick_label(value / (unit == 1e4 ? 1e3 : unit)) + name;
  return value >= 1000 ? fixed(value, 0) : shortest(value);
}

std::string bar_chart(const BarChart& chart) {
  Drawing drawing{chart, series_of(chart), Svg(0, 0, "")};
  double width = 480;
  double y = 0;
  double x = kMargin;
  std::vector<Place> places;
  for (const BarPanel& panel : chart.panels) {
    const double wide = kAxis + drawing.panel_width(panel);
    if (x > kMargin && x + wide + kMargin > kMostWidth) {
      x = kMargin;
      y += kAbove + kHeight + kBelow;
    }
    places.push_back({x, y});
    x += wide + kMargin;
    width = std::max(width, x);
  }
  width = std::max(width, 2 * kMargin + 1.3 * kLetter * static_cast<double>(text_width(chart.title)));

  // Title, legend in as many lines as it takes, the axis' label; then the panels.
  std::vector<Place> legend;
  double at = kMargin;
  double top = 52;
  for (const std::string& name : drawing.series) {
    const double wide = 24 + kLetter * static_cast<double>(text_width(name)) + 14;
    if (at > kMargin && at + wide > width) {
      at = kMargin;
      top += 20;
    }
    legend.push_back({at, top});
    at += wide;
  }
  top += 24;
  const double bottom = top + 6 + (chart.panels.empty() ? 0 : y + kAbove + kHeight + kBelow);
  drawing.svg = Svg(width, bottom + (chart.x_label.empty() ? 0 : 14), chart.title);
  Svg& svg = drawing.svg;
  svg.text(kMargin, 28, chart.title, Svg::Anchor::start, "title");
  for (std::size_t i = 0; i < legend.size(); ++i) {
    svg.box({legend[i].x, legend[i].y - 10, 16, 12}, style_of(i) + " square");
    svg.text(legend[i].x + 22, legend[i].y, drawing.series[i]);
  }
  svg.text(kMargin, top, chart.y_label, Svg::Anchor::start, "small");
  for (std::size_t i = 0; i < places.size(); ++i)
    drawing.draw_panel(chart.panels[i], places[i].x, top + places[i].y);
  if (!chart.x_label.empty()) svg.text(width / 2, bottom + 4, chart.x_label, Svg::Anchor::middle, "small");
  return svg.str();
}

}  // namespace nest::report
