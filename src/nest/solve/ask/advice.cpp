#include "nest/solve/ask/advice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "nest/base/error.hpp"
#include "nest/base/numbers.hpp"
#include "nest/cluster/resize.hpp"
#include "nest/plan/changed_inputs.hpp"
#include "nest/plan/text/spell_plan.hpp"
#include "nest/price/stage_cost.hpp"
#include "nest/question/make_question.hpp"
#include "nest/question/space_options.hpp"
#include "nest/question/state_choices.hpp"

namespace nest::solve {
namespace {

// "96.4 GiB" must be enough where it is written: three digits, rounded up.
Bytes readable(Bytes memory) {
  constexpr std::int64_t kGib = std::int64_t{1} << 30;
  const std::int64_t unit = memory.value >= 100 * kGib  ? kGib
                            : memory.value >= 10 * kGib ? kGib / 10
                            : memory.value >= kGib      ? kGib / 100
                                                        : kGib / 1024;
  return Bytes{(memory.value + unit - 1) / unit * unit};
}

PlanQuestion with_inputs(const PlanQuestion& question, PlanInputs inputs) {
  PlanQuestion changed = question;
  changed.inputs = std::move(inputs);
  return changed;
}

class Adviser {
 public:
  Adviser(const PlanQuestion& question, const AdviceOptions& options, const SearchFunction& searching)
      : question_(question), options_(options), searching_(searching) {
    question_.options.gap = kAnyPlan;
    question_.options.top = 1;
    question_.options.runners_up = 0;
    question_.options.least_memory = false;  // only memory() asks for it
    question_.options.deadline = question.options.deadline.within(options.total_limit);
  }

  [[nodiscard]] AdviceList advise(const SearchResult& found) {
    throughput();
    margin();
    knobs();
    wider();
    dtypes();
    offload();
    memory(found.least_memory);
    devices();
    batch();
    sequence();
    return {std::move(list_), stopped_ || over()};
  }

 private:
  [[nodiscard]] bool over() const { return question_.options.deadline.over(); }

  SearchResult look(PlanQuestion question) {
    if (over()) return {.status = PlanStatus::limit};
    question.options.deadline = question.options.deadline.within(options_.search_limit);
    try {
      SearchResult found = searching_(question);
      stopped_ = stopped_ || found.status == PlanStatus::limit;
      return found;
    } catch (const InputError& error) {  // a cluster or model that cannot be made so
      SearchResult none;
      none.reason = error.problem();
      return none;
    }
  }

  // Something else asked of the choices.
  SearchResult look_otherwise(const Asked& asked) {
    try {
      return look(ask_otherwise(question_, asked));
    } catch (const InputError&) {
      return {};
    }
  }

  void tell(const std::string& what) const {
    if (options_.asking) options_.asking(what);
  }

  bool keep(AdviceKind kind, std::string sentence, std::int64_t amount, SearchResult found) {
    if (found.plans.empty()) return false;
    list_.push_back({kind, std::move(sentence), amount, std::move(found.plans.front())});
    return true;
  }

  void keep_knob(std::string_view field, const std::string& value, std::string sentence, std::int64_t amount,
                 SearchResult found) {
    if (!keep(AdviceKind::knob, std::move(sentence), amount, std::move(found))) return;
    list_.back().field = field;
    list_.back().value = value;
  }

  // Where a number of tokens per second is asked for: what the fastest plan reaches.
  void throughput() {
    if (question_.options.objective != Objective::devices) return;
    tell("the fastest plan");
    PlanQuestion fastest = question_;
    fastest.options.objective = Objective::step_time;
    fastest.options.target_tokens_per_s = 0;
    fastest.options.gap = 0;
    SearchResult found = look(std::move(fastest));
    if (found.plans.empty()) return;
    const auto tokens = static_cast<std::int64_t>(found.plans.front().predicted->tokens_per_s);
    keep(AdviceKind::throughput,
         fmt::format("--target-tokens-per-s {} or less, what {} reaches", format_digits(tokens),
                     found.status == PlanStatus::optimal ? "the fastest plan" : "the fastest plan found"),
         tokens, std::move(found));
  }

  // The margin of memory, where it is what stands in the way.
  void margin() {
    if (question_.options.memory_margin <= 0) return;
    tell("--risky");
    Asked asked = question_.asked;
    asked.risky = true;
    SearchResult found = look_otherwise(asked);
    if (found.plans.empty()) return;
    const std::string fits = spell_fitting(*found.plans.front().predicted);
    keep(AdviceKind::knob,
         fmt::format("--risky, without a margin of {} of the memory{}",
                     format_percent(question_.options.memory_margin),
                     fits.empty() ? "" : ": this plan fits with " + fits),
         0, std::move(found));
  }

  void knobs() {
    for (const SpaceOption& option : space_options()) {
      if (is_open(option, question_.asked.choices)) continue;
      tell(fmt::format("--{} left open", option.name));
      Asked asked = question_.asked;
      open_up(option, asked.choices);
      keep_knob(option.name, "",
                fmt::format("--{} left open, not {}", option.name, spell(option, question_.asked.choices)), 0,
                look_otherwise(asked));
    }
    if (question_.space.rules == nullptr) return;
    tell(fmt::format("without {}'s rules", question_.space.rules->title));
    Asked asked = question_.asked;
    asked.framework.clear();
    keep_knob("for", "", fmt::format("without --for {}", question_.space.rules->name), 0,
              look_otherwise(asked));
  }

  // Choices that by default stay within narrower bounds.
  void wider() {
    if (question_.inputs.profile() != nullptr) return;
    for (const auto& [name, values] : {std::pair("context", "2,4,8,16"), std::pair("tensor", "16,32,64")}) {
      const SpaceOption& option = *find_space_option(name);
      if (!is_open(option, question_.space)) continue;
      tell(fmt::format("--{} {}", name, values));
      Asked asked = question_.asked;
      (void)read_space_option(option, values, asked.choices);
      SearchResult found = look_otherwise(asked);
      if (found.plans.empty()) continue;
      const Strategy& s = found.plans.front().parallelism.strategy;
      const std::int64_t degree = name == std::string_view("context") ? s.context : s.tensor;
      keep_knob(name, std::to_string(degree), fmt::format("--{} {}, beyond the default", name, degree),
                degree, std::move(found));
    }
  }

  using Settings = std::vector<std::pair<std::string_view, std::string_view>>;

  // Fewer bytes for each parameter: whether that helps.
  bool fewer_bytes(const Settings& settings) {
    Asked asked = question_.asked;
    std::string text;
    for (const auto& [name, value] : settings) {
      const SpaceOption& option = *find_space_option(name);
      if (!is_open(option, asked.choices)) return false;
      (void)read_space_option(option, value, asked.choices);
      text += fmt::format("{}--{} {}", text.empty() ? "" : " ", name, value);
    }
    const Training& now = question_.training;
    const Recipe recipe = recipe_for(question_.inputs.recipe, now);
    const States fewer = state_values(question_.inputs, now, asked.choices).front();
    if (state_bytes(with_states(recipe, fewer)) >= state_bytes(recipe)) return false;
    tell(text);
    SearchResult found = look_otherwise(asked);
    text +=
        fmt::format(", {} bytes a parameter in place of {}", held(with_states(recipe, fewer)), held(recipe));
    if (settings.size() > 1) return keep(AdviceKind::knob, std::move(text), 0, std::move(found));
    const std::size_t before = list_.size();
    keep_knob(settings.front().first, std::string(settings.front().second), std::move(text), 0,
              std::move(found));
    return list_.size() > before;
  }

  static std::int64_t held(const Recipe& recipe) {
    return recipe.weight_bytes_per_parameter() + recipe.gradient_bytes_per_parameter() +
           recipe.optimizer_bytes_per_parameter();
  }

  // Gradients and optimizer states in fewer bits, the widest first; all of it where no part of it does.
  void dtypes() {
    const Settings gradients{{"gradient-dtype", "bf16"}, {"reduce-dtype", "bf16"}};
    const Settings copies{{"master-weights", "off"}};
    Settings all = gradients;
    all.insert(all.end(), {{"optimizer-dtype", "fp8"}, copies.front()});
    bool any = fewer_bytes({{"optimizer-dtype", "bf16"}}) || fewer_bytes({{"optimizer-dtype", "fp8"}});
    any = fewer_bytes(gradients) || any;
    any = fewer_bytes(copies) || any;
    if (!any) fewer_bytes(all);
  }

  // States of the optimizer or activations in host memory, or both where neither alone does.
  void offload() {
    const SpaceOption& option = *find_space_option("offload");
    if (!is_open(option, question_.asked.choices)) return;
    const bool optimizer = question_.training.optimizer != Optimizer::muon;
    bool any = optimizer && offload(option, {.optimizer = true});
    any = offload(option, {.activations = true}) || any;
    if (optimizer && !any) offload(option, {.optimizer = true, .activations = true});
  }

  bool offload(const SpaceOption& option, const Offload& what) {
    Asked asked = question_.asked;
    asked.choices.offload = {what};
    const std::string text = fmt::format("--{} {}", option.name, spell(what));
    tell(text);
    SearchResult found = look_otherwise(asked);
    if (found.plans.empty()) return false;
    const Plan& plan = found.plans.front();
    Bytes host;
    for (const Stage& stage : plan.stages) host = std::max(host, stage.memory->host);
    keep_knob(option.name, spell(what),
              fmt::format("{}, with a step of {} and {} of host memory for a device", text,
                          format(plan.predicted->step), format_memory(host)),
              0, std::move(found));
    return true;
  }

  void memory(Bytes least) {
    const Bytes has = question_.inputs.cluster.device_memory();
    constexpr int kMostTries = 4;
    for (int i = 0; i < kMostTries && least > has; ++i) {
      const Bytes enough = readable(least);
      tell("devices with " + format_memory(enough) + " of memory");
      PlanQuestion changed = with_inputs(question_, with_memory(question_.inputs, enough));
      changed.options.least_memory = true;
      SearchResult found = look(std::move(changed));
      const Bytes next = found.least_memory;
      if (keep(AdviceKind::memory,
               fmt::format("devices with {} of memory in place of {}", format_memory(enough),
                           format_memory(has)),
               enough.value, std::move(found)))
        return;
      if (next <= least) return;
      least = next;
    }
  }

  // Numbers of devices above the present that the cluster's levels allow, ascending.
  [[nodiscard]] std::vector<std::int64_t> sizes() const {
    const Cluster& whole = question_.whole ? *question_.whole : question_.inputs.cluster;
    const DeviceTree& tree = whole.tree();
    const std::int64_t now = question_.inputs.cluster.devices();
    constexpr std::int64_t kMostTimes = 64;
    const std::int64_t most =
        std::min(kMostDevices, std::max<std::int64_t>(now * kMostTimes, whole.devices()));
    std::set<std::int64_t> all;
    for (std::int32_t l = 0; l < tree.levels(); ++l) {
      const LevelId id{l};
      const std::int64_t child = tree.devices_in_child(id, 0);
      const bool outermost = l + 1 == tree.levels();
      const std::int64_t last = outermost ? most : std::min<std::int64_t>(most, tree.devices_in(id, 0));
      for (std::int64_t n = child; n <= last; n += child) {
        if (n > now) all.insert(n);
      }
    }
    return {all.begin(), all.end()};
  }

  SearchResult with_so_many(std::int64_t devices) {
    try {
      const Cluster& whole = question_.whole ? *question_.whole : question_.inputs.cluster;
      return look(with_inputs(question_, with_cluster(question_.inputs, with_devices(whole, devices))));
    } catch (const InputError&) {
      return {};
    }
  }

  // Doubles the number until a plan is found, then closes in on the smallest: a plan for fewer devices is one
  // for more, so that what fits grows with the number.
  void devices() {
    const std::int64_t now = question_.inputs.cluster.devices();
    const std::vector<std::int64_t> all = sizes();
    tell("more devices");
    std::size_t below = 0;  // this many of the list are known not to do
    std::optional<std::size_t> enough;
    SearchResult best;
    for (std::size_t at = 0; at < all.size() && !over();) {
      SearchResult found = with_so_many(all[at]);
      if (!found.plans.empty()) {
        enough = at;
        best = std::move(found);
        break;
      }
      if (found.status == PlanStatus::limit) break;
      below = at + 1;
      const auto next = std::lower_bound(all.begin(), all.end(), 2 * all[at]);
      at = next == all.end() && at + 1 < all.size() ? all.size() - 1
                                                    : static_cast<std::size_t>(next - all.begin());
    }
    if (!enough) return;
    bool smallest = true;
    while (below < *enough) {
      const std::size_t middle = below + (*enough - below) / 2;
      SearchResult found = with_so_many(all[middle]);
      if (!found.plans.empty()) {
        enough = middle;
        best = std::move(found);
        continue;
      }
      smallest = smallest && found.status != PlanStatus::limit;
      below = middle + 1;
    }
    keep(AdviceKind::devices,
         fmt::format("{} devices in place of {}{}", format_digits(all[*enough]), format_digits(now),
                     smallest ? "" : " (fewer may do)"),
         all[*enough], std::move(best));
  }

  // More sequences allow more copies, and with them more shards.
  void batch() {
    const std::int64_t now = question_.training.global_batch;
    const std::int64_t devices = question_.inputs.cluster.devices();
    for (std::int64_t more = now * 2; more <= 2 * devices && !over(); more *= 2) {
      tell(fmt::format("--global-batch {}", more));
      PlanQuestion changed = question_;
      changed.training.global_batch = more;
      if (keep(AdviceKind::batch, fmt::format("--global-batch {} in place of {}", more, now), more,
               look(std::move(changed))))
        return;
    }
  }

  void sequence() {
    if (question_.inputs.profile() != nullptr) return;
    constexpr std::int64_t kShortest = 512;
    const std::int64_t now = question_.training.sequence;
    for (std::int64_t less = now / 2; less >= kShortest && !over(); less /= 2) {
      tell(fmt::format("--sequence {}", less));
      PlanQuestion changed = question_;
      changed.training.sequence = less;
      if (keep(AdviceKind::sequence, fmt::format("--sequence {} in place of {}", less, now), less,
               look(std::move(changed))))
        return;
    }
  }

  PlanQuestion question_;
  const AdviceOptions& options_;
  const SearchFunction& searching_;
  std::vector<Advice> list_;
  bool stopped_ = false;
};

constexpr std::array<std::string_view, 6> kKinds{"knob",  "memory",   "devices",
                                                 "batch", "sequence", "throughput"};

}  // namespace

std::string_view name_of(AdviceKind kind) {
  return kKinds[static_cast<std::size_t>(kind)];
}

AdviceList advise_unfit(const PlanQuestion& question, const SearchResult& found, const AdviceOptions& options,
                        const SearchFunction& searching) {
  return Adviser(question, options, searching).advise(found);
}

}  // namespace nest::solve
