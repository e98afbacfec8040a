// A listener that follows each worker's memory: what it always holds, the stashes of passes in flight (from
// the start of the forward pass to the end of the backward pass, of weight gradients where those wait), and
// what a task needs while it runs.
#pragma once

#include <vector>

#include "nest/base/units.hpp"
#include "nest/simulate/engine/listener.hpp"

namespace nest::simulate {

class MemoryUse final : public Listener {
 public:
  // With `keep_steps` every change is kept, for drawings.
  explicit MemoryUse(bool keep_steps = false) : keep_steps_(keep_steps) {}

  void begin(const Scenario& scenario) override;
  void on(const Event& event) override;

  [[nodiscard]] Bytes peak(std::size_t stage) const { return peaks_[stage]; }
  [[nodiscard]] std::size_t stages() const { return peaks_.size(); }
  // Before and after all passes.
  [[nodiscard]] Bytes held_always(std::size_t stage) const { return always_[stage]; }

  struct Step {
    Seconds time;
    std::int32_t worker = 0;
    Bytes bytes;
  };
  [[nodiscard]] const std::vector<Step>& steps() const { return steps_; }

 private:
  bool keep_steps_;
  const PipelineSchedule* schedule_ = nullptr;
  std::vector<std::vector<Bytes>> stash_;  // by stage and chunk
  std::vector<Bytes> transient_;           // by stage
  std::vector<Bytes> held_;                // by worker
  std::vector<Bytes> always_;              // by stage
  std::vector<Bytes> peaks_;               // by stage
  std::vector<Step> steps_;
};

}  // namespace nest::simulate
