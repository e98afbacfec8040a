#include "nest/report/page/report_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <utility>
#include <vector>

#include "nest/plan/text/plan_json.hpp"
#include "nest/plan/text/spell_plan.hpp"
#include "nest/report/answer/explain.hpp"
#include "nest/report/answer/plan_notes.hpp"
#include "nest/report/answer/plan_screen.hpp"
#include "nest/report/page/domain_traffic.hpp"
#include "nest/report/page/report_memory.hpp"
#include "nest/report/page/report_others.hpp"
#include "nest/report/page/report_roofline.hpp"
#include "nest/report/page/report_timeline.hpp"
#include "nest/report/page/report_traffic.hpp"
#include "nest/simulate/simulate.hpp"

namespace nest::report {
namespace {

constexpr std::size_t kMostMemoryPoints = 1500;  // of a stage: about as many as there are pixels
constexpr double kSame = 1e-6;                   // two steps that differ by less are one

std::vector<std::string> texts_of(const Value* list) {
  std::vector<std::string> out;
  if (list == nullptr || list->as_array() == nullptr) return out;
  for (const Value& item : *list->as_array()) {
    if (item.as_string() != nullptr) out.push_back(*item.as_string());
  }
  return out;
}

Value list_of(const std::vector<std::string>& texts) {
  Value v = Value::array();
  for (const std::string& text : texts) v.push(text);
  return v;
}

bool in_a_row(const Cell& cell) {
  for (std::size_t j = 1; j < cell.size(); ++j) {
    if (cell[j].value != cell[j - 1].value + 1) return false;
  }
  return true;
}

Value levels_value(const Cluster& cluster) {
  Value list = Value::array();
  for (std::size_t l = 0; l < cluster.levels().size(); ++l) {
    const Level& level = cluster.levels()[l];
    Value v = Value::object();
    v.set("name", level.name).set("kind", to_string(level.kind));
    v.set("domains", cluster.tree().domains(LevelId{static_cast<std::int32_t>(l)}));
    if (level.fan_out.uniform()) {
      v.set("size", level.fan_out.size);
    } else {
      Value sizes = Value::array();
      for (const std::int32_t n : level.fan_out.sizes) sizes.push(n);
      v.set("sizes", std::move(sizes));
    }
    if (!level.dims.empty()) {
      Value dims = Value::array();
      for (const std::int32_t n : level.dims) dims.push(n);
      v.set("dims", std::move(dims));
    }
    v.set("bandwidth_bytes_per_s", level.bandwidth.value).set("latency_s", level.latency.value);
    v.set("oversubscription", level.oversubscription);
    list.push(std::move(v));
  }
  return list;
}

Value sensitivity_value(const Explanation& e) {
  Value effects = Value::array();
  for (const Effect& effect : e.effects) {
    if (effect.status == PriceStatus::invalid) continue;
    Value one = Value::object();
    one.set("change", effect.change).set("status", name_of(effect.status)).set("step_s", effect.step.value);
    if (!effect.reason.empty()) one.set("reason", effect.reason);
    effects.push(std::move(one));
  }
  Value v = Value::object();
  v.set("binds", list_of(e.binds)).set("effects", std::move(effects));
  return v;
}

// Gathers the parts and what there is to say about them.
class Report {
 public:
  Report(const Document& file, const ReportOptions& options)
      : file_(file),
        options_(options),
        open_(read_plan_file(file, notes_)),
        pricer_(open_.inputs, options.price) {}

  Value make() {
    try {
      options_.go_on();
      found_.plans.push_back(pricer_.complete(open_.plan));
      explained_ = explain(found_.plans.front(), open_.inputs, options_.price);
      options_.go_on();
      placed_ = pricer_.place(found_.plans.front());
    } catch (const InputError& error) {
      const std::string place = error.place() == "plan" ? "" : error.place();
      throw InputError(file_.file, place, error.problem(), error.hint());
    }
    found_.plans.front() = explained_.plan;
    keep_margin();
    settle_status();
    Value v = plan_value(bare_plan(), open_.inputs);
    v.set("title", title()).set("headline", headline()).set("degrees", spell_degrees(plan()));
    v.set("batches", batches()).set("recompute", spell_recompute(plan().stages));
    v.set("reason", explained_.priced.reason).set("proof", proof()).set("simpler", said_by("strict"));
    v.set("fits", fits());
    v.set("accelerator", device()).set("levels", levels_value(open_.inputs.cluster));
    v.set("placement", placement_value(placed_)).set("sensitivity", sensitivity_value(explained_));
    v.set("alternatives", other_plans(file_));
    if (Value roofline = roofline_value(plan(), open_.inputs); !roofline.is_null())
      v.set("roofline", std::move(roofline));
    simulate_step(v);
    gather_notes();
    v.set("notes", list_of(notes_)).set("command", options_.command).set("file", file_.file);
    return v;
  }

 private:
  [[nodiscard]] const Plan& plan() const { return found_.plans.front(); }

  // What the file's question keeps free of every device is shown; whether the plan fits is told by the estimate alone.
  void keep_margin() {
    std::vector<Stage>& stages = found_.plans.front().stages;
    const std::vector<Stage>& told = open_.plan.stages;
    for (std::size_t i = 0; i < std::min(stages.size(), told.size()); ++i) {
      if (told[i].memory && told[i].memory->capacity == stages[i].memory->capacity)
        stages[i].memory->margin = told[i].memory->margin;
    }
  }

  // What the file's search says in so many words; empty where it says nothing, or of a plan that costs something else.
  [[nodiscard]] std::string said_by(const char* part) const {
    const Value* told = known_ ? file_.root.find(part) : nullptr;
    const Value* why = told == nullptr ? nullptr : told->find("why");
    return why != nullptr && why->as_string() != nullptr ? *why->as_string() : "";
  }

  // "fits with 97 %"
  [[nodiscard]] std::string fits() const {
    const std::string text = spell_fits(*plan().predicted);
    return text.starts_with("; ") ? text.substr(2) : text;
  }

  // What the file says of its plan holds only where the plan still costs what it says.
  void settle_status() {
    const PricedPlan& priced = explained_.priced;
    found_.status = open_.plan.status.value_or(PlanStatus::feasible);
    found_.lower_bound = open_.plan.lower_bound.value_or(Seconds{0});
    known_ = open_.plan.status.has_value();
    if (priced.status == PriceStatus::infeasible) {
      found_.status = PlanStatus::infeasible;
      known_ = false;
    } else if (found_.status == PlanStatus::optimal && !bound_holds(priced.predicted.step)) {
      notes_.push_back(
          fmt::format("the file calls its plan optimal with a bound of {}, but the step is {}: it "
                      "was changed, or priced by another version",
                      format(found_.lower_bound), format(priced.predicted.step)));
      found_.status = PlanStatus::feasible;
      known_ = false;
    } else if (found_.status == PlanStatus::infeasible || found_.status == PlanStatus::limit) {
      found_.status = PlanStatus::feasible;
      known_ = false;
    }
    found_.plans.front().status = found_.status;
    if (!known_) found_.plans.front().lower_bound.reset();
  }

  // The bound is that of the plan, or of the fastest one, where the file has a simpler plan in its place.
  [[nodiscard]] bool bound_holds(Seconds step) const {
    const Value* strict = file_.root.find("strict");
    const Value* fastest = strict == nullptr ? nullptr : strict->find("step_s");
    const double told =
        fastest != nullptr && fastest->as_real() != nullptr ? *fastest->as_real() : step.value;
    return told <= step.value * (1 + kSame) &&
           std::abs(told - found_.lower_bound.value) <= kSame * step.value;
  }

  // With results, without the long lists of devices.
  [[nodiscard]] Plan bare_plan() const {
    Plan bare = plan();
    for (Stage& stage : bare.stages) stage.devices.clear();
    return bare;
  }

  [[nodiscard]] std::string title() const {
    if (!options_.title.empty()) return options_.title;
    return open_.inputs.model_name() + " on " + open_.inputs.cluster.name();
  }

  [[nodiscard]] std::string headline() const {
    return fmt::format("{} x {}; {}", format_digits(open_.inputs.cluster.devices()),
                       open_.inputs.cluster.device_name(), spell_training(plan().training));
  }

  [[nodiscard]] std::string batches() const {
    const Training& t = plan().training;
    return fmt::format("{} micro-batch{} of {}", format_digits(t.micro_batches),
                       t.micro_batches == 1 ? "" : "es", format_digits(t.micro_batch));
  }

  [[nodiscard]] std::string proof() const { return known_ ? proof_sentence(found_, {}) : ""; }

  [[nodiscard]] Value device() const {
    const Cluster& cluster = open_.inputs.cluster;
    Value v = Value::object();
    v.set("name", cluster.device_name()).set("memory_bytes", cluster.device_memory().value);
    return v;
  }

  void simulate_step(Value& v) {
    const Parallelism& p = plan().parallelism;
    const double passes = 2.0 * static_cast<double>(plan().training.micro_batches) *
                          static_cast<double>(p.pipeline) * static_cast<double>(p.interleave);
    if (passes > options_.most_passes) {
      notes_.push_back(fmt::format(
          "{:.3g} passes are more than a report simulates: it has no timeline and no traffic", passes));
      return;
    }
    options_.go_on();
    Timeline timeline;
    TrafficByPurpose traffic;
    MemoryUse memory(true);
    std::array<Listener*, 3> listeners{&timeline, &traffic, &memory};
    const SimulationResult result =
        run_simulation(placed_, explained_.priced, open_.inputs, SimulationOptions{.links = 8}, listeners);
    v.set("simulated", to_value(result));
    v.set("timeline", timeline_value(timeline, options_.most_segments));
    v.set("memory_timeline", memory_value(memory, result.step, kMostMemoryPoints));
    options_.go_on();
    DomainTraffic domains(open_.inputs.cluster);
    count_step(domains, placed_, explained_.priced, open_.inputs);
    options_.go_on();
    const std::vector<PassTraffic> sent = pass_traffic(placed_, open_.inputs, &domains);
    Value bytes = traffic_value(traffic, sent, result, open_.inputs.cluster);
    bytes.set("domains", domains.value(result.step));
    if (open_.inputs.profile() != nullptr && plan().parallelism.strategy.cell() > 1) {
      bytes.set("not_counted",
                "Collectives inside cells are part of the layer profile's times: not counted.");
    }
    v.set("traffic", std::move(bytes));
  }

  // The plan for warnings: where it does not fit, the reason says so, and how near it is to full says
  // nothing.
  [[nodiscard]] SearchResult fitting() const {
    SearchResult found = found_;
    if (found.status != PlanStatus::infeasible) return found;
    for (Stage& stage : found.plans.front().stages) {
      stage.memory = StageMemory{.capacity = stage.memory.value().capacity};
    }
    return found;
  }

  void gather_notes() {
    std::vector<std::string> all;
    for (const char* part : {"safety", "better_batch"}) {
      if (std::string why = said_by(part); !why.empty()) all.push_back(std::move(why));
    }
    Warnings own = plan_warnings(fitting(), open_.inputs);
    all.insert(all.end(), std::make_move_iterator(own.begin()), std::make_move_iterator(own.end()));
    const std::int64_t idle = open_.inputs.cluster.devices() - plan().parallelism.devices();
    if (idle > 0) {
      const Value* told = file_.root.find("idle");
      const Value* why = told == nullptr ? nullptr : told->find("why");
      all.push_back(why != nullptr && why->as_string() != nullptr
                        ? *why->as_string()
                        : fmt::format("{} of {} devices are idle", format_digits(idle),
                                      format_digits(open_.inputs.cluster.devices())));
    }
    all.insert(all.end(), notes_.begin(), notes_.end());
    for (std::string& text : texts_of(file_.root.find("warnings"))) {
      if (std::find(all.begin(), all.end(), text) == all.end()) all.push_back(std::move(text));
    }
    notes_ = std::move(all);
  }

  const Document& file_;
  const ReportOptions& options_;
  Warnings notes_;
  OpenPlan open_;
  Pricer pricer_;
  SearchResult found_;  // the plan as the answer of a search, for sentences about it
  bool known_ = false;  // whether the file's status is to be believed
  Explanation explained_;
  Plan placed_;
};

}  // namespace

Value placement_value(const Plan& placed) {
  Value stages = Value::array();
  std::int64_t used = 0;
  for (const Stage& stage : placed.stages) {
    const bool rows = std::all_of(stage.devices.begin(), stage.devices.end(), in_a_row);
    Value ids = Value::array();
    for (const Cell& cell : stage.devices) {
      used += static_cast<std::int64_t>(cell.size());
      for (const DeviceId id : cell) {
        ids.push(id.value);
        if (rows) break;
      }
    }
    Value v = Value::object();
    v.set("cell", stage.devices.empty() ? 0 : stage.devices.front().size());
    v.set(rows ? "starts" : "devices", std::move(ids));
    stages.push(std::move(v));
  }
  Value v = Value::object();
  v.set("used", used).set("stages", std::move(stages));
  return v;
}

Value report_value(const Document& plan_file, const ReportOptions& options) {
  return Report(plan_file, options).make();
}

}  // namespace nest::report
