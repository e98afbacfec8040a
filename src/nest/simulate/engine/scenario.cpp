#include "nest/simulate/engine/scenario.hpp"

#include <array>
#include <utility>

#include "nest/price/step_groups.hpp"
#include "nest/simulate/traffic/prune.hpp"
#include "nest/simulate/traffic/symmetry.hpp"

namespace nest::simulate {
namespace {

Job fixed_job(Seconds time) {
  Job job;
  if (time.value > 0) job.phases.push_back({.latency_s = time.value});
  return job;
}

class Maker {
 public:
  Maker(const Plan& plan, const PricedPlan& priced, const PlanInputs& inputs, const ScenarioOptions& options)
      : plan_(plan), options_(options) {
    const Parallelism& p = plan.parallelism;
    out_.schedule = p.schedule;
    out_.shape = {p.pipeline, plan.training.micro_batches, p.interleave};
    out_.overlap = inputs.recipe.overlap;
    out_.overlap.pipeline = send_overlap(inputs.recipe.overlap, p.schedule);
    out_.priced = &priced;
    const Prediction& predicted = priced.predicted;
    if (predicted.stragglers.value > 0)
      out_.waiting = predicted.step.value / (predicted.step - predicted.stragglers).value;
    for (std::int64_t i = 0; i < p.pipeline; ++i) {
      out_.orders.push_back(task_order(p.schedule, out_.shape, i));
    }
    if (options.as_priced) out_.overlap.pipeline = 0;
    out_.traffic = std::make_shared<Traffic>(inputs.cluster, inputs.constants());
  }

  Scenario make() {
    if (options_.as_priced) {
      add_workers({{0}});
      for (std::size_t w = 0; w < out_.workers.size(); ++w) add_priced_receives(w);
    } else {
      find_routes();
      add_receives();
    }
    add_collectives();
    number();
    if (options_.contention && !options_.as_priced) share();
    return std::move(out_);
  }

 private:
  // Boundaries in both directions: into stage i from the one before it, and from the one after it; the ends
  // are neighbours where chunks go round.
  struct Boundary {
    std::size_t from;
    std::size_t to;
  };

  [[nodiscard]] std::size_t stages() const { return plan_.stages.size(); }
  [[nodiscard]] std::size_t before(std::size_t i) const { return (i + stages() - 1) % stages(); }
  [[nodiscard]] std::size_t after(std::size_t i) const { return (i + 1) % stages(); }

  void add_workers(const std::vector<std::vector<std::size_t>>& classes) {
    for (const std::vector<std::size_t>& copies : classes) {
      for (std::size_t i = 0; i < stages(); ++i) {
        out_.workers.push_back({static_cast<std::int32_t>(i), static_cast<std::int32_t>(copies.front()),
                                static_cast<std::int32_t>(copies.size())});
      }
    }
    out_.receives.resize(out_.workers.size() * static_cast<std::size_t>(out_.shape.chunks) * 2);
  }

  Job& receive(std::size_t worker, std::size_t chunk, Direction direction) {
    const std::size_t backward = direction == Direction::backward ? 1 : 0;
    return out_.receives[(worker * static_cast<std::size_t>(out_.shape.chunks) + chunk) * 2 + backward];
  }

  void add_priced_receives(std::size_t worker) {
    const StageCost& cost = out_.cost(static_cast<std::size_t>(out_.workers[worker].stage));
    for (std::size_t c = 0; c < cost.chunks.size(); ++c) {
      receive(worker, c, Direction::forward) = fixed_job(cost.chunks[c].forward_receive);
      receive(worker, c, Direction::backward) = fixed_job(cost.chunks[c].backward_receive);
    }
  }

  void find_routes() {
    const std::size_t copies = plan_.stages.front().devices.size();
    const bool wraps = schedule_of(out_.schedule).wraps();
    for (std::size_t i = 0; i < stages() && stages() > 1; ++i) {
      for (const auto& [from, skip] :
           {std::pair{before(i), i == 0}, std::pair{after(i), i + 1 == stages()}}) {
        BoundaryRoutes& boundary = boundaries_.emplace_back(copies);
        if (skip && !wraps) continue;
        for (std::size_t c = 0; c < copies; ++c) {
          boundary[c] = out_.traffic->routes(plan_.stages[from].devices[c], plan_.stages[i].devices[c]);
        }
      }
    }
    if (options_.all_copies) {
      classes_.resize(copies);
      for (std::size_t c = 0; c < copies; ++c) classes_[c] = {c};
    } else {
      classes_ = alike_copies(boundaries_, copies, out_.traffic->links());
    }
    add_workers(classes_);
  }

  // Of the two boundaries of a stage, the one that a chunk's input crosses.
  [[nodiscard]] bool comes_from_after(std::size_t i, std::size_t chunk, bool backward) const {
    const ChunkSource source =
        source_of(out_.schedule, stages(), static_cast<std::size_t>(out_.shape.chunks), {i, chunk}, backward);
    return source == ChunkSource::wrap ? backward : source == ChunkSource::next;
  }

  void add_receives() {
    if (boundaries_.empty()) return;
    // Links that no copy which stands for others uses say nothing new.
    std::vector<bool> matters(out_.traffic->links().size());
    for (const BoundaryRoutes& boundary : boundaries_) {
      for (const std::vector<std::size_t>& copies : classes_) {
        for (const LinkUse& use : boundary[copies.front()].uses) matters[use.link.index()] = true;
      }
    }
    for (std::size_t k = 0; k < classes_.size(); ++k) {
      for (std::size_t i = 0; i < stages(); ++i) {
        const std::vector<ChunkCost>& chunks = out_.cost(i).chunks;
        const std::array<Routes, 2> routes{joint_routes(boundaries_[2 * i], classes_[k], matters),
                                           joint_routes(boundaries_[2 * i + 1], classes_[k], matters)};
        for (const bool backward : {false, true}) {
          for (std::size_t c = 0; c < chunks.size(); ++c) {
            const Bytes bytes = backward ? chunks[c].backward_bytes : chunks[c].forward_bytes;
            if (bytes.value == 0) continue;
            receive(k * stages() + i, c, backward ? Direction::backward : Direction::forward) =
                out_.traffic->send(bytes, routes[comes_from_after(i, c, backward) ? 1 : 0]);
          }
        }
      }
    }
  }

  void add_collectives() {
    for (std::size_t i = 0; i < stages(); ++i) {
      const auto jobs = [&](const std::vector<StepCollective>& list) {
        std::vector<Job> made;
        made.reserve(list.size());
        for (const StepCollective& c : list) {
          made.push_back(options_.as_priced
                             ? fixed_job(c.time)
                             : out_.traffic->collective(c.kind, c.bytes, step_groups(plan_, i, c.group)));
        }
        return made;
      };
      out_.reduces.push_back(jobs(out_.cost(i).reduces));
      out_.gathers.push_back(jobs(out_.cost(i).gathers));
    }
  }

  void number() {
    for (Job& job : out_.receives) job.id = out_.jobs++;
    for (auto* lists : {&out_.reduces, &out_.gathers}) {
      for (std::vector<Job>& jobs : *lists) {
        for (Job& job : jobs) job.id = out_.jobs++;
      }
    }
  }

  void share() {
    std::vector<Exclusive> streams;
    const auto per_worker = static_cast<std::size_t>(out_.shape.chunks) * 2;
    // A receive that overlaps may have a held part of another one beside it.
    const int at_once = out_.overlap.pipeline > 0 && out_.overlap.pipeline < 1 ? 2 : 1;
    for (std::size_t w = 0; w < out_.workers.size(); ++w) {
      Exclusive& stream = streams.emplace_back();
      stream.at_once = at_once;
      for (std::size_t r = w * per_worker; r < (w + 1) * per_worker; ++r)
        stream.jobs.push_back(&out_.receives[r]);
    }
    for (std::size_t i = 0; i < stages(); ++i) {
      Exclusive& stream = streams.emplace_back();
      for (Job& job : out_.reduces[i]) stream.jobs.push_back(&job);
      for (Job& job : out_.gathers[i]) stream.jobs.push_back(&job);
    }
    out_.narrow_links = prune_links(out_.traffic->links(), streams);
  }

  const Plan& plan_;
  ScenarioOptions options_;
  Scenario out_;
  std::vector<BoundaryRoutes> boundaries_;  // 2 * stage: from before; 2 * stage + 1: from after
  std::vector<std::vector<std::size_t>> classes_;
};

}  // namespace

double Scenario::work_s(std::size_t stage, const Task& task) const {
  const ChunkCost& chunk = cost(stage).chunks[static_cast<std::size_t>(task.chunk)];
  if (task.kind == TaskKind::forward) return chunk.forward_work().value;
  if (task.kind == TaskKind::backward_weight) return chunk.backward_weight.value;
  const bool split = schedule_of(schedule).splits_backward && !task.whole;
  return (split ? chunk.backward_work() - chunk.backward_weight : chunk.backward_work()).value;
}

double Scenario::pair_s(std::size_t stage, const Task& forward, const Task& backward) const {
  const std::vector<ChunkCost>& chunks = cost(stage).chunks;
  const Seconds saved = saved_in_pair(chunks[static_cast<std::size_t>(forward.chunk)],
                                      chunks[static_cast<std::size_t>(backward.chunk)]);
  return work_s(stage, forward) + work_s(stage, backward) - saved.value;
}

Bytes Scenario::static_bytes(std::size_t stage) const {
  const StageCost& own = cost(stage);
  return own.memory.total() - own.memory.activations - own.transient;
}

Scenario make_scenario(const Plan& plan, const PricedPlan& priced, const PlanInputs& inputs,
                       const ScenarioOptions& options) {
  return Maker(plan, priced, inputs, options).make();
}

}  // namespace nest::simulate
