#include "nest/report/page/report_timeline.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>
#include <utility>
#include <vector>

namespace nest::report {
namespace {

constexpr double kTicks = 4e6;        // of a step
constexpr std::size_t kOwnKinds = 8;  // those of every timeline
// After them what is no kind: a receive that holds up no pass, and passes beside each other. Kinds of an offloaded
// optimizer come last.
constexpr std::array<const char*, 3> kOthers{"background receive", "forward beside", "backward beside"};

std::int64_t kind_number(const Segment& s) {
  constexpr auto kFirst = std::int64_t{kOwnKinds};
  if (s.kind == SegmentKind::receive && s.stream == Stream::communication) return kFirst;
  if (s.beside != simulate::Beside::nothing) return s.kind == SegmentKind::forward ? kFirst + 1 : kFirst + 2;
  const auto kind = static_cast<std::size_t>(s.kind);
  return static_cast<std::int64_t>(kind < kOwnKinds ? kind : kind + kOthers.size());
}

bool earlier(const Segment& a, const Segment& b) {
  return std::tuple(a.from.value, a.worker, a.stream, a.to.value, a.kind) <
         std::tuple(b.from.value, b.worker, b.stream, b.to.value, b.kind);
}

}  // namespace

Value timeline_value(const Timeline& timeline, std::size_t most) {
  const std::size_t stages = timeline.stages();
  std::vector<Segment> all;
  for (const Segment& s : timeline.segments()) {
    if (static_cast<std::size_t>(s.worker) < stages) all.push_back(s);
  }
  std::sort(all.begin(), all.end(), earlier);
  const double tick = timeline.step().value > 0 ? timeline.step().value / kTicks : 1;

  Value v = Value::object();
  v.set("copy", timeline.workers().front().copy).set("stands_for", timeline.workers().front().stands_for);
  v.set("step_s", timeline.step().value).set("pipeline_s", timeline.pipeline().value);
  v.set("micro_batches", timeline.micro_batches()).set("chunks", timeline.chunks()).set("tick_s", tick);
  Value kinds = Value::array();
  const auto push = [&](std::size_t i) { kinds.push(name_of(static_cast<SegmentKind>(i))); };
  for (std::size_t i = 0; i < kOwnKinds; ++i) push(i);
  for (const char* kind : kOthers) kinds.push(kind);
  for (std::size_t i = kOwnKinds; timeline.offloads() && i < simulate::kSegmentKinds; ++i) push(i);
  v.set("kinds", std::move(kinds));
  Value recomputed = Value::array();
  Value recomputed_s = Value::array();
  for (std::size_t i = 0; i < stages; ++i) {
    Value shares = Value::array();
    Value seconds = Value::array();
    for (std::int32_t c = 0; c < timeline.chunks(); ++c) {
      shares.push(timeline.recomputed_share(i, c));
      seconds.push(timeline.recomputed(i, c).value);
    }
    recomputed.push(std::move(shares));
    recomputed_s.push(std::move(seconds));
  }
  v.set("recomputed", std::move(recomputed)).set("recomputed_s", std::move(recomputed_s));

  if (all.size() > most) {
    const auto first = all.begin() + static_cast<std::ptrdiff_t>(most / 2);
    const auto last = all.end() - static_cast<std::ptrdiff_t>(most / 2);
    Value gap = Value::object();
    gap.set("from_s", first->from.value).set("to_s", last->from.value);
    gap.set("segments", static_cast<std::int64_t>(last - first));
    v.set("left_out", std::move(gap));
    all.erase(first, last);
  }
  std::vector<Value> rows(stages, Value::array());
  for (const Segment& s : all) {
    Value& row = rows[static_cast<std::size_t>(s.worker)];
    const std::int64_t from = std::llround(s.from.value / tick);
    const std::int64_t to = std::llround(s.to.value / tick);
    row.push(kind_number(s)).push(s.task.micro_batch).push(s.task.chunk).push(from).push(to - from);
  }
  Value list = Value::array();
  for (Value& row : rows) list.push(std::move(row));
  v.set("rows", std::move(list));
  return v;
}

}  // namespace nest::report
