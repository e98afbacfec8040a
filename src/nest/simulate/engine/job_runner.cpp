#include "nest/simulate/engine/job_runner.hpp"

namespace nest::simulate {
namespace {

std::vector<double> capacities(const LinkTable& links) {
  std::vector<double> out;
  out.reserve(links.size());
  for (std::size_t l = 0; l < links.size(); ++l) {
    out.push_back(links.capacity(LinkId{static_cast<std::int32_t>(l)}).value);
  }
  return out;
}

}  // namespace

JobRunner::JobRunner(const LinkTable& links, EventQueue& queue, std::uint8_t event_kind)
    : queue_(queue), event_kind_(event_kind), share_(capacities(links)) {}

void JobRunner::begin(const Job& job, double share, Purpose purpose, double now) {
  std::size_t id = running_.size();
  if (free_.empty()) {
    running_.emplace_back();
  } else {
    id = free_.back();
    free_.pop_back();
  }
  Running& r = running_[id];
  r = {.job = &job, .share = share, .purpose = purpose, .version = r.version};
  if (job.shares()) {
    begin_phase(id, now);
    return;
  }
  r.phase = job.phases.size();
  queue_.push(now + share * job.alone_s(), event_kind_, static_cast<std::int32_t>(id), ++r.version);
}

void JobRunner::begin_phase(std::size_t id, double now) {
  Running& r = running_[id];
  const JobPhase& phase = r.job->phases[r.phase];
  const bool alone = phase.loads.empty();
  r.transferring = alone;
  const double wait = r.share * (phase.latency_s + (alone ? phase.transfer_s : 0));
  queue_.push(now + wait, event_kind_, static_cast<std::int32_t>(id), ++r.version);
}

std::optional<JobRunner::Purpose> JobRunner::advance(const Due& due, double now) {
  const auto id = static_cast<std::size_t>(due.subject);
  Running& r = running_[id];
  if (r.version != due.version) return std::nullopt;
  const std::size_t phases = r.job->phases.size();
  if (r.phase < phases && !r.transferring) {
    r.transferring = true;
    const JobPhase& phase = r.job->phases[r.phase];
    r.activity = share_.start(phase.loads, r.share * phase.transfer_s, due.subject, now);
    return std::nullopt;
  }
  if (r.activity >= 0) share_.finish(r.activity);
  r.activity = -1;
  if (r.phase + 1 < phases) {
    ++r.phase;
    begin_phase(id, now);
    return std::nullopt;
  }
  ++r.version;
  free_.push_back(id);
  return r.purpose;
}

void JobRunner::settle(double now) {
  share_.settle(now, changes_);
  for (const FairShare::Change& c : changes_) {
    queue_.push(c.end_s, event_kind_, c.tag, ++running_[static_cast<std::size_t>(c.tag)].version);
  }
}

}  // namespace nest::simulate
