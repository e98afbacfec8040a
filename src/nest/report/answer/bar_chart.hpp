// Grouped bars: one panel for each model (or whatever is compared), in it one group for each size, in it one
// bar for each series. A bar without a value is a mark (a cross for what does not fit) in its place.
//
//   BarChart chart{.title = "Throughput", .y_label = "relative to manual"};
//   chart.panels = {{"bert-large", {{"64", {{"manual", 1.0}, {"nest", 1.35, "", "nest: 1.35"}}}}}};
//   write_file("figure5.svg", bar_chart(chart));
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "nest/base/rooms.hpp"

namespace nest::report {

struct Bar {
  std::string series;           // its colour, and a word of the legend
  std::optional<double> value;  // none, below 0 or not finite: the mark is shown
  std::string mark;             // a character or two; empty: a cross
  std::string tooltip;          // empty: series and value
};

struct BarCluster {
  std::string label;
  std::vector<Bar> bars;
};

struct BarPanel {
  std::string title;
  std::vector<BarCluster> groups;
};

struct BarChart {
  std::string title;
  std::string y_label;
  std::string x_label;  // what the groups are; empty: nothing is written
  std::vector<BarPanel> panels;
  bool log_axis = false;  // values of 0 are marks then
};

// Series have the order in which they first come, the same place in every group, and the same colour in every
// panel. Every panel has an axis of its own. One self-contained SVG picture for light and dark pages.
[[nodiscard]] std::string bar_chart(const BarChart& chart);

// Three digits as a label over a bar: 0.55, 10.8, 129, 12.3k.
[[nodiscard]] std::string bar_label(double value);

// What a guide of an axis says: 0.5, 20, 5000, 400k, 1.5M.
[[nodiscard]] std::string tick_label(double value);

}  // namespace nest::report
