#include "nest/simulate/listeners/timeline.hpp"

#include <algorithm>
#include <array>

namespace nest::simulate {
namespace {

constexpr std::array<std::string_view, kSegmentKinds> kKinds{
    "forward", "backward",  "weight",  "receive",     "reduce",   "gather",
    "norm",    "optimizer", "to host", "host update", "from host"};
struct Station {
  SegmentKind kind;
  Stream stream;
};
// By HostStation.
constexpr std::array<Station, kHostStations> kStations{{{SegmentKind::to_host, Stream::to_host},
                                                        {SegmentKind::host_update, Stream::host},
                                                        {SegmentKind::from_host, Stream::from_host}}};

}  // namespace

std::string_view name_of(SegmentKind kind) {
  return kKinds[static_cast<std::size_t>(kind)];
}

void Timeline::begin(const Scenario& scenario) {
  segments_.clear();
  workers_ = scenario.workers;
  stages_ = scenario.stages();
  micro_batches_ = scenario.shape.micro_batches;
  chunks_ = scenario.shape.chunks;
  schedule_ = scenario.schedule;
  offloads_ = false;
  recomputed_.clear();
  recomputed_share_.clear();
  copied_.clear();
  for (std::size_t i = 0; i < stages_; ++i) {
    for (std::int32_t c = 0; c < chunks_; ++c) {
      const double work = scenario.work_s(i, {TaskKind::backward, c, 0});
      const Seconds again = scenario.cost(i).chunks[static_cast<std::size_t>(c)].recompute;
      recomputed_.push_back(again);
      copied_.push_back(scenario.cost(i).chunks[static_cast<std::size_t>(c)].host_copy);
      recomputed_share_.push_back(work > 0 ? again.value / work : 0);
    }
  }
}

void Timeline::add(const Event& event, SegmentKind kind, Stream stream, Seconds from, Seconds to) {
  const bool pass = kind == SegmentKind::forward || kind == SegmentKind::backward;
  const Beside beside = !pass                  ? Beside::nothing
                        : event.second         ? Beside::forward
                        : event.task.with_next ? Beside::backward
                                               : Beside::nothing;
  if (to > from)
    segments_.push_back({from, to, event.worker, stream, kind, event.task, event.sender, beside});
}

// What a forward pass keeps goes to the host beside it, and comes back beside the backward pass.
void Timeline::add_copy(const Event& event, SegmentKind pass) {
  const auto stage = static_cast<std::size_t>(workers_[static_cast<std::size_t>(event.worker)].stage);
  const Seconds copy = copied_[at(stage, event.task.chunk)];
  if (copy.value <= 0 || pass == SegmentKind::weight) return;
  const Station& way = kStations[pass == SegmentKind::forward ? 0 : kHostStations - 1];
  add(event, way.kind, way.stream, event.work_from, std::min(event.time, event.work_from + copy));
  offloads_ = true;
}

void Timeline::on(const Event& event) {
  switch (event.kind) {
    case EventKind::task_begin:
      break;
    case EventKind::task_end: {
      add(event, SegmentKind::receive, Stream::compute, event.from, event.received);
      const SegmentKind kind = event.task.kind == TaskKind::forward    ? SegmentKind::forward
                               : event.task.kind == TaskKind::backward ? SegmentKind::backward
                                                                       : SegmentKind::weight;
      add(event, kind, Stream::compute, event.work_from, event.time);
      add_copy(event, kind);
      break;
    }
    case EventKind::receive_end:
      add(event, SegmentKind::receive, Stream::communication, event.from, event.time);
      break;
    case EventKind::reduce_end:
      add(event, SegmentKind::reduce, Stream::communication, event.from, event.time);
      break;
    case EventKind::gather_end:
      add(event, SegmentKind::gather, Stream::communication, event.from, event.time);
      break;
    case EventKind::host_end: {
      const Station& at = kStations[static_cast<std::size_t>(event.station)];
      add(event, at.kind, at.stream, event.from, event.time);
      offloads_ = true;
      break;
    }
    case EventKind::optimizer_end:
      add(event, SegmentKind::norm, Stream::compute, event.from, event.received);
      add(event, SegmentKind::optimizer, Stream::compute, event.work_from, event.time);
      break;
  }
}

void Timeline::end(Seconds step, Seconds pipeline) {
  step_ = step;
  pipeline_ = pipeline;
}

}  // namespace nest::simulate
