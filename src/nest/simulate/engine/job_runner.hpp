// Jobs under way: each waits for its latencies and shares links while it transfers, phase by phase. Jobs that
// share no link take one event.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "nest/simulate/engine/event_queue.hpp"
#include "nest/simulate/traffic/fair_share.hpp"
#include "nest/simulate/traffic/traffic.hpp"

namespace nest::simulate {

class JobRunner {
 public:
  // Its events have this kind in the queue, which outlives it.
  JobRunner(const LinkTable& links, EventQueue& queue, std::uint8_t event_kind);

  // What a job is for, as the caller numbers it.
  struct Purpose {
    std::uint8_t kind = 0;
    std::int32_t subject = 0;
  };
  // Runs a share of the job, which outlives it.
  void begin(const Job& job, double share, Purpose purpose, double now);
  // Takes an event of its kind; the purpose where that ends a job.
  [[nodiscard]] std::optional<Purpose> advance(const Due& due, double now);
  // After all events of one moment.
  void settle(double now);

  [[nodiscard]] double waited_s(LinkId link) const { return share_.waited_s(link); }

 private:
  struct Running {
    const Job* job = nullptr;
    double share = 1;
    Purpose purpose;
    std::size_t phase = 0;
    std::int32_t activity = -1;  // in share_, while it transfers
    std::uint32_t version = 0;   // events of earlier versions are void
    bool transferring = false;
  };

  void begin_phase(std::size_t id, double now);

  EventQueue& queue_;
  std::uint8_t event_kind_;
  FairShare share_;
  std::vector<Running> running_;
  std::vector<std::size_t> free_;
  std::vector<FairShare::Change> changes_;
};

}  // namespace nest::simulate
