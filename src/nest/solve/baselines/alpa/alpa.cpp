#include "nest/solve/baselines/alpa/alpa.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "nest/base/stopwatch.hpp"
#include "nest/solve/baselines/alpa/alpa_candidates.hpp"
#include "nest/solve/baselines/alpa/alpa_stages.hpp"
#include "nest/solve/baselines/common/judge.hpp"

namespace nest::solve {
namespace {

using namespace alpa;

// Candidates that are checked and priced.
constexpr std::size_t kMostJudged = 64;
// The unequal split is only looked at for a note: layers in so many groups at most, guesses of the greatest
// latency this far apart, and only on clusters this small.
constexpr std::size_t kNoteGroups = 16;
constexpr double kNoteGap = 0.01;
constexpr std::int64_t kNoteDevices = 2048;

class Alpa {
 public:
  explicit Alpa(const PlanQuestion& question)
      : question_(question),
        mesh_(two_level_mesh(question.inputs.cluster)),
        book_(question.inputs),
        beliefs_(question, mesh_, book_),
        recompute_(recompute_choices(question.space)) {}

  BaselineResult find() {
    const Stopwatch watch;
    BaselineResult result;
    all_ = candidates(question_, mesh_, book_, beliefs_);
    judge_in_order(result);
    result.evaluations = beliefs_.transitions() + transitions_;
    result.search_time = watch.elapsed();
    return result;
  }

 private:
  void judge_in_order(BaselineResult& result) {
    if (all_.empty()) {
      result.reason = "no choice of degrees in the space is one that Alpa can make";
      return;
    }
    Pricer pricer = pricer_of(question_);
    std::optional<BaselineResult> first;
    const std::size_t most = std::min(all_.size(), kMostJudged);
    for (std::size_t rank = 0; rank < most; ++rank) {
      for (const bool again : policies()) {
        question_.options.deadline.look();
        std::optional<Plan> plan = plan_of(all_[rank], again);
        if (!plan) continue;
        ++transitions_;
        judge(*std::move(plan), pricer, result);
        if (result.status == PlanStatus::feasible) {
          result.believed = believed(all_[rank], again);
          add_notes(rank, again, first, result);
          return;
        }
        if (!first || !first->plan) {
          first = result;
          first->believed = believed(all_[rank], again);
        }
      }
    }
    if (!first) {
      result.reason = "no recomputation in the space is one that all stages can have";
      return;
    }
    result = *std::move(first);
    result.notes.push_back(
        fmt::format("none of the first {} of {} choices fits in memory", most, all_.size()));
  }

  // Whether the forward pass runs again, in the order of trying.
  [[nodiscard]] std::vector<bool> policies() const {
    std::vector<bool> list;
    if (recompute_.allows(RecomputePolicy::none)) list.push_back(false);
    if (recompute_.allows(RecomputePolicy::full)) list.push_back(true);
    if (list.empty()) list.push_back(true);  // only parts or selective: see plan_of
    return list;
  }

  [[nodiscard]] std::optional<Plan> plan_of(const Candidate& c, bool again) {
    const std::vector<LayerId> order = beliefs_.order(c.training.micro_batch);
    const LayerGraph& graph = book_.model(c.training).graph;
    Plan plan;
    plan.training = c.training;
    plan.parallelism = c.parallelism;
    for (std::size_t s = 0; s < c.firsts.size(); ++s) {
      const std::size_t last = s + 1 < c.firsts.size() ? c.firsts[s + 1] : order.size();
      Stage& stage = plan.stages.emplace_back();
      stage.strategy = c.parallelism.strategy;
      std::int64_t recomputable = 0;
      for (std::size_t i = c.firsts[s]; i < last; ++i) {
        stage.layers.push_back(order[i]);
        recomputable += graph.recomputes(order[i]) ? 1 : 0;
      }
      std::sort(stage.layers.begin(), stage.layers.end());
      const RecomputePolicy policy = again ? RecomputePolicy::full : RecomputePolicy::none;
      if (recompute_.allows(policy)) {
        stage.recompute = {policy, 0};
        continue;
      }
      const std::vector<Recompute> options = recompute_.of_stage(recomputable);
      if (options.empty()) return std::nullopt;
      stage.recompute = options.back();
    }
    const SearchSpace& space = question_.space;
    const bool same = space.same_recompute || (space.rules != nullptr && space.rules->same_recompute);
    const bool differs = std::any_of(plan.stages.begin(), plan.stages.end(), [&](const Stage& s) {
      return !(s.recompute == plan.stages.front().recompute);
    });
    if (same && differs) return std::nullopt;
    return plan;
  }

  [[nodiscard]] Seconds believed(const Candidate& c, bool again) {
    const std::vector<Seconds> times = beliefs_.times(c.training.micro_batch, c.split(again));
    return believed_step(times, c.firsts, c.training.micro_batches);
  }

  void add_notes(std::size_t rank, bool again, const std::optional<BaselineResult>& first,
                 BaselineResult& result) {
    if (first) {
      const char* how = again ? ", with recomputation" : "";
      result.notes.push_back(
          rank == 0 ? fmt::format("its first choice fits only with recomputation: {}", first->reason)
                    : fmt::format("its first choice does not fit ({}); choice {} of {} does{}", first->reason,
                                  rank + 1, all_.size(), how));
    }
    note_levels(result);
    try {
      note_free_specs(all_[rank], again, *result.believed, result);
      note_unequal(all_[rank], again, *result.believed, result);
    } catch (const Stopped&) {
      result.notes.emplace_back("a time limit left no time to say what freer choices would gain");
    }
  }

  void note_levels(BaselineResult& result) const {
    const auto& levels = question_.inputs.cluster.levels();
    if (levels.size() <= 2) return;
    result.notes.push_back(
        fmt::format("takes level {} and all above it for level {}", levels[2].name, levels[1].name));
  }

  // What specs would give that differ from operator to operator.
  void note_free_specs(const Candidate& c, bool again, Seconds own, BaselineResult& result) {
    if (question_.inputs.profile() != nullptr || c.parallelism.strategy.tensor == 1) return;
    question_.options.deadline.look();
    LayerSplit split = c.split(again);
    split.any_spec = true;
    const std::vector<Seconds> times = beliefs_.times(c.training.micro_batch, split);
    const auto stages = static_cast<std::size_t>(c.parallelism.pipeline);
    const Seconds step = believed_step(times, equal_stages(times, stages), c.training.micro_batches);
    if (step.value < 0.999 * own.value) {
      result.notes.push_back(
          fmt::format("operators that are split each in its own way would take {:.1f} % less, it believes; a "
                      "plan has one tensor degree for all",
                      100 * (1 - step.value / own.value)));
    }
  }

  // What stages on submeshes of different sizes would give, with as many sequences in a micro-batch; sizes
  // are those that some candidate has.
  void note_unequal(const Candidate& c, bool again, Seconds own, BaselineResult& result) {
    if (mesh_.devices > kNoteDevices || c.parallelism.devices() != mesh_.devices) return;
    const std::int64_t together = c.training.micro_batch * c.parallelism.data;
    StageProblem problem;
    problem.devices = mesh_.devices;
    problem.micro_batches = c.training.micro_batches;
    problem.gap = kNoteGap;
    problem.deadline = question_.options.deadline;
    std::vector<std::vector<std::vector<Seconds>>> sums;  // before each group, of each way to use a submesh
    for (const Candidate& other : all_) {
      if (other.training.micro_batch * other.parallelism.data != together) continue;
      const std::int64_t width = other.parallelism.devices() / other.parallelism.pipeline;
      const auto at = std::find(problem.submeshes.begin(), problem.submeshes.end(), width);
      const auto m = static_cast<std::size_t>(at - problem.submeshes.begin());
      if (m == problem.submeshes.size()) {
        problem.submeshes.push_back(width);
        sums.emplace_back();
      }
      sums[m].push_back(group_sums(beliefs_.times(other.training.micro_batch, other.split(again))));
    }
    if (problem.submeshes.size() < 2) return;
    problem.layers = sums.front().front().size() - 1;
    problem.latency = [&](std::size_t from, std::size_t to, std::size_t m) {
      std::optional<Seconds> least;
      for (const std::vector<Seconds>& way : sums[m]) {
        const Seconds time = way[to] - way[from];
        if (!least || time < *least) least = time;
      }
      return least;
    };
    const std::optional<StageSplit> split = solve_stages(problem);
    if (!split) return;
    transitions_ += split->transitions;
    if (split->step.value < 0.999 * own.value) {
      result.notes.push_back(fmt::format(
          "stages on {} submeshes that need not be equal would take {:.1f} % less, it believes; a plan has "
          "equal ones",
          split->stages.size(), 100 * (1 - split->step.value / own.value)));
    }
  }

  static std::vector<Seconds> group_sums(const std::vector<Seconds>& times) {
    const std::size_t groups = std::min(times.size(), kNoteGroups);
    std::vector<Seconds> sums(groups + 1);
    for (std::size_t i = 0; i < times.size(); ++i) sums[i * groups / times.size() + 1] += times[i];
    for (std::size_t g = 0; g < groups; ++g) sums[g + 1] += sums[g];
    return sums;
  }

  const PlanQuestion& question_;
  TwoLevelMesh mesh_;
  CostBook book_;
  LayerBeliefs beliefs_;
  RecomputeChoices recompute_;
  std::vector<Candidate> all_;
  std::int64_t transitions_ = 0;
};

}  // namespace

BaselineResult find_alpa(const PlanQuestion& question, const BaselineOptions& /*options*/) {
  return Alpa(question).find();
}

}  // namespace nest::solve
