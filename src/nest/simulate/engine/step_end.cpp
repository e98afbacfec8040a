#include "nest/simulate/engine/step_end.hpp"

#include <algorithm>
#include <optional>

#include "nest/plan/schedules/schedule.hpp"

namespace nest::simulate {
namespace {

// Subjects of due(): a stage's optimizer, a bucket of a worker, a station of a stage's offloaded optimizer, the norm.
constexpr std::int32_t kNorm = -1;

}  // namespace

StepEnd::StepEnd(const Scenario& scenario, Host& host) : scenario_(scenario), host_(host) {
  for (std::size_t i = 0; i < scenario.stages(); ++i) {
    Stage& stage = stages_.emplace_back();
    stage.ready.resize(classes());
    const bool overlaps = scenario.overlap.gradient_reduce > 0;
    stage.parts = overlaps ? static_cast<std::size_t>(scenario.cost(i).buckets) : 1;
    norm_ = std::max(norm_, scenario.cost(i).norm.value);
    for (std::size_t j = 0; j < scenario.reduces[i].size(); ++j) {
      if (is_tied(i, j)) ++ties_;
    }
  }
  // Kernels beside communication are slower; the longest such delay counts once, as in price.
  double slow_down = 0;
  for (std::size_t i = 0; i < scenario.stages(); ++i) {
    slow_down = std::max(slow_down, scenario.cost(i).slow_down.value);
  }
  norm_ += slow_down;
}

StepCollective::Group StepEnd::group_of(std::size_t stage, std::size_t job) const {
  return scenario_.cost(stage).reduces[job].group;
}

bool StepEnd::is_tied(std::size_t stage, std::size_t job) const {
  return group_of(stage, job) == StepCollective::Group::tied;
}

bool StepEnd::is_late(std::size_t stage, std::size_t job) const {
  return is_tied(stage, job) || group_of(stage, job) == StepCollective::Group::replicated;
}

// Each chunk has its share of the parts; the last chunk's come first.
void StepEnd::last_pass_begins(std::size_t worker, std::size_t chunk, double work_s) {
  const std::size_t i = worker % stages_.size();
  const std::size_t parts = stages_[i].parts;
  const auto chunks = static_cast<std::size_t>(scenario_.shape.chunks);
  const std::size_t first = parts * (chunks - 1 - chunk) / chunks;
  const std::size_t last = parts * (chunks - chunk) / chunks;
  const double share = std::min(1.0, scenario_.overlap.gradient_reduce);
  // All but the very last part, which is ready when all tasks are done.
  for (std::size_t k = first; k < last && k + 1 < parts; ++k) {
    const double left =
        share * work_s * static_cast<double>(last - 1 - k) / static_cast<double>(last - first);
    host_.later(host_.now_s() + work_s - left, static_cast<std::int32_t>(stages_.size() + worker));
  }
}

void StepEnd::tasks_done(std::size_t worker) {
  const std::size_t i = worker % stages_.size();
  Stage& stage = stages_[i];
  stage.ready[worker / stages_.size()] = stage.parts;
  ++stage.workers_done;
  pipeline_ = std::max(pipeline_, host_.now_s());
  reduce(i);
}

void StepEnd::due(std::int32_t subject) {
  if (subject == kNorm) {
    for (std::size_t i = 0; i < stages_.size(); ++i) {
      stages_[i].part = Part::optimizing;
      stages_[i].from = host_.now_s();
      update(i);
    }
    return;
  }
  const auto at = static_cast<std::size_t>(subject);
  if (at < stages_.size()) {
    optimized(at);
    return;
  }
  if (at >= first_station()) {
    worked((at - first_station()) / kHostStations, (at - first_station()) % kHostStations);
    return;
  }
  const std::size_t worker = at - stages_.size();
  Stage& stage = stages_[worker % stages_.size()];
  std::size_t& ready = stage.ready[worker / stages_.size()];
  ready = std::min(ready + 1, stage.parts);
  reduce(worker % stages_.size());
}

// Starts what can be started: the next collective of the current bucket, or of the next one that is ready.
void StepEnd::reduce(std::size_t i) {
  Stage& stage = stages_[i];
  if (stage.part != Part::reducing || stage.running) return;
  const std::vector<Job>& jobs = scenario_.reduces[i];
  const std::size_t ready = *std::min_element(stage.ready.begin(), stage.ready.end());
  while (stage.bucket < ready) {
    while (stage.job < jobs.size() && (jobs[stage.job].phases.empty() || is_late(i, stage.job))) ++stage.job;
    if (stage.job < jobs.size()) {
      stage.running = true;
      stage.from = host_.now_s();
      host_.run_job(jobs[stage.job], 1 / static_cast<double>(stage.parts), static_cast<std::int32_t>(i));
      return;
    }
    stage.job = 0;
    ++stage.bucket;
  }
  if (stage.bucket < stage.parts || stage.workers_done < classes()) return;
  for (std::size_t j = 0; j < jobs.size() && !stage.summed; ++j) {
    if (is_tied(i, j) || !is_late(i, j) || jobs[j].phases.empty()) continue;
    stage.summed = stage.running = true;
    stage.job = j;
    stage.from = host_.now_s();
    host_.run_job(jobs[j], 1, static_cast<std::int32_t>(i));
    return;
  }
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    if (!is_tied(i, j)) continue;
    stage.part = Part::tied;
    stage.job = j;
    ++tied_waiting_;
    tie();
    return;
  }
  reduced(i);
}

// Both ends hold the same sum afterwards: it is one collective, which begins when both are there.
void StepEnd::tie() {
  if (tied_waiting_ < ties_) return;
  bool first = true;
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    Stage& stage = stages_[i];
    if (stage.part != Part::tied) continue;
    stage.from = host_.now_s();
    const Job& job = scenario_.reduces[i][stage.job];
    if (first && !job.phases.empty()) {
      stage.running = true;
      host_.run_job(job, 1, static_cast<std::int32_t>(i));
      first = false;
    }
  }
  if (!first) return;
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    if (stages_[i].part == Part::tied) reduced(i);
  }
}

void StepEnd::job_done(std::int32_t subject) {
  const auto i = static_cast<std::size_t>(subject);
  Stage& stage = stages_[i];
  stage.running = false;
  if (stage.part == Part::tied) {
    for (std::size_t k = 0; k < stages_.size(); ++k) {
      if (stages_[k].part != Part::tied) continue;
      // The bytes are counted once, with the stage whose job ran.
      const Seconds from{stages_[k].from};
      tell(k, {.kind = EventKind::reduce_end,
               .from = from,
               .work_from = from,
               .job = k == i ? &scenario_.reduces[k][stages_[k].job] : nullptr,
               .collective = &scenario_.cost(k).reduces[stages_[k].job]});
      reduced(k);
    }
    return;
  }
  const Seconds from{stage.from};
  if (stage.part == Part::reducing) {
    tell(i, {.kind = EventKind::reduce_end,
             .from = from,
             .work_from = from,
             .job = &scenario_.reduces[i][stage.job],
             .share = stage.summed ? 1 : 1 / static_cast<double>(stage.parts),
             .collective = &scenario_.cost(i).reduces[stage.job]});
    ++stage.job;
    reduce(i);
    return;
  }
  tell(i, {.kind = EventKind::gather_end,
           .from = from,
           .work_from = from,
           .job = &scenario_.gathers[i][stage.job],
           .collective = &scenario_.cost(i).gathers[stage.job]});
  ++stage.job;
  gather(i);
}

void StepEnd::reduced(std::size_t i) {
  stages_[i].part = Part::waiting;
  if (++reduced_ == stages_.size()) host_.later(host_.now_s() + norm_, kNorm);
}

void StepEnd::update(std::size_t i) {
  const StageCost& cost = scenario_.cost(i);
  if (cost.offload && cost.optimizer > cost.offload->zeroing) {
    work(i, 0);
  } else {
    host_.later(host_.now_s() + cost.optimizer.value, static_cast<std::int32_t>(i));
  }
}

void StepEnd::work(std::size_t i, std::size_t station) {
  const HostUpdate& offload = *scenario_.cost(i).offload;
  const std::int64_t buckets = scenario_.cost(i).buckets;
  Station& own = stages_[i].stations[station];
  const std::int64_t there = station == 0 ? buckets : stages_[i].stations[station - 1].done;
  if (own.busy || own.done >= there) return;
  own.busy = true;
  own.from = host_.now_s();
  const std::array<Seconds, kHostStations> times{offload.out, offload.update, offload.back};
  host_.later(own.from + times[station].value / static_cast<double>(buckets),
              static_cast<std::int32_t>(first_station() + i * kHostStations + station));
}

void StepEnd::worked(std::size_t i, std::size_t station) {
  Station& own = stages_[i].stations[station];
  own.busy = false;
  ++own.done;
  const Seconds from{own.from};
  tell(i, {.kind = EventKind::host_end,
           .from = from,
           .work_from = from,
           .station = static_cast<HostStation>(station)});
  work(i, station);
  if (station + 1 < kHostStations) {
    work(i, station + 1);
  } else if (own.done == scenario_.cost(i).buckets) {
    host_.later(host_.now_s() + scenario_.cost(i).offload->zeroing.value, static_cast<std::int32_t>(i));
  }
}

void StepEnd::optimized(std::size_t i) {
  Stage& stage = stages_[i];
  const double now = host_.now_s();
  // Of an offloaded one only what the device itself does.
  const std::optional<HostUpdate>& offload = scenario_.cost(i).offload;
  const double work_from = offload ? now - offload->zeroing.value : stage.from;
  tell(i, {.kind = EventKind::optimizer_end,
           .from = Seconds{stage.from - norm_},
           .received = Seconds{stage.from},
           .work_from = Seconds{work_from}});
  stage.optimizer_end = now;
  stage.part = Part::gathering;
  stage.job = 0;
  gather(i);
}

void StepEnd::gather(std::size_t i) {
  Stage& stage = stages_[i];
  const std::vector<Job>& jobs = scenario_.gathers[i];
  while (stage.job < jobs.size() && jobs[stage.job].phases.empty()) ++stage.job;
  if (stage.job < jobs.size()) {
    stage.from = host_.now_s();
    host_.run_job(jobs[stage.job], 1, static_cast<std::int32_t>(i));
    return;
  }
  finish(i);
}

// The stage's own first forward passes hide all but the first part of the gathering (a round of passes lies
// between those of its chunks), and before that the forward passes of earlier stages pass by.
void StepEnd::finish(std::size_t i) {
  Stage& stage = stages_[i];
  const double gather = host_.now_s() - stage.optimizer_end;
  const double share = scenario_.overlap.parameter_gather;
  const auto n = static_cast<double>(scenario_.cost(i).buckets);
  const auto rounds = static_cast<double>(passes_between_chunks(scenario_.schedule, scenario_.shape));
  const double forward = (1 + rounds) * scenario_.cost(i).chunks.front().forward_work().value;
  const double hidden =
      share <= 0 ? 0 : std::min({share * gather, share * forward * (n - 1) / n, gather * (n - 1) / n});
  double before = 0;
  for (std::size_t k = 0; k < i; ++k) before += scenario_.cost(k).chunks.front().f().value;
  step_ = std::max(step_, stage.optimizer_end + std::max(0.0, gather - hidden - before));
  stage.part = Part::over;
  ++stages_over_;
}

void StepEnd::tell(std::size_t stage, Event event) {
  event.time = Seconds{host_.now_s()};
  for (std::size_t k = 0; k < classes(); ++k) {
    event.worker = static_cast<std::int32_t>(k * stages_.size() + stage);
    host_.tell(event);
    event.job = nullptr;  // bytes are counted once, with the first worker of the stage
  }
}

}  // namespace nest::simulate
