#include "nest/report/page/report_memory.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace nest::report {
namespace {

constexpr double kTicks = 4e6;  // of a step
constexpr std::int64_t kUnit = 1 << 20;

struct Point {
  std::int64_t tick = 0;
  std::int64_t units = 0;
};

std::vector<Point> points_of(const std::vector<MemoryUse::Step>& steps, std::size_t worker, double tick) {
  std::vector<Point> out;
  for (const MemoryUse::Step& s : steps) {
    if (static_cast<std::size_t>(s.worker) != worker) continue;
    const Point next{std::llround(s.time.value / tick), (s.bytes.value + kUnit / 2) / kUnit};
    if (!out.empty() && out.back().units == next.units) continue;
    out.push_back(next);
  }
  return out;
}

std::vector<Point> most_of_pieces(const std::vector<Point>& points, std::size_t pieces) {
  std::vector<Point> out;
  const double length = kTicks / static_cast<double>(pieces);
  std::size_t next = 0;
  std::int64_t held = points.front().units;
  for (std::size_t i = 0; i < pieces; ++i) {
    const auto from = static_cast<std::int64_t>(length * static_cast<double>(i));
    const auto to = static_cast<std::int64_t>(length * static_cast<double>(i + 1));
    std::int64_t most = held;
    for (; next < points.size() && points[next].tick < to; ++next) {
      held = points[next].units;
      most = std::max(most, held);
    }
    if (out.empty() || out.back().units != most) out.push_back({from, most});
  }
  if (next < points.size()) out.push_back({static_cast<std::int64_t>(kTicks), points.back().units});
  return out;
}

}  // namespace

Value memory_value(const MemoryUse& memory, Seconds step, std::size_t most_points) {
  const double tick = step.value > 0 ? step.value / kTicks : 1;
  Value rows = Value::array();
  bool pieces = false;
  for (std::size_t stage = 0; stage < memory.stages(); ++stage) {
    std::vector<Point> points = points_of(memory.steps(), stage, tick);
    points.insert(points.begin(), {0, (memory.held_always(stage).value + kUnit / 2) / kUnit});
    if (points.size() > most_points) {
      points = most_of_pieces(points, most_points);
      pieces = true;
    }
    Value row = Value::array();
    for (const Point& p : points) row.push(p.tick).push(p.units);
    rows.push(std::move(row));
  }
  Value v = Value::object();
  v.set("step_s", step.value).set("tick_s", tick).set("unit_bytes", kUnit);
  if (pieces) v.set("pieces", true);
  v.set("rows", std::move(rows));
  return v;
}

}  // namespace nest::report
