#include "nest/simulate/listeners/memory_use.hpp"

#include <algorithm>

namespace nest::simulate {

void MemoryUse::begin(const Scenario& scenario) {
  schedule_ = &schedule_of(scenario.schedule);
  stash_.assign(scenario.stages(), {});
  transient_.clear();
  peaks_.clear();
  held_.clear();
  steps_.clear();
  for (std::size_t i = 0; i < scenario.stages(); ++i) {
    for (const ChunkCost& chunk : scenario.cost(i).chunks) stash_[i].push_back(chunk.stash);
    transient_.push_back(scenario.cost(i).transient);
    peaks_.push_back(scenario.static_bytes(i));
  }
  always_ = peaks_;
  for (const Worker& w : scenario.workers) held_.push_back(peaks_[static_cast<std::size_t>(w.stage)]);
}

void MemoryUse::on(const Event& event) {
  if (event.kind != EventKind::task_begin && event.kind != EventKind::task_end) return;
  const auto worker = static_cast<std::size_t>(event.worker);
  const std::size_t stage = worker % peaks_.size();
  Bytes& held = held_[worker];
  const Bytes stash = stash_[stage][static_cast<std::size_t>(event.task.chunk)];
  if (event.kind == EventKind::task_begin) {
    if (event.task.kind == TaskKind::forward) held += stash;
    // What two tasks need while they run beside each other is counted with the first.
    if (!event.second) held += transient_[stage];
    peaks_[stage] = std::max(peaks_[stage], held);
  } else {
    if (!event.second) held -= transient_[stage];
    if (schedule_->makes_gradients(event.task)) held -= stash;
  }
  if (keep_steps_) steps_.push_back({event.time, event.worker, held});
}

}  // namespace nest::simulate
