#include "nest/simulate/simulate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "nest/base/error.hpp"
#include "nest/base/numbers.hpp"
#include "nest/simulate/engine/engine.hpp"
#include "nest/simulate/listeners/memory_use.hpp"

namespace nest::simulate {
namespace {

// Seconds of passes and of held receives, by stage, of the worker that has most.
class Busy final : public Listener {
 public:
  void begin(const Scenario& scenario) override {
    stages_ = scenario.stages();
    work_.assign(scenario.workers.size(), 0);
    receiving_.assign(scenario.workers.size(), 0);
  }
  void on(const Event& event) override {
    if (event.kind != EventKind::task_end) return;
    const auto worker = static_cast<std::size_t>(event.worker);
    if (!event.second) work_[worker] += (event.time - event.work_from).value;
    receiving_[worker] += (event.received - event.from).value;
  }
  [[nodiscard]] SimulatedStage stage(std::size_t i) const {
    SimulatedStage most;
    for (std::size_t w = i; w < work_.size(); w += stages_) {
      if (work_[w] + receiving_[w] <= (most.work + most.receiving).value) continue;
      most.work = Seconds{work_[w]};
      most.receiving = Seconds{receiving_[w]};
    }
    return most;
  }

 private:
  std::size_t stages_ = 1;
  std::vector<double> work_;
  std::vector<double> receiving_;
};

void check(const Plan& plan, const PricedPlan& priced) {
  if (priced.stages.empty() || priced.stages.size() != plan.stages.size()) {
    throw InputError("", "plan", "it has no price" + (priced.reason.empty() ? "" : ": " + priced.reason));
  }
  if (!plan.placed()) throw InputError("", "stages", "they have no devices", "place the plan first");
}

// The level whose links made transfers wait longest; empty where none did.
std::string slowest_level(const EngineResult& run, const Scenario& scenario, const Cluster& cluster) {
  std::vector<double> waited(cluster.levels().size());
  const LinkTable& links = scenario.traffic->links();
  for (std::size_t l = 0; l < run.waited_s.size(); ++l) {
    waited[links.level(LinkId{static_cast<std::int32_t>(l)}).index()] += run.waited_s[l];
  }
  const auto most = std::max_element(waited.begin(), waited.end());
  if (*most <= 0) return {};
  return cluster.levels()[static_cast<std::size_t>(most - waited.begin())].name;
}

std::string words_for(const Difference& d, const std::string& level, const Overlap& overlap) {
  const bool more = d.time.value > 0;
  switch (d.part) {
    case Difference::Part::order:
      return more ? "uneven stages leave gaps that the formula does not see"
                  : "the formula leaves out that gaps overlap";
    case Difference::Part::sends:
      if (!more) return "sends meet less often than the price expects";
      if (!level.empty()) return "sends wait for each other on the " + level;
      return overlap.pipeline > 0 ? "sends that overlap still delay the first and last micro-batches"
                                  : "sends take longer than priced";
    case Difference::Part::end:
      return std::string("the last passes hide ") + (more ? "less" : "more") +
             " of reductions and gathers than the formula says";
    case Difference::Part::collectives:
      break;
  }
  if (!more) return "reductions and gathers meet less often than the price expects";
  return level.empty() ? "reductions and gathers take longer than priced"
                       : "reductions and gathers wait for each other on the " + level;
}

std::string in_words(const SimulationResult& r, const std::string& level, const Overlap& overlap) {
  const double priced = r.priced.value;
  const double all = priced > 0 ? (r.step.value - priced) / priced : 0;
  if (std::abs(all) < 5e-6) return "as priced";
  std::string out = format_small_percent(std::abs(all), 2) + (all > 0 ? " above" : " below") + " the price";
  std::vector<Difference> order = r.causes;
  std::sort(order.begin(), order.end(), [](const Difference& a, const Difference& b) {
    return std::pair(-std::abs(a.time.value), a.part) < std::pair(-std::abs(b.time.value), b.part);
  });
  bool first = true;
  for (const Difference& d : order) {
    const double share = d.time.value / priced;
    // What is a tenth of the main cause explains nothing.
    if (std::abs(d.time.value) < 0.1 * std::abs(order.front().time.value) || std::abs(share) < 5e-6) continue;
    out += fmt::format("{} {} ({:+.2g} %)", first ? ":" : ",", words_for(d, level, overlap), 100 * share);
    first = false;
  }
  return out;
}

}  // namespace

double count_passes(const Plan& plan, const PassOptions& options, const std::string& file) {
  const double copies = options.all_devices ? static_cast<double>(plan.parallelism.copies()) : 1;
  const double passes = 2.0 * static_cast<double>(plan.training.micro_batches) *
                        static_cast<double>(plan.parallelism.pipeline * plan.parallelism.interleave) * copies;
  if (passes <= (options.drawn ? kMostDrawn : kMostPasses)) return passes;
  throw InputError(
      file, "",
      fmt::format("{:.3g} passes are more than can be {}", passes, options.drawn ? "drawn" : "simulated"),
      options.drawn ? "leave out --trace and --svg, or use fewer micro-batches"
                    : "use fewer micro-batches: a step is periodic after the first few");
}

SimulationResult run_simulation(const Plan& plan, const PricedPlan& priced, const PlanInputs& inputs,
                                const SimulationOptions& options, std::span<Listener* const> listeners) {
  check(plan, priced);
  const Scenario scenario = make_scenario(
      plan, priced, inputs, {.all_copies = options.all_devices, .contention = options.contention});
  MemoryUse memory;
  LinkBytes bytes;
  Busy busy;
  std::vector<Listener*> all{&memory, &bytes, &busy};
  all.insert(all.end(), listeners.begin(), listeners.end());
  const EngineResult run = run_engine(scenario, all);

  SimulationResult out;
  out.step = run.step;
  out.priced = priced.predicted.step;
  out.pipeline = run.pipeline;
  out.tasks = run.tasks;
  out.workers = static_cast<std::int64_t>(scenario.workers.size());
  double longest = 0;
  for (std::size_t i = 0; i < scenario.stages(); ++i) {
    out.stages.push_back(busy.stage(i));
    out.stages.back().peak = memory.peak(i);
    longest = std::max(longest, (out.stages.back().work + out.stages.back().receiving).value);
  }
  out.bubble_fraction = std::max(0.0, run.pipeline.value - longest) / run.step.value;
  for (std::size_t l = 0; l < bytes.by_level().size(); ++l) {
    out.levels.push_back({inputs.cluster.levels()[l].name, round_up_bytes(bytes.by_level()[l])});
  }
  out.links = bytes.busiest(options.links, run.waited_s);

  // The same tasks with sends and collectives of exactly their price tell the order's part from the
  // network's.
  const Scenario as_priced = make_scenario(plan, priced, inputs, {.as_priced = true});
  const EngineResult ideal = run_engine(as_priced, {});
  using Part = Difference::Part;
  out.causes = {{Part::order, ideal.pipeline - priced.pipeline},
                {Part::sends, run.pipeline - ideal.pipeline},
                {Part::end, (ideal.step - ideal.pipeline) - (out.priced - priced.pipeline)},
                {Part::collectives, (run.step - run.pipeline) - (ideal.step - ideal.pipeline)}};
  out.cause = in_words(out, slowest_level(run, scenario, inputs.cluster), inputs.recipe.overlap);
  return out;
}

Value to_value(const SimulationResult& r) {
  Value out = Value::object();
  out.set("step_s", r.step.value).set("priced_s", r.priced.value).set("pipeline_s", r.pipeline.value);
  out.set("difference", r.priced.value > 0 ? r.step.value / r.priced.value - 1 : 0.0).set("cause", r.cause);
  Value causes = Value::object();
  for (const Difference& d : r.causes) {
    static constexpr std::array<const char*, 4> kNames{"order_s", "sends_s", "end_s", "collectives_s"};
    causes.set(kNames[static_cast<std::size_t>(d.part)], d.time.value);
  }
  out.set("causes", std::move(causes)).set("bubble_fraction", r.bubble_fraction);
  Value stages = Value::array();
  for (const SimulatedStage& s : r.stages) {
    Value stage = Value::object();
    stage.set("peak_bytes", s.peak.value).set("work_s", s.work.value).set("receiving_s", s.receiving.value);
    stages.push(std::move(stage));
  }
  out.set("stages", std::move(stages));
  Value levels = Value::array();
  for (const LevelUse& l : r.levels) {
    Value level = Value::object();
    level.set("name", l.name).set("bytes", l.bytes.value);
    levels.push(std::move(level));
  }
  out.set("levels", std::move(levels));
  Value links = Value::array();
  for (const BusyLink& l : r.links) {
    Value link = Value::object();
    link.set("name", l.name).set("bytes", l.bytes.value).set("utilisation", l.utilisation);
    link.set("waited_s", l.waited.value);
    links.push(std::move(link));
  }
  out.set("links", std::move(links)).set("tasks", r.tasks).set("workers", r.workers);
  return out;
}

}  // namespace nest::simulate
