// The end of a step: gradients are reduced part by part as each chunk's last backward pass makes them ready,
// copies of tied weights are summed when both ends have theirs, then come the norm over all stages, the
// optimizer, and the gathering of parameters, which may run on into the next step (docs/design.md, "End of
// the step").
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "nest/simulate/engine/listener.hpp"
#include "nest/simulate/engine/scenario.hpp"

namespace nest::simulate {

class StepEnd {
 public:
  // What it needs of the engine.
  class Host {
   public:
    Host() = default;
    Host(const Host&) = delete;
    Host& operator=(const Host&) = delete;
    virtual ~Host() = default;
    [[nodiscard]] virtual double now_s() const = 0;
    virtual void later(double time, std::int32_t subject) = 0;                     // calls due(subject) then
    virtual void run_job(const Job& job, double share, std::int32_t subject) = 0;  // calls job_done(subject)
    virtual void tell(const Event& event) = 0;
  };

  StepEnd(const Scenario& scenario, Host& host);

  // The pass that completes a chunk's gradients works from now on for so long.
  void last_pass_begins(std::size_t worker, std::size_t chunk, double work_s);
  void tasks_done(std::size_t worker);
  void due(std::int32_t subject);
  void job_done(std::int32_t stage);

  [[nodiscard]] bool over() const { return stages_over_ == stages_.size(); }
  [[nodiscard]] double step_s() const { return scenario_.waiting * step_; }
  [[nodiscard]] double pipeline_s() const { return pipeline_; }

 private:
  enum class Part : std::uint8_t { reducing, tied, waiting, optimizing, gathering, over };
  // What one station of an offloaded optimizer does: a bucket after the other, each as soon as the one before has it.
  struct Station {
    std::int64_t done = 0;
    bool busy = false;
    double from = 0;
  };
  struct Stage {
    Part part = Part::reducing;
    std::vector<std::size_t> ready;  // by class: parts of the gradients
    std::size_t workers_done = 0;
    std::size_t parts = 1;   // in which gradients come
    std::size_t bucket = 0;  // being reduced, or next
    std::size_t job = 0;     // of the bucket
    bool running = false;
    bool summed = false;  // what waits for the rest to be reduced, but for tied weights
    double from = 0;
    double optimizer_end = 0;
    std::array<Station, kHostStations> stations{};
  };

  [[nodiscard]] std::size_t classes() const { return scenario_.classes(); }
  [[nodiscard]] StepCollective::Group group_of(std::size_t stage, std::size_t job) const;
  [[nodiscard]] bool is_tied(std::size_t stage, std::size_t job) const;
  // Nothing hides it: it waits until everything else is reduced.
  [[nodiscard]] bool is_late(std::size_t stage, std::size_t job) const;
  void reduce(std::size_t stage);
  void tie();
  void reduced(std::size_t stage);
  void update(std::size_t stage);
  // Begins the next bucket where it is there.
  void work(std::size_t stage, std::size_t station);
  void worked(std::size_t stage, std::size_t station);
  [[nodiscard]] std::size_t first_station() const { return stages_.size() * (1 + classes()); }
  void optimized(std::size_t stage);
  void gather(std::size_t stage);
  void finish(std::size_t stage);
  // Every worker of the stage hears the event, now.
  void tell(std::size_t stage, Event event);

  const Scenario& scenario_;
  Host& host_;
  std::vector<Stage> stages_;
  std::size_t reduced_ = 0;
  std::size_t ties_ = 0;  // stages that hold copies of tied weights
  std::size_t tied_waiting_ = 0;
  std::size_t stages_over_ = 0;
  double norm_ = 0;
  double step_ = 0;
  double pipeline_ = 0;
};

}  // namespace nest::simulate
