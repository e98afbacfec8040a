#include "nest/simulate/engine/engine.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <deque>

#include "nest/plan/schedules/schedule.hpp"
#include "nest/simulate/engine/event_queue.hpp"
#include "nest/simulate/engine/job_runner.hpp"
#include "nest/simulate/engine/step_end.hpp"

namespace nest::simulate {
namespace {

// Times that rounding alone keeps apart are one moment: copies that are alike then share links at once.
constexpr double kSameMoment = 1e-13;

class Engine final : public StepEnd::Host {
 public:
  Engine(const Scenario& scenario, std::span<Listener* const> listeners)
      : scenario_(scenario),
        listeners_(listeners),
        jobs_(scenario.traffic->links(), queue_, kJob),
        end_(scenario, *this),
        states_(scenario.workers.size()) {
    const std::size_t passes = scenario.workers.size() * micro_batches() * chunks();
    for (std::vector<std::uint8_t>* done : {&sent_[0], &sent_[1], &arrived_[0], &arrived_[1]}) {
      done->assign(passes, 0);
    }
    for (std::size_t w = 0; w < states_.size(); ++w) states_[w].stage = w % scenario.stages();
  }

  EngineResult run() {
    for (Listener* l : listeners_) l->begin(scenario_);
    for (std::size_t w = 0; w < states_.size(); ++w) try_start(w);
    while (!queue_.empty()) {
      now_ = queue_.next_time();
      const double moment = now_ * (1 + kSameMoment);
      while (!queue_.empty() && queue_.next_time() <= moment) handle(queue_.pop());
      jobs_.settle(now_);
    }
    assert(end_.over());
    EngineResult out{Seconds{end_.step_s()}, Seconds{end_.pipeline_s()}, tasks_, {}};
    for (std::size_t l = 0; l < scenario_.traffic->links().size(); ++l) {
      out.waited_s.push_back(jobs_.waited_s(LinkId{static_cast<std::int32_t>(l)}));
    }
    for (Listener* l : listeners_) l->end(out.step, out.pipeline);
    return out;
  }

  // For the end of the step.
  [[nodiscard]] double now_s() const override { return now_; }
  void later(double time, std::int32_t subject) override { queue_.push(time, kStepEnd, subject); }
  void run_job(const Job& job, double share, std::int32_t subject) override {
    jobs_.begin(job, share, {kForStepEnd, subject}, now_);
  }
  void tell(const Event& event) override { emit(event); }

 private:
  // Kinds of events in the queue, and of jobs.
  static constexpr std::uint8_t kWork = 0;
  static constexpr std::uint8_t kJob = 1;
  static constexpr std::uint8_t kStepEnd = 2;
  static constexpr std::uint8_t kHeldReceive = 0;
  static constexpr std::uint8_t kHiddenReceive = 1;
  static constexpr std::uint8_t kForStepEnd = 2;

  struct State {
    std::size_t stage = 0;
    std::size_t next = 0;  // in the order
    bool busy = false;
    std::size_t running = 1;           // tasks from there on: two where they run beside each other
    std::size_t receiving = 0;         // of these, whose input the compute stream receives
    std::array<double, 2> from{};      // of their receives
    std::array<double, 2> received{};  // of their receives
    double work_from = 0;
    std::deque<Task> arriving;  // receives on the communication stream; the first one runs
    double arriving_from = 0;
  };

  [[nodiscard]] std::size_t micro_batches() const {
    return static_cast<std::size_t>(scenario_.shape.micro_batches);
  }
  [[nodiscard]] std::size_t chunks() const { return static_cast<std::size_t>(scenario_.shape.chunks); }
  [[nodiscard]] std::size_t pass(std::size_t worker, const Task& t) const {
    return (worker * chunks() + static_cast<std::size_t>(t.chunk)) * micro_batches() +
           static_cast<std::size_t>(t.micro_batch);
  }
  void emit(const Event& event) {
    for (Listener* l : listeners_) l->on(event);
  }

  // The pass before or after this one in the pipeline, and whether there is one.
  struct Neighbour {
    bool exists = false;
    std::size_t worker = 0;
    Task task;
  };
  [[nodiscard]] Neighbour neighbour(std::size_t worker, const Task& task, bool earlier) const {
    const std::size_t stages = scenario_.stages();
    const std::size_t stage = states_[worker].stage;
    const std::size_t first = worker - stage;
    const std::size_t part =
        part_of(scenario_.schedule, stages, {stage, static_cast<std::size_t>(task.chunk)});
    if (earlier ? part == 0 : part + 1 == stages * chunks()) return {};
    const ChunkPlace at = place_of_part(scenario_.schedule, stages, earlier ? part - 1 : part + 1);
    Task other = task;
    other.chunk = static_cast<std::int32_t>(at.chunk);
    return {true, first + at.stage, other};
  }
  // Forward passes wait for the pass before them, backward passes for the one after.
  [[nodiscard]] Neighbour sender_of(std::size_t worker, const Task& task) const {
    if (task.kind == TaskKind::backward_weight) return {};
    return neighbour(worker, task, task.kind == TaskKind::forward);
  }
  [[nodiscard]] const Job& receive_of(std::size_t worker, const Task& task) const {
    return scenario_.receive(worker, static_cast<std::size_t>(task.chunk), task.kind == TaskKind::backward);
  }
  [[nodiscard]] double hidden_share() const { return std::clamp(scenario_.overlap.pipeline, 0.0, 1.0); }

  [[nodiscard]] bool input_is_there(std::size_t worker, const Task& task) const {
    const Neighbour sender = sender_of(worker, task);
    if (!sender.exists) return true;
    const std::size_t direction = task.kind == TaskKind::forward ? 0 : 1;
    return hidden_share() > 0 ? arrived_[direction][pass(worker, task)] != 0
                              : sent_[direction][pass(sender.worker, sender.task)] != 0;
  }

  // The task that a worker is at, or the one that runs beside it.
  [[nodiscard]] const Task& task_at(const State& s, std::size_t which) const {
    return scenario_.orders[s.stage][s.next + which];
  }

  void try_start(std::size_t worker) {
    State& s = states_[worker];
    if (s.busy || s.next == scenario_.orders[s.stage].size()) return;
    s.running = task_at(s, 0).with_next ? 2 : 1;
    for (std::size_t k = 0; k < s.running; ++k) {
      if (!input_is_there(worker, task_at(s, k))) return;
    }
    s.busy = true;
    for (std::size_t k = 0; k < s.running; ++k) {
      emit({.kind = EventKind::task_begin,
            .time = Seconds{now_},
            .worker = static_cast<std::int32_t>(worker),
            .task = task_at(s, k),
            .second = k > 0});
    }
    s.receiving = 0;
    receive_next(worker);
  }

  // Receives what holds the compute stream, one input after the other, then begins to work.
  void receive_next(std::size_t worker) {
    State& s = states_[worker];
    for (; s.receiving < s.running; ++s.receiving) {
      s.from[s.receiving] = s.received[s.receiving] = now_;
      const Task& task = task_at(s, s.receiving);
      if (hidden_share() >= 1 || !sender_of(worker, task).exists || receive_of(worker, task).phases.empty())
        continue;
      jobs_.begin(receive_of(worker, task), 1 - hidden_share(),
                  {kHeldReceive, static_cast<std::int32_t>(worker)}, now_);
      return;
    }
    begin_work(worker);
  }

  void received(std::size_t worker) {
    State& s = states_[worker];
    s.received[s.receiving++] = now_;
    receive_next(worker);
  }

  void begin_work(std::size_t worker) {
    State& s = states_[worker];
    s.work_from = now_;
    const double work = s.running == 2 ? scenario_.pair_s(s.stage, task_at(s, 0), task_at(s, 1))
                                       : scenario_.work_s(s.stage, task_at(s, 0));
    for (std::size_t k = 0; k < s.running; ++k) {
      const Task& task = task_at(s, k);
      if (schedule_of(scenario_.schedule).makes_gradients(task) &&
          task.micro_batch + 1 == scenario_.shape.micro_batches)
        end_.last_pass_begins(worker, static_cast<std::size_t>(task.chunk), work);
    }
    queue_.push(now_ + work, kWork, static_cast<std::int32_t>(worker));
  }

  void finish_tasks(std::size_t worker) {
    State& s = states_[worker];
    const std::size_t first = s.next;
    const std::size_t running = s.running;
    s.next += running;
    for (std::size_t k = 0; k < running; ++k) finish_task(worker, scenario_.orders[s.stage][first + k], k);
    s.busy = false;
    for (std::size_t k = 0; k < running; ++k) pass_on(worker, scenario_.orders[s.stage][first + k]);
    if (s.next == scenario_.orders[s.stage].size()) end_.tasks_done(worker);
    try_start(worker);
  }

  void finish_task(std::size_t worker, const Task& task, std::size_t which) {
    const State& s = states_[worker];
    ++tasks_;
    Event event{.kind = EventKind::task_end,
                .time = Seconds{now_},
                .from = Seconds{s.from[which]},
                .received = Seconds{s.received[which]},
                .work_from = Seconds{s.work_from},
                .worker = static_cast<std::int32_t>(worker),
                .task = task,
                .second = which > 0};
    const Neighbour sender = sender_of(worker, task);
    if (sender.exists) {
      event.sender = static_cast<std::int32_t>(sender.worker);
      event.job = &receive_of(worker, task);
      event.share = 1 - hidden_share();
    }
    emit(event);
  }

  void pass_on(std::size_t worker, const Task& task) {
    if (task.kind == TaskKind::backward_weight) return;
    const std::size_t direction = task.kind == TaskKind::forward ? 0 : 1;
    sent_[direction][pass(worker, task)] = 1;
    const Neighbour receiver = neighbour(worker, task, task.kind == TaskKind::backward);
    if (receiver.exists) send(receiver);
  }

  void send(const Neighbour& receiver) {
    if (hidden_share() <= 0) {
      try_start(receiver.worker);
      return;
    }
    State& s = states_[receiver.worker];
    s.arriving.push_back(receiver.task);
    if (s.arriving.size() == 1) begin_arrival(receiver.worker);
  }

  void begin_arrival(std::size_t worker) {
    State& s = states_[worker];
    s.arriving_from = now_;
    jobs_.begin(receive_of(worker, s.arriving.front()), hidden_share(),
                {kHiddenReceive, static_cast<std::int32_t>(worker)}, now_);
  }

  void arrived(std::size_t worker) {
    State& s = states_[worker];
    const Task task = s.arriving.front();
    s.arriving.pop_front();
    arrived_[task.kind == TaskKind::forward ? 0 : 1][pass(worker, task)] = 1;
    emit({.kind = EventKind::receive_end,
          .time = Seconds{now_},
          .from = Seconds{s.arriving_from},
          .worker = static_cast<std::int32_t>(worker),
          .task = task,
          .sender = static_cast<std::int32_t>(sender_of(worker, task).worker),
          .job = &receive_of(worker, task),
          .share = hidden_share()});
    if (!s.arriving.empty()) begin_arrival(worker);
    try_start(worker);
  }

  void job_done(const JobRunner::Purpose& purpose) {
    switch (purpose.kind) {
      case kHeldReceive:
        received(static_cast<std::size_t>(purpose.subject));
        break;
      case kHiddenReceive:
        arrived(static_cast<std::size_t>(purpose.subject));
        break;
      default:
        end_.job_done(purpose.subject);
    }
  }

  void handle(const Due& due) {
    switch (due.kind) {
      case kWork:
        finish_tasks(static_cast<std::size_t>(due.subject));
        break;
      case kJob:
        if (const auto done = jobs_.advance(due, now_)) job_done(*done);
        break;
      default:
        end_.due(due.subject);
    }
  }

  const Scenario& scenario_;
  std::span<Listener* const> listeners_;
  EventQueue queue_;
  JobRunner jobs_;
  StepEnd end_;
  std::vector<State> states_;
  std::vector<std::uint8_t> sent_[2];     // by direction and pass: its sender is done
  std::vector<std::uint8_t> arrived_[2];  // the same: what runs beside compute has come
  double now_ = 0;
  std::int64_t tasks_ = 0;
};

}  // namespace

EngineResult run_engine(const Scenario& scenario, std::span<Listener* const> listeners) {
  return Engine(scenario, listeners).run();
}

}  // namespace nest::simulate
