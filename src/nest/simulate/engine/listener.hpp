// What the engine tells while it runs. Every report (timeline, memory, links, trace) is a listener; the
// engine itself keeps nothing of what it said.
//
//   task_end at 12.5 ms: worker 3, forward pass of micro-batch 7, begun 10.0, at work since 10.5 (received)
#pragma once

#include <cstdint>
#include <optional>

#include "nest/base/units.hpp"
#include "nest/plan/schedules/schedule.hpp"
#include "nest/simulate/engine/scenario.hpp"

namespace nest::simulate {

enum class EventKind : std::uint8_t {
  task_begin,   // the compute stream is taken: by the task, or by a receive that it waits for
  task_end,     // `work_from`: when all that it waits for was there
  receive_end,  // a receive on the communication stream
  reduce_end,   // a part of a collective of the stage; every worker of the stage hears it
  gather_end,
  host_end,       // a bucket of an offloaded optimizer at one of its stations
  optimizer_end,  // `work_from`: when the norm was known
};

// Where a bucket of an offloaded optimizer is worked on: gradients go out, the host updates, weights come back.
enum class HostStation : std::uint8_t { out, update, back };
inline constexpr std::size_t kHostStations = 3;

struct Event {
  EventKind kind = EventKind::task_begin;
  Seconds time;
  Seconds from;
  Seconds received;  // of tasks: when the compute stream had received its own input
  Seconds work_from;
  std::int32_t worker = 0;
  Task task;                           // of tasks and receives
  bool second = false;                 // the task runs beside the one that was told before it
  std::optional<std::int32_t> sender;  // the worker that a receive comes from
  const Job* job = nullptr;            // what the network did for it
  double share = 1;                    // of the job
  const StepCollective* collective = nullptr;
  HostStation station = HostStation::out;  // of host_end
};

class Listener {
 public:
  Listener() = default;
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  virtual ~Listener() = default;

  // The scenario outlives the run, not the listener.
  virtual void begin(const Scenario& scenario) { static_cast<void>(scenario); }
  virtual void on(const Event& event) = 0;
  // `pipeline` is when the last pass ended.
  virtual void end(Seconds step, Seconds pipeline) {
    static_cast<void>(step);
    static_cast<void>(pipeline);
  }
};

}  // namespace nest::simulate
