#include "jobs.hpp"

#include <atomic>
#include <chrono>
#include <utility>

#include "api_error.hpp"

namespace nest::server {

struct Ticket::State {
  std::string session;
  Deadline deadline;
  std::atomic<StopReason> reason = StopReason::none;
  std::atomic<bool> ended = false;
};

Ticket::Ticket(Jobs* jobs, std::shared_ptr<State> state) : jobs_(jobs), state_(std::move(state)) {}
Ticket::Ticket(Ticket&&) noexcept = default;
Ticket::~Ticket() {
  if (state_) jobs_->end(state_);
}

const Deadline& Ticket::deadline() const {
  return state_->deadline;
}

StopReason Ticket::reason() const {
  const StopReason reason = state_->reason;
  return reason == StopReason::none && state_->deadline.over() ? StopReason::time : reason;
}

void Ticket::check() const {
  if (reason() == StopReason::superseded)
    throw ApiError(409, "session", "cancelled: a newer request of this session took its place");
  if (reason() == StopReason::shut_down) throw ApiError(503, "", "the server is shutting down");
}

void Ticket::cancel() {
  jobs_->stop(*state_, StopReason::superseded);
}

Jobs::Jobs(const Limits& limits) : limits_(limits) {}

Jobs::~Jobs() {
  shut_down();
}

void Jobs::stop(State& state, StopReason reason) {
  StopReason none = StopReason::none;
  state.reason.compare_exchange_strong(none, reason);
  state.deadline.cancel();
}

void Jobs::end(const std::shared_ptr<State>& state) {
  const std::lock_guard lock(mutex_);
  state->ended = true;
  running_.remove(state);
  const auto it = sessions_.find(state->session);
  if (it != sessions_.end() && it->second == state) sessions_.erase(it);
  changed_.notify_all();
}

Ticket Jobs::begin(const std::string& session, Seconds limit) {
  std::unique_lock lock(mutex_);
  const auto state = std::make_shared<State>();
  state->session = session;
  std::shared_ptr<State> former;
  if (shut_) throw ApiError(503, "", "the server is shutting down");
  if (!session.empty()) {
    std::shared_ptr<State>& newest = sessions_[session];
    former = std::exchange(newest, state);
    if (former) stop(*former, StopReason::superseded);
    changed_.notify_all();
  }
  // From here on `ticket` gives everything back, whatever is thrown.
  lock.unlock();
  Ticket ticket(this, state);
  lock.lock();
  if (waiting_ >= limits_.waiting) {
    lock.unlock();
    throw ApiError(429, "", "too many requests wait already", "try again in a few seconds");
  }
  ++waiting_;
  const auto ready = [&] {
    return state->deadline.cancelled() || shut_ ||
           (running_.size() < limits_.jobs && (!former || former->ended));
  };
  const bool in_time = changed_.wait_for(lock, std::chrono::duration<double>(limits_.wait.value), ready);
  --waiting_;
  if (in_time && !state->deadline.cancelled() && !shut_) {
    state->deadline.begin(limit);
    running_.push_back(state);
    changed_.notify_all();
    return ticket;
  }
  if (shut_) stop(*state, StopReason::shut_down);
  lock.unlock();
  ticket.check();
  throw ApiError(429, "", "all places are taken by other searches", "try again in a few seconds");
}

bool Jobs::cancel(const std::string& session) {
  const std::lock_guard lock(mutex_);
  const auto it = sessions_.find(session);
  if (it == sessions_.end()) return false;
  stop(*it->second, StopReason::superseded);
  changed_.notify_all();
  return true;
}

void Jobs::shut_down() {
  const std::lock_guard lock(mutex_);
  shut_ = true;
  for (const auto& state : running_) stop(*state, StopReason::shut_down);
  changed_.notify_all();
}

std::size_t Jobs::running() const {
  const std::lock_guard lock(mutex_);
  return running_.size();
}

}  // namespace nest::server
