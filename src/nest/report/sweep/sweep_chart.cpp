#include "nest/report/sweep/sweep_chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "nest/base/drawing/svg.hpp"
#include "nest/report/answer/bar_chart.hpp"
#include "nest/report/answer/sizing_text.hpp"
#include "nest/report/sweep/sweep_findings.hpp"

namespace nest::report {
namespace {

constexpr double kLeft = 64;
constexpr double kPanelWidth = 520;
constexpr double kWidth = kLeft + kPanelWidth + 30;
constexpr double kPanelHeight = 260;
constexpr double kTop = 56;  // of the first panel, without a legend
constexpr double kGap = 84;  // between panels: their titles and axes
constexpr double kLegendLine = 16;
constexpr double kLetter = 6.6;  // the mean width of one
constexpr std::size_t kColours = 8;
constexpr double kLarge = 6;  // points of the Pareto front
constexpr double kSmall = 4;
constexpr double kApart = 10;  // points that are nearer hide each other
constexpr double kFarthest = 40;

// Where a value of the first axis stands, from 0 to 1: by its size where all are numbers, else in its order.
class Across {
 public:
  explicit Across(const SweepAxis& axis) {
    const auto count = axis.values.size();
    places_.assign(count, 0.5);
    if (count < 2) return;
    if (!is_numeric(axis)) {
      for (std::size_t i = 0; i < count; ++i)
        places_[i] = (static_cast<double>(i) + 0.5) / static_cast<double>(count);
      return;
    }
    std::vector<double> numbers;
    numbers.reserve(axis.values.size());
    for (const std::string& value : axis.values) numbers.push_back(*sweep_number(value));
    const auto [least, most] = std::minmax_element(numbers.begin(), numbers.end());
    const bool log = *least > 0 && *most / *least > 3;
    for (std::size_t i = 0; i < count; ++i) {
      if (log)
        places_[i] = std::log(numbers[i] / *least) / std::log(*most / *least);
      else
        places_[i] = (numbers[i] - *least) / (*most - *least);
    }
  }
  [[nodiscard]] double at(std::size_t value) const { return places_[value]; }

 private:
  std::vector<double> places_;
};

std::size_t values_of(const Sweep& sweep, std::size_t axis) {
  return axis < sweep.axes.size() ? sweep.axes[axis].values.size() : 1;
}

std::string described(const Sweep& sweep, const SweepRow& row) {
  std::string text;
  for (const auto& [field, value] : sweep.at(row.point)) text += fmt::format("{} {}; ", field, value);
  if (!row.has_plan()) return text + row.status + ": " + row.reason;
  text += fmt::format("{} tokens/s, {}", format_count(row.tokens_per_s), row.plan);
  return row.cost ? text + "; a trillion tokens cost " + format_money(*row.cost) : text;
}

// What a panel shows of a row; none where it is not known.
struct Metric {
  const char* title;
  std::optional<double> (*of)(const SweepRow&);
};
constexpr Metric kThroughput{"throughput (tokens/s)", [](const SweepRow& row) {
                               return row.has_plan() ? std::optional(row.tokens_per_s) : std::nullopt;
                             }};
constexpr Metric kCost{"cost of a trillion tokens (in the currency of --price)",
                       [](const SweepRow& row) { return row.cost; }};

// Between guides: 1, 2 or 5 times a power of ten, so that there are three to six of them.
double round_step(double most) {
  const double power = std::pow(10, std::floor(std::log10(most / 3)));
  const double times = most / 3 / power;
  return power * (times < 2 ? 1 : times < 5 ? 2 : 5);
}

// A title with its unit: "cluster.levels.2.bandwidth (GB/s)".
std::string titled(const SweepAxis& axis) {
  const std::string unit = unit_of(axis);
  return axis.field + (unit.empty() ? "" : " (" + unit + ")");
}

// In so many letters.
std::string cut_short(const std::string& text, std::size_t letters) {
  return text.size() > letters ? text.substr(0, letters - 1) + "\u2026" : text;
}

std::string style_of(std::size_t series) {
  return "level" + std::to_string(series % kColours) + (series / kColours % 2 == 0 ? "" : " light");
}

struct LegendItem {
  double radius;
  std::string style;
  std::string text;
};

// Names of the second axis's values, and what the sizes of points mean where there are two.
std::vector<LegendItem> legend_of(const Sweep& sweep, const std::vector<SweepRow>& rows,
                                  const std::set<std::size_t>& front) {
  std::vector<LegendItem> items;
  for (std::size_t s = 0; sweep.axes.size() > 1 && s < values_of(sweep, 1); ++s)
    items.push_back({5, style_of(s), sweep.axes[1].field + " " + sweep.axes[1].values[s]});
  const auto beaten = [&](const SweepRow& row) { return row.has_plan() && !front.contains(row.point); };
  if (std::any_of(rows.begin(), rows.end(), beaten)) {
    items.push_back({kLarge, "quiet", "large: on the Pareto front"});
    items.push_back({kSmall, "quiet", "small: beaten by another point"});
  }
  return items;
}

// As many items on a line as fit; the lines that they take. Without a picture they are only counted.
std::size_t draw_legend(const std::vector<LegendItem>& items, Svg* svg) {
  double at = kLeft;
  std::size_t lines = items.empty() ? 0 : 1;
  for (const LegendItem& item : items) {
    const std::string text = cut_short(item.text, static_cast<std::size_t>((kWidth - kLeft - 26) / kLetter));
    const double wide = 26 + kLetter * static_cast<double>(text.size());
    if (at > kLeft && at + wide > kWidth) {
      at = kLeft;
      ++lines;
    }
    const double height = 24 + kLegendLine * static_cast<double>(lines - 1);
    if (svg != nullptr) {
      svg->dot(at + 5, height, item.radius, item.style);
      svg->text(at + 15, height + 4, text);
    }
    at += wide;
  }
  return lines;
}

struct Chart {
  const Sweep& sweep;
  const std::vector<SweepRow>& rows;
  std::set<std::size_t> front;
  Across across;
  Svg svg;

  [[nodiscard]] double x(std::size_t value) const {
    return kLeft + 16 + (kPanelWidth - 32) * across.at(value);
  }
  [[nodiscard]] static double y(double top, double share) { return top + kPanelHeight * (1 - share / 1.08); }

  void panel(const Metric& metric, std::size_t third, double top) {
    double most = 0;
    for (const SweepRow& row : rows) most = std::max(most, metric.of(row).value_or(0));
    std::string title = metric.title;
    if (sweep.axes.size() > 2)
      title += fmt::format("; {} {}", sweep.axes[2].field, sweep.axes[2].values[third]);
    svg.text(kLeft, top - 8, title);
    svg.box({kLeft, top, kPanelWidth, kPanelHeight}, "quiet square");
    if (most > 0)
      guides(most, top);
    else
      svg.text(kLeft + kPanelWidth / 2, top + kPanelHeight / 2, "no plan fits at any of these points",
               Svg::Anchor::middle);
    const SweepAxis& first = sweep.axes.front();
    ticks(short_values(first), top + kPanelHeight + 14);
    svg.text(kLeft + kPanelWidth / 2, top + kPanelHeight + 34, titled(first), Svg::Anchor::middle);
    std::vector<Place> taken;
    for (std::size_t s = 0; s < values_of(sweep, 1); ++s) series(metric, most, s, third, top, taken);
  }

  void guides(double most, double top) {
    const double step = round_step(most);
    for (int i = 0; i * step <= 1.05 * most; ++i) {
      const double at = y(top, i * step / most);
      svg.line(kLeft, at, kLeft + kPanelWidth, at, "guide");
      svg.text(kLeft - 6, at + 4, tick_label(i * step), Svg::Anchor::end, "small");
    }
  }

  // Labels that would lie over the one before are left out, those of categories cut short.
  void ticks(const std::vector<std::string>& labels, double height) {
    const bool sizes = is_numeric(sweep.axes.front());
    const auto room = static_cast<std::size_t>(kPanelWidth / static_cast<double>(labels.size()) / kLetter);
    std::vector<std::size_t> order(labels.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::sort(order.begin(), order.end(), [&](auto a, auto b) { return across.at(a) < across.at(b); });
    double free_from = 0;
    for (const std::size_t i : order) {
      const std::string label = sizes ? labels[i] : cut_short(labels[i], std::max<std::size_t>(room, 6));
      const double half = kLetter * static_cast<double>(label.size()) / 2;
      if (x(i) - half < free_from) continue;
      svg.text(x(i), height, label, Svg::Anchor::middle, "small");
      free_from = x(i) + half + 4;
    }
  }

  struct Place {
    double x;
    double y;
    std::size_t value;  // of the first axis
  };

  // Beside the points of other series at the same value, so that none hides another; not far, where they are many.
  static Place free_place(Place wanted, std::vector<Place>& taken) {
    const auto hides = [&](double x) {
      return std::any_of(taken.begin(), taken.end(), [&](const Place& other) {
        return other.value == wanted.value && std::abs(other.x - x) < kApart &&
               std::abs(other.y - wanted.y) < kApart;
      });
    };
    double by = 0;
    while (std::abs(by) <= kFarthest && hides(wanted.x + by)) by = by > 0 ? -by : kApart - by;
    if (std::abs(by) <= kFarthest) wanted.x += by;
    taken.push_back(wanted);
    return wanted;
  }

  void series(const Metric& metric, double most, std::size_t second, std::size_t third, double top,
              std::vector<Place>& taken) {
    const std::size_t seconds = values_of(sweep, 1);
    const std::size_t thirds = values_of(sweep, 2);
    std::vector<const SweepRow*> line;
    for (const SweepRow& row : rows) {
      if (row.point % (seconds * thirds) == second * thirds + third) line.push_back(&row);
    }
    const auto value = [&](const SweepRow* row) { return row->point / (seconds * thirds); };
    std::sort(line.begin(), line.end(),
              [&](const auto* a, const auto* b) { return across.at(value(a)) < across.at(value(b)); });
    std::vector<std::optional<Place>> places;
    for (const SweepRow* row : line) {
      const std::optional<double> size = metric.of(*row);
      places.push_back(
          size ? std::optional(free_place({x(value(row)), y(top, *size / most), value(row)}, taken))
               : std::nullopt);
    }
    for (std::size_t i = 1; i < line.size() && is_numeric(sweep.axes.front()); ++i) {
      if (places[i - 1] && places[i])
        svg.line(places[i - 1]->x, places[i - 1]->y, places[i]->x, places[i]->y);
    }
    for (std::size_t i = 0; i < line.size(); ++i) {
      const SweepRow& row = *line[i];
      if (!places[i]) {
        svg.text(x(value(&row)), top + kPanelHeight - 4 - 10 * static_cast<double>(second % 4), "\u00d7",
                 Svg::Anchor::middle);
        continue;
      }
      const bool best = front.contains(row.point);
      svg.dot(places[i]->x, places[i]->y, best ? kLarge : kSmall, style_of(second) + (best ? "" : " light"),
              described(sweep, row) + (best ? "; on the Pareto front" : ""));
    }
  }
};

}  // namespace

std::string sweep_chart(const Sweep& sweep, const std::vector<SweepRow>& rows) {
  std::vector<Metric> metrics{kThroughput};
  if (std::any_of(rows.begin(), rows.end(), [](const SweepRow& row) { return row.cost.has_value(); }))
    metrics.push_back(kCost);
  const std::vector<std::size_t> best = pareto_front(sweep, rows);
  const std::set<std::size_t> front(best.begin(), best.end());
  const std::size_t panels = values_of(sweep, 2);
  const std::vector<LegendItem> legend = legend_of(sweep, rows, front);
  const double top = kTop + kLegendLine * static_cast<double>(draw_legend(legend, nullptr));
  const double height = top + static_cast<double>(panels * metrics.size()) * (kPanelHeight + kGap) - 30;
  Chart chart{sweep, rows, front, Across(sweep.axes.front()),
              Svg(kWidth, height, "tokens/s by " + sweep.axes.front().field)};
  draw_legend(legend, &chart.svg);
  double at = top;
  for (const Metric& metric : metrics) {
    for (std::size_t i = 0; i < panels; ++i) {
      chart.panel(metric, i, at);
      at += kPanelHeight + kGap;
    }
  }
  return chart.svg.str();
}

}  // namespace nest::report
