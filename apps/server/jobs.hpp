// Searches under way. A session has one: a new request cancels the former and takes its place, so that
// whoever drags a slider never waits for answers that nobody wants. Few run at once, none for long.
//
//   Jobs jobs(limits);
//   const Ticket ticket = jobs.begin("tab-1", Seconds{20});   // cancels what "tab-1" still runs
//   options.deadline = ticket.deadline();
#pragma once

#include <condition_variable>
#include <cstddef>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "limits.hpp"

#include "nest/base/deadline.hpp"
#include "nest/base/rooms.hpp"

namespace nest::server {

enum class StopReason { none, superseded, time, shut_down };

class Jobs;

// A place among those that run; given back when it goes.
class Ticket {
 public:
  Ticket(Ticket&&) noexcept;
  Ticket& operator=(Ticket&&) = delete;
  ~Ticket();

  // That all work for the request looks at.
  [[nodiscard]] const Deadline& deadline() const;
  [[nodiscard]] StopReason reason() const;
  // Throws an ApiError where nobody wants the answer any more.
  void check() const;
  void cancel();  // by its own holder: the client has gone

 private:
  friend class Jobs;
  struct State;
  Ticket(Jobs* jobs, std::shared_ptr<State> state);

  Jobs* jobs_;
  std::shared_ptr<State> state_;
};

class Jobs {
 public:
  explicit Jobs(const Limits& limits);
  ~Jobs();
  Jobs(const Jobs&) = delete;
  Jobs& operator=(const Jobs&) = delete;

  // Waits until the session's former job has ended and there is a place. ApiErrors: 409 where a newer request
  // of the session came meanwhile, 429 where too many wait or none ended in time. An empty session has no
  // former job. Its deadline is `limit` after it has begun.
  [[nodiscard]] Ticket begin(const std::string& session, Seconds limit);
  // Whether there was one.
  bool cancel(const std::string& session);
  // Cancels all; whatever begins later is refused.
  void shut_down();
  [[nodiscard]] std::size_t running() const;

 private:
  friend class Ticket;
  using State = Ticket::State;

  void stop(State& state, StopReason reason);
  void end(const std::shared_ptr<State>& state);

  Limits limits_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, std::shared_ptr<State>> sessions_;  // the newest of each
  std::list<std::shared_ptr<State>> running_;
  std::size_t waiting_ = 0;
  bool shut_ = false;
};

}  // namespace nest::server
