#include "nest/report/answer/lint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "nest/base/drawing/table.hpp"
#include "nest/base/error.hpp"
#include "nest/base/numbers.hpp"
#include "nest/cluster/resize.hpp"
#include "nest/frameworks/common/export_facts.hpp"
#include "nest/plan/frameworks/framework_rules.hpp"
#include "nest/plan/text/plan_json.hpp"
#include "nest/plan/text/spell_plan.hpp"
#include "nest/question/make_question.hpp"
#include "nest/question/state_choices.hpp"
#include "nest/report/answer/lint_changes.hpp"
#include "nest/report/answer/plan_notes.hpp"
#include "nest/report/answer/plan_screen.hpp"
#include "nest/report/answer/priced_text.hpp"
#include "nest/solve/ask/search.hpp"
#include "nest/solve/search_result.hpp"

namespace nest::report {
namespace {

constexpr std::array<std::string_view, 3> kKinds{"wrong", "slow", "hint"};
constexpr double kMuchBubble = 0.1;  // shares of the step that are worth a word
constexpr double kMuchNetwork = 0.05;
constexpr double kMuchRecompute = 0.1;
constexpr double kMuchFreeMemory = 0.3;  // of a device
constexpr double kFaster = 1.02;
constexpr double kSlightlyFaster = 1.001;  // for what costs nothing

class Linter {
 public:
  Linter(const Plan& plan, const PlanInputs& inputs, LintReport& report)
      : plan_(plan), inputs_(inputs), report_(report), breakdown_(report.priced.predicted.breakdown) {}

  void look() {
    rules();
    memory();
    straddling();
    time();
    recompute();
  }

 private:
  void add(LintKind kind, std::string rule, std::string sentence, double share = 0) {
    report_.findings.push_back({kind, std::move(rule), std::move(sentence), share});
  }

  [[nodiscard]] double share(Seconds part) const {
    const double step = report_.priced.predicted.step.value;
    return step > 0 ? part.value / step : 0;
  }

  void rules() {
    if (std::string broken = broken_rule(plan_, inputs_, *report_.dialect); !broken.empty())
      add(LintKind::wrong, "rule", std::move(broken));
  }

  void memory() {
    const double most = memory_share(with_results(plan_, report_.priced));
    for (std::size_t i = 0; i < report_.priced.stages.size(); ++i) {
      const StageMemory& m = report_.priced.stages[i].memory;
      if (m.fits()) continue;
      const DeviceId rank = plan_.stages[i].devices.front().front();
      add(LintKind::wrong, "memory",
          fmt::format("stage {} is {} over on rank {}: it needs {}, a device has {}", i,
                      format(m.total() - m.capacity), rank.value, format_memory(m.total()),
                      format_memory(m.capacity)));
    }
    if (most > 1) doubts();
    if (most > 0 && most < 1 - kMuchFreeMemory)
      add(LintKind::hint, "free-memory",
          fmt::format("the fullest device uses {} of its memory: a larger micro-batch, fewer shards or less "
                      "recomputation would fit",
                      format_percent(most, 0)));
  }

  // In fp8, Transformer Engine keeps what goes into products in 8 bits, and we price 16. The inputs of the first
  // products of attention and ffn and of the ffn's last one take half then; attention's result is kept in 16 bits
  // for its own sake, and in 8 bits besides.
  void doubts() {
    const auto* spec = std::get_if<ModelSpec>(&inputs_.source);
    if (plan_.training.precision != Precision::fp8 || plan_.parallelism.pipeline > 1 || spec == nullptr)
      return;
    const Strategy& s = plan_.parallelism.strategy;
    std::int64_t values = 0;  // of one token
    for (const StackSpec& stack : spec->stacks) {
      for (const BlockSpec& block : stack.blocks) {
        if (block.experts) return;
        values += (s.shards_sequence() ? 2 * stack.hidden / s.tensor : 2 * stack.hidden) +
                  (block.ffn.ffn - stack.hidden) / s.tensor;
      }
    }
    const Bytes less(values * plan_.training.sequence / s.context * plan_.training.micro_batch);
    add(LintKind::hint, "fp8-memory",
        fmt::format(
            "{} of it are in doubt: in fp8 the inputs of products are kept in 8 bits, and 16 are priced",
            format(less)));
  }

  // Whether the tensor group of some cell has devices in several of the innermost domains.
  [[nodiscard]] bool tensor_straddles() const {
    const DeviceTree& tree = inputs_.cluster.tree();
    for (const Stage& stage : plan_.stages) {
      const auto t = static_cast<std::size_t>(stage.strategy.tensor);
      for (const Cell& cell : stage.devices) {
        for (std::size_t first = 0; first + t <= cell.size(); first += t) {
          const std::int32_t home = tree.domain_of(cell[first], LevelId{0});
          for (std::size_t i = 1; i < t; ++i) {
            if (tree.domain_of(cell[first + i], LevelId{0}) != home) return true;
          }
        }
      }
    }
    return false;
  }

  void straddling() {
    if (!tensor_straddles()) return;
    add(LintKind::slow, "tensor-across-nodes",
        fmt::format("tensor groups straddle {}s: {} of the step", inputs_.cluster.levels().front().name,
                    format_percent(share(breakdown_.tensor), 0)),
        share(breakdown_.tensor));
  }

  void time() {
    const Parallelism& p = plan_.parallelism;
    if (share(breakdown_.bubble) > kMuchBubble)
      add(LintKind::slow, "bubble",
          fmt::format("the pipeline is idle for {} of the step: {} micro-batches over {} stages",
                      format_percent(share(breakdown_.bubble), 0), plan_.training.micro_batches, p.pipeline),
          share(breakdown_.bubble));
    const std::array<std::pair<const char*, Seconds>, 5> parts{
        {{"tensor", breakdown_.tensor},
         {"expert", breakdown_.expert},
         {"context", breakdown_.context},
         {"data", breakdown_.data + breakdown_.zero - report_.priced.predicted.stragglers},
         {"pipeline", breakdown_.pipeline}}};
    for (const auto& [name, part] : parts) {
      const bool said = std::string_view(name) == "tensor" && tensor_straddles();
      if (said || share(part) <= kMuchNetwork) continue;
      add(LintKind::slow, fmt::format("{}-traffic", name),
          fmt::format("{} traffic that nothing hides takes {} of the step", name,
                      format_percent(share(part), 0)),
          share(part));
    }
  }

  // What is computed again without need.
  void recompute() {
    if (share(breakdown_.recompute) > kMuchRecompute)
      add(LintKind::slow, "recompute",
          fmt::format("recomputation takes {} of the step", format_percent(share(breakdown_.recompute), 0)),
          share(breakdown_.recompute));
  }

  const Plan& plan_;
  const PlanInputs& inputs_;
  LintReport& report_;
  const Breakdown& breakdown_;
};

// What the framework could do instead: the same training on as many devices as the run has, where the cluster
// can be cut so.
PlanQuestion question_beside(const Plan& plan, const PlanInputs& inputs, const FrameworkRules& rules,
                             Asked asked) {
  if (const InputRule* rule = rules.refusal(inputs, plan.training))
    throw InputError("", "", std::string(rule->sentence));
  const std::int64_t devices = plan.parallelism.devices();
  asked.devices.reset();
  try {
    if (devices < inputs.cluster.devices()) asked.devices = with_devices(inputs.cluster, devices).devices();
  } catch (const InputError&) {
    asked.devices.reset();  // beside all devices then
  }
  asked.global_batch = plan.training.global_batch;
  asked.sequence = plan.training.sequence;
  asked.contents = plan.training.contents;
  asked.tuning = plan.training.tuning;
  asked.mtp = plan.training.mtp;
  asked.precision = plan.training.precision;
  asked.optimizer = plan.training.optimizer;
  put_states(plan.training.states, asked.choices);
  asked.framework = rules.name;
  return make_question(inputs, asked);
}

// What can be changed comes after what is slow, from the smallest change to the largest.
std::ptrdiff_t size_of_change(const LintFinding& finding) {
  constexpr std::array<std::string_view, 3> kChanges{"free-flags", "one-flag", "best-plan"};
  const auto at = std::find(kChanges.begin(), kChanges.end(), finding.rule);
  return at == kChanges.end() ? 0 : at - kChanges.begin() + 1;
}

void sort(std::vector<LintFinding>& findings) {
  std::sort(findings.begin(), findings.end(), [](const LintFinding& a, const LintFinding& b) {
    if (a.kind != b.kind) return a.kind < b.kind;
    if (size_of_change(a) != size_of_change(b)) return size_of_change(a) < size_of_change(b);
    return a.share != b.share ? a.share > b.share : a.sentence < b.sentence;
  });
}

std::vector<Flag> settings_of(const Plan& plan, const PlanInputs& inputs, const Dialect& dialect) {
  const ExportQuestion question{.plan = plan, .inputs = inputs};
  return dialect.settings(export_facts(question, dialect.framework));
}

// What is gained before anything else changes: flags that cost nothing, then the best change of one more.
void small_changes(const Plan& plan, const FreeFlags& free, LintReport& report) {
  const bool fits = report.priced.status == PriceStatus::feasible;
  const Seconds now = report.priced.predicted.step;
  Pricer pricer(free.inputs);
  PricedPlan priced = pricer.price(plan);
  const auto gained = [&](Seconds step) {
    return fits ? fmt::format("{:.2f}x faster", now.value / step.value) : std::string("fits");
  };
  const bool gains = !free.flags.empty() && fits && now.value > kSlightlyFaster * priced.predicted.step.value;
  if (gains)
    report.findings.push_back(
        {LintKind::slow, "free-flags",
         fmt::format("{} {} nothing: {} ({} a step, {} of memory)", fmt::join(free.flags, " and "),
                     free.flags.size() == 1 ? "costs" : "cost", gained(priced.predicted.step),
                     format(priced.predicted.step),
                     format_percent(memory_share(with_results(plan, priced)), 0)),
         1 - priced.predicted.step.value / now.value});
  const auto one = best_single_change(plan, free.inputs, *report.dialect);
  if (!one || (fits && priced.predicted.step.value < kFaster * one->step.value)) return;
  report.findings.push_back(
      {LintKind::slow, "one-flag",
       fmt::format("{}{}: {} ({} a step, {} of memory)", one->flag, gains ? " besides" : " alone",
                   gained(one->step), format(one->step), format_percent(one->memory, 0)),
       fits ? 1 - one->step.value / now.value : 0});
}

std::string said(const Flag* flag) {
  if (flag == nullptr) return "";
  if (flag->values.empty()) return "on";
  std::string text = fmt::format("{}", fmt::join(flag->values, " "));
  constexpr std::size_t kLongest = 40;  // lists of modules have thousands
  if (text.size() > kLongest) text.replace(kLongest, std::string::npos, "..");
  return text;
}

std::vector<FlagChange> changes_between(const std::vector<Flag>& now, const std::vector<Flag>& better) {
  std::vector<FlagChange> changes;
  for (const Flag& flag : now) {
    const Flag* other = find_flag(better, flag.name);
    if (other == nullptr || other->values != flag.values)
      changes.push_back({flag.name, said(&flag), said(other)});
  }
  for (const Flag& flag : better) {
    if (find_flag(now, flag.name) == nullptr) changes.push_back({flag.name, "", said(&flag)});
  }
  return changes;
}

}  // namespace

std::string_view name_of(LintKind kind) {
  return kKinds[static_cast<std::size_t>(kind)];
}

LintReport lint(const Plan& plan, const PlanInputs& inputs, Asked asked,
                const std::function<void(const SearchProgress&)>& progress, const Dialect& dialect) {
  LintReport report;
  report.dialect = &dialect;
  Pricer pricer(inputs, {.pipeline_model = asked.pipeline_model});
  report.priced = pricer.price(plan);
  if (report.priced.status == PriceStatus::invalid) {
    report.findings.push_back({LintKind::wrong, "plan", report.priced.reason});
    return report;
  }
  Linter(plan, inputs, report).look();
  const FreeFlags free = with_free_flags(inputs, dialect);
  small_changes(plan, free, report);
  sort(report.findings);
  const FrameworkRules* rules = find_framework_rules(dialect.framework);
  if (rules == nullptr) return report;
  PlanQuestion question = question_beside(plan, free.inputs, *rules, std::move(asked));
  question.options.progress = progress;
  const SearchResult found = ask(question);
  report.best_status = found.status;
  if (found.plans.empty()) return report;
  report.best = found.plans.front();
  const bool fits = report.priced.status == PriceStatus::feasible;
  if (fits) report.speedup = report.priced.predicted.step.value / report.best->predicted->step.value;
  if (fits && report.speedup < kFaster) return report;
  report.changes =
      changes_between(settings_of(plan, inputs, dialect), settings_of(*report.best, free.inputs, dialect));
  const char* proved = found.status == PlanStatus::optimal ? "the best plan" : "a plan that was found";
  report.findings.push_back(
      {LintKind::slow, "best-plan",
       (fits ? fmt::format("{} is {:.2f}x faster ({} a step", proved, report.speedup,
                           format(report.best->predicted->step))
             : fmt::format("{} fits (it takes {} a step", proved, format(report.best->predicted->step))) +
           fmt::format(", {} of memory): change {} {}{}", format_percent(memory_share(*report.best), 0),
                       report.changes.size(), dialect.noun, report.changes.size() == 1 ? "" : "s")});
  const bool newly =
      report.best->parallelism.zero.shards_gradients() && !plan.parallelism.zero.shards_gradients();
  if (newly && !dialect.sharding_hint.empty())
    report.findings.push_back({LintKind::hint, "connections", std::string(dialect.sharding_hint)});
  sort(report.findings);
  return report;
}

std::string lint_text(const LintReport& report, const Plan& plan, const PlanInputs& inputs) {
  std::string out =
      wrap(fmt::format("{} on {}: {} of {} devices, {}; {} micro-batches of {}", inputs.model_name(),
                       inputs.cluster.name(), format_digits(plan.parallelism.devices()),
                       format_digits(inputs.cluster.devices()), spell_degrees(plan),
                       plan.training.micro_batches, plan.training.micro_batch),
           kTextWidth, 0) +
      "\n";
  if (report.priced.status != PriceStatus::invalid)
    out += fmt::format("step {}{}, {} tokens/s, MFU {:.1f} %\n", format(report.priced.predicted.step),
                       spell_interval(report.priced.predicted.interval),
                       format_count(report.priced.predicted.tokens_per_s), 100 * report.priced.predicted.mfu);
  if (report.priced.status != PriceStatus::invalid) out += memory_line(report.priced);
  out += '\n';
  for (const LintFinding& finding : report.findings)
    out += fmt::format("{:<6} ", name_of(finding.kind)) + wrap(finding.sentence, kTextWidth, 7) + "\n";
  if (report.findings.empty()) out += "No problem was found, and no plan is more than 2 % faster.\n";
  if (report.changes.empty()) return out;
  Table table({{std::string(report.dialect->noun)}, {"now"}, {"better"}});
  for (const FlagChange& change : report.changes)
    table.add(
        {change.flag, change.now.empty() ? "-" : change.now, change.better.empty() ? "-" : change.better});
  return out + "\n" + table.str();
}

Value to_value(const LintReport& report, const Plan& plan) {
  Value v = Value::object();
  v.set("status", name_of(report.priced.status));
  if (!report.priced.reason.empty()) v.set("reason", report.priced.reason);
  Value findings = Value::array();
  for (const LintFinding& finding : report.findings) {
    Value one = Value::object();
    one.set("kind", name_of(finding.kind)).set("rule", finding.rule).set("sentence", finding.sentence);
    if (finding.share > 0) one.set("share", finding.share);
    findings.push(std::move(one));
  }
  v.set("findings", std::move(findings));
  if (report.priced.status != PriceStatus::invalid) {
    v.set("predicted", to_value(report.priced.predicted));
    v.set("parallelism", to_value(plan.parallelism, plan.stages));
  }
  if (!report.best) return v;
  Value best = Value::object();
  best.set("status", name_of(report.best_status)).set("speedup", report.speedup);
  best.set("predicted", to_value(*report.best->predicted));
  best.set("parallelism", to_value(report.best->parallelism, report.best->stages));
  Value changes = Value::array();
  for (const FlagChange& change : report.changes) {
    Value one = Value::object();
    one.set("flag", change.flag).set("now", change.now).set("better", change.better);
    changes.push(std::move(one));
  }
  best.set("changes", std::move(changes));
  v.set("best", std::move(best));
  return v;
}

}  // namespace nest::report
