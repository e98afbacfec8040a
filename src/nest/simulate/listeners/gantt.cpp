#include "nest/simulate/listeners/gantt.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "nest/base/drawing/svg.hpp"

namespace nest::simulate {
namespace {

constexpr double kTop = 44;
constexpr double kLeft = 64;
constexpr double kRight = 20;
constexpr double kRow = 34;
constexpr double kBox = 22;
constexpr double kThin = 5;
constexpr double kBreak = 26;
constexpr double kSmallestPass = 19;  // in which a number of two digits can be read

struct Look {
  std::string_view style;
  std::string_view words;
};
// By SegmentKind.
constexpr std::array<Look, kSegmentKinds> kLooks{{{"level0", "forward"},
                                                  {"level2", "backward"},
                                                  {"level1", "weight gradients"},
                                                  {"level7", "receive"},
                                                  {"level6", "reduce gradients"},
                                                  {"level5", "gather parameters"},
                                                  {"quiet", "norm"},
                                                  {"level4", "optimizer"},
                                                  {"level6", "copy to the host"},
                                                  {"level4", "update by the host"},
                                                  {"level5", "copy from the host"}}};
constexpr Look kRecompute{"level3", "recompute"};

const Look& look(SegmentKind kind) {
  return kLooks[static_cast<std::size_t>(kind)];
}

// In one unit and with as many digits as tell neighbours at a tick's distance apart: "89.45 s".
std::string tick_label(double time, double tick, double most) {
  struct Unit {
    double size;
    const char* name;
  };
  static constexpr std::array<Unit, 4> kUnits{{{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}}};
  const auto* const unit =
      std::find_if(kUnits.begin(), kUnits.end() - 1, [&](const Unit& u) { return most >= u.size; });
  const int digits = std::max(0, static_cast<int>(std::ceil(-std::log10(tick / unit->size) - 1e-9)));
  return fmt::format("{:.{}f} {}", time / unit->size, digits, unit->name);
}

// A part of the step and where it is drawn.
struct Window {
  double from = 0;
  double to = 0;
  double x = 0;
};

class Chart {
 public:
  Chart(const Timeline& timeline, const GanttOptions& options)
      : timeline_(timeline),
        options_(options),
        svg_(options.width, kTop + kRow * static_cast<double>(timeline.stages()) + 64, options.title) {}

  std::string draw() {
    choose_rows();
    choose_windows();
    svg_.text(kLeft, 24, options_.title, Svg::Anchor::start, "title");
    for (std::size_t i = 0; i < timeline_.stages(); ++i) {
      svg_.text(kLeft - 8, row(i) + 15, fmt::format("stage {}", i), Svg::Anchor::end);
    }
    for (const Segment& s : timeline_.segments()) {
      const auto worker = static_cast<std::size_t>(s.worker);
      if (worker < first_ || worker >= first_ + timeline_.stages()) continue;
      for (const Window& w : windows_) add(s, w);
    }
    for (std::size_t i = 0; i + 1 < windows_.size(); ++i) {
      const double x = windows_[i + 1].x - kBreak / 2;
      svg_.text(x, kTop + kRow * static_cast<double>(timeline_.stages()) / 2, "...", Svg::Anchor::middle);
    }
    for (const Window& w : windows_) axis(w);
    legend();
    return svg_.str();
  }

 private:
  [[nodiscard]] static double row(std::size_t stage) { return kTop + kRow * static_cast<double>(stage); }
  [[nodiscard]] double below() const { return row(timeline_.stages()) + 2; }

  void choose_rows() {
    for (std::size_t w = 0; w < timeline_.workers().size(); w += timeline_.stages()) {
      if (timeline_.workers()[w].copy == options_.copy) first_ = w;
    }
  }

  // Everything where it can be read, else a window of the beginning and one that ends a little after the last
  // pass, all at the same scale.
  void choose_windows() {
    const double room = options_.width - kLeft - kRight;
    const double step = timeline_.step().value;
    std::vector<double> passes;
    for (const Segment& s : timeline_.segments()) {
      if (s.kind == SegmentKind::forward || s.kind == SegmentKind::backward)
        passes.push_back((s.to - s.from).value);
    }
    if (passes.empty() || step <= 0) {
      scale_ = step > 0 ? room / step : 1;
      windows_ = {{0, step, kLeft}};
      return;
    }
    const auto short_one = passes.begin() + static_cast<std::ptrdiff_t>(passes.size() / 4);
    std::nth_element(passes.begin(), short_one, passes.end());
    scale_ = room / step;
    if (*short_one * scale_ >= kSmallestPass) {
      windows_ = {{0, step, kLeft}};
      return;
    }
    scale_ = kSmallestPass / *short_one;
    const double half = (room - kBreak) / 2 / scale_;
    const double end = std::min(step, timeline_.pipeline().value + half / 4);
    windows_ = {{0, half, kLeft}, {end - half, end, kLeft + half * scale_ + kBreak}};
  }

  void add(const Segment& s, const Window& w) {
    const double from = std::max(s.from.value, w.from);
    const double to = std::min(s.to.value, w.to);
    if (to <= from) return;
    const double x = w.x + (from - w.from) * scale_;
    const double width = (to - from) * scale_;
    const std::size_t stage = static_cast<std::size_t>(s.worker) - first_;
    // Both ways of the link to the host lie below each other; the device waits while the host updates.
    const bool below = s.stream == Stream::from_host;
    const bool thin = s.stream == Stream::communication || s.stream == Stream::to_host || below ||
                      s.kind == SegmentKind::receive;
    const double y = row(stage) + (thin ? kBox + (below ? 3 + kThin : 2) : 0);
    seen_[static_cast<std::size_t>(s.kind)] = true;
    // Chunks of one stage are told apart by turns.
    const bool light = s.kind <= SegmentKind::weight && s.task.chunk % 2 == 1;
    light_seen_ = light_seen_ || light;
    const std::string style = std::string(look(s.kind).style) + (light ? " light" : "");
    if (thin) return svg_.box({x, y, width, kThin}, style, tooltip(s));
    // Of two passes beside each other the forward pass has the upper half of the row.
    const bool half = s.beside != Beside::nothing;
    const double height = half ? kBox / 2 : kBox;
    const double top = y + (s.beside == Beside::forward ? height : 0);
    svg_.box({x, top, width, height}, style, tooltip(s));
    double again = 0;
    if (s.kind == SegmentKind::backward) {
      // What is computed again comes first.
      const double until = (s.from + timeline_.recomputed(stage, s.task.chunk)).value;
      again = std::max(0.0, std::min(until, to) - from) * scale_;
      if (again > 0) {
        svg_.box({x, top, again, height}, kRecompute.style, "computed again");
        recompute_seen_ = true;
      }
    }
    if (s.kind > SegmentKind::weight) return;
    const std::string number = std::to_string(s.task.micro_batch);
    if (width - again >= 4 + 7 * static_cast<double>(number.size())) {
      svg_.text(x + (width + again) / 2, top + (half ? 9.75 : 15), number, Svg::Anchor::middle,
                "label inside");
    }
  }

  [[nodiscard]] std::string tooltip(const Segment& s) const {
    std::string out(look(s.kind).words);
    if (s.kind <= SegmentKind::receive) {
      if (s.kind == SegmentKind::receive) {
        out += s.task.kind == TaskKind::forward ? " before the forward pass" : " before the backward pass";
      }
      if (timeline_.chunks() > 1) out += fmt::format(", chunk {}", s.task.chunk);
      out += fmt::format(", micro-batch {}", s.task.micro_batch);
    }
    if (s.beside != Beside::nothing)
      out += s.beside == Beside::forward ? ", beside a forward pass" : ", beside a backward pass";
    return out + ": " + format(s.from) + " to " + format(s.to);
  }

  void axis(const Window& w) {
    const double length = w.to - w.from;
    svg_.line(w.x, below(), w.x + length * scale_, below());
    const double rough = 110 / scale_;
    const double magnitude = std::pow(10, std::floor(std::log10(rough)));
    const double tick = magnitude * (rough / magnitude >= 5 ? 5 : rough / magnitude >= 2 ? 2 : 1);
    for (double t = std::ceil(w.from / tick - 1e-9) * tick; t <= w.to + 1e-12; t += tick) {
      const double x = w.x + (t - w.from) * scale_;
      svg_.line(x, below(), x, below() + 4);
      svg_.text(x, below() + 15, tick_label(std::max(0.0, t), tick, w.to), Svg::Anchor::middle, "small");
    }
  }

  void legend() {
    double x = kLeft;
    const double y = below() + 28;
    const auto entry = [&](const Look& l) {
      svg_.box({x, y, 12, 12}, l.style);
      svg_.text(x + 17, y + 10, l.words);
      x += 36 + 7 * static_cast<double>(l.words.size());
    };
    for (std::size_t k = 0; k < kLooks.size(); ++k) {
      if (seen_[k]) entry(kLooks[k]);
    }
    if (recompute_seen_) entry(kRecompute);
    if (light_seen_) entry({"level0 light", "every second chunk"});
    const std::string step = "step: " + format(timeline_.step());
    const bool fits = x + 7 * static_cast<double>(step.size()) <= options_.width - kRight;
    svg_.text(options_.width - kRight, y + (fits ? 10 : 28), step, Svg::Anchor::end);
  }

  const Timeline& timeline_;
  GanttOptions options_;
  Svg svg_;
  std::size_t first_ = 0;
  double scale_ = 1;
  std::vector<Window> windows_;
  std::array<bool, kLooks.size()> seen_{};
  bool recompute_seen_ = false;
  bool light_seen_ = false;
};

}  // namespace

std::string gantt_svg(const Timeline& timeline, const GanttOptions& options) {
  return Chart(timeline, options).draw();
}

}  // namespace nest::simulate
