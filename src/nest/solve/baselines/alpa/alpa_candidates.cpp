#include "nest/solve/baselines/alpa/alpa_candidates.hpp"

#include <algorithm>
#include <tuple>

#include "nest/base/error.hpp"
#include "nest/network/cells/placement.hpp"
#include "nest/plan/plan.hpp"
#include "nest/plan/schedules/pipeline_schedule.hpp"
#include "nest/question/choice_values.hpp"
#include "nest/solve/baselines/alpa/alpa_stages.hpp"

namespace nest::solve::alpa {
namespace {

// Of strategies with one tensor degree and one use of sequence parallelism: the least context (Alpa has
// none) and expert tensor degree, and experts spread over as many devices as there are, within a node or
// over all of it.
std::vector<Strategy> offered(const PlanQuestion& question, const TwoLevelMesh& mesh) {
  std::vector<Strategy> all = strategy_values(question.inputs, question.training, question.space);
  // Its schedules have no chunks, and exchange tokens as 1F1B does.
  std::erase_if(all, [&](const Strategy& s) {
    return !go_together(s, Schedule::one_f_one_b, question.inputs, question.space);
  });
  std::vector<Strategy> kept;
  const auto key = [](const Strategy& s) { return std::tuple(s.tensor, s.shards_sequence()); };
  const auto plainer = [](const Strategy& s) {
    return std::tuple(s.context, s.expert_tensor_degree(), s.context_key());
  };
  for (const Strategy& s : all) {
    const auto spreads_more = [&](const Strategy& o, bool in_node) {
      if (key(o) != key(s)) return false;
      if (plainer(o) != plainer(s)) return plainer(o) < plainer(s);
      return o.expert > s.expert && (!in_node || o.cell() <= mesh.node);
    };
    const auto best = [&](bool in_node) {
      return std::none_of(all.begin(), all.end(),
                          [&](const Strategy& o) { return spreads_more(o, in_node); });
    };
    if (best(false) || (s.cell() <= mesh.node && best(true))) kept.push_back(s);
  }
  return kept;
}

// No two candidates have the same: ties have one order.
auto key_of(const Candidate& c) {
  const Strategy& s = c.parallelism.strategy;
  return std::tuple(c.training.micro_batch, s.tensor, s.shards_sequence(), s.expert, c.parallelism.data,
                    c.parallelism.pipeline);
}

class Offers {
 public:
  Offers(const PlanQuestion& question, const TwoLevelMesh& mesh, CostBook& book, LayerBeliefs& beliefs)
      : question_(question), space_(question.space), mesh_(mesh), book_(book), beliefs_(beliefs) {}

  std::vector<Candidate> all() {
    list();
    std::sort(found_.begin(), found_.end(), [](const Candidate& a, const Candidate& b) {
      return std::tuple(-a.parallelism.devices(), key_of(a)) <
             std::tuple(-b.parallelism.devices(), key_of(b));
    });
    keep_most_devices();
    const auto whole = [&](const Candidate& c) {
      return is_submesh(mesh_, c.parallelism.devices() / c.parallelism.pipeline);
    };
    if (std::any_of(found_.begin(), found_.end(), whole))
      std::erase_if(found_, [&](const Candidate& c) { return !whole(c); });
    const bool again = !recompute_choices(space_).allows(RecomputePolicy::none);
    for (Candidate& c : found_) {
      question_.options.deadline.look();
      const std::vector<Seconds> times = beliefs_.times(c.training.micro_batch, c.split(again));
      c.firsts = firsts_of(c, times);
      c.believed = believed_step(times, c.firsts, c.training.micro_batches);
    }
    std::sort(found_.begin(), found_.end(), [](const Candidate& a, const Candidate& b) {
      return std::tuple(a.believed, key_of(a)) < std::tuple(b.believed, key_of(b));
    });
    return std::move(found_);
  }

 private:
  void list() {
    const std::vector<Strategy> strategies = offered(question_, mesh_);
    for (const std::int64_t b : micro_batch_values(question_.inputs, question_.training, space_)) {
      Training training = question_.training;
      training.micro_batch = b;
      try {
        layers_ = static_cast<std::int64_t>(beliefs_.units(b).size());
      } catch (const InputError&) {  // longer sequences than the model has positions
        continue;
      }
      for (const Strategy& s : strategies) {
        question_.options.deadline.look();
        if (!book_.refusal(training, s).empty()) continue;
        for (const std::int64_t q : copies_values(training, space_, b, s, mesh_.devices / s.cell())) {
          const std::int64_t most = std::min(layers_, mesh_.devices / (s.cell() * q));
          training.micro_batches = training.global_batch / (b * s.side() * q);
          for (const std::int64_t p : space_.pipeline.values(most)) {
            Candidate c{training, {}, {}, {}};
            c.parallelism.strategy = s;
            c.parallelism.pipeline = p;
            c.parallelism.data = s.side() * q;
            found_.push_back(std::move(c));
          }
        }
      }
    }
  }

  // Where the stages of a candidate begin, of which none ends between layers that stand together.
  [[nodiscard]] std::vector<std::size_t> firsts_of(const Candidate& c, const std::vector<Seconds>& times) {
    const std::vector<std::size_t> units = beliefs_.units(c.training.micro_batch);
    std::vector<Seconds> of_unit(units.size());
    std::size_t unit = 0;
    for (std::size_t i = 0; i < times.size(); ++i) {
      if (unit + 1 < units.size() && i == units[unit + 1]) ++unit;
      of_unit[unit] += times[i];
    }
    std::vector<std::size_t> firsts = equal_stages(of_unit, static_cast<std::size_t>(c.parallelism.pipeline));
    for (std::size_t& first : firsts) first = units[first];
    return firsts;
  }

  // Of those that can be completed; the others are worth no look.
  void keep_most_devices() {
    std::vector<Candidate> kept;
    for (Candidate& c : found_) {
      question_.options.deadline.look();
      if (!kept.empty() && c.parallelism.devices() < kept.front().parallelism.devices()) break;
      if (complete(c)) kept.push_back(std::move(c));
    }
    found_ = std::move(kept);
  }

  [[nodiscard]] bool complete(Candidate& c) const {
    Parallelism& p = c.parallelism;
    // A stage's submesh is one piece: all copies lie side by side.
    const std::vector<std::int64_t> inner = inner_values(space_, p.copies());
    if (inner.empty() || !space_.interleave.has(1)) return false;
    p.data_inner = inner.back();
    const auto& first = space_.first_stage_first;
    p.first_stage_first = !first.empty() && std::find(first.begin(), first.end(), false) == first.end();
    return place(p) && schedule(c);
  }

  [[nodiscard]] bool place(Parallelism& p) const {
    const DeviceTree& tree = question_.inputs.cluster.sorted().tree();
    std::vector<std::int64_t> blocks{0};
    if (!space_.block_devices.open()) blocks = space_.block_devices.values(tree.devices());
    for (const std::int64_t block : blocks) {
      const PlacementShape shape{p.strategy.cell(), p.pipeline, p.data_inner,
                                 p.outer(),         block,      p.first_stage_first};
      p.block_devices = block;
      if (place_cells(tree, shape)) return true;
    }
    return false;
  }

  // 1F1B where the space has it, and ZeRO 1: Alpa sums gradients by reduce-scatter and gathers updated
  // weights, which takes no longer than an all-reduce.
  [[nodiscard]] bool schedule(Candidate& c) const {
    Parallelism& p = c.parallelism;
    const std::int64_t group = p.copies() * p.strategy.cell() / p.strategy.tensor;
    const std::vector<Schedule> allowed = schedule_values(space_);
    for (const PipelineSchedule* own : kSchedules) {
      const Schedule s = own->id;
      if (own->chunked() || std::find(allowed.begin(), allowed.end(), s) == allowed.end()) continue;
      p.schedule = s;
      for (const Zero zero : {Zero(1), Zero(0), Zero(2), Zero(3)}) {
        const bool usual = group > 1 || !zero.shards_anything();
        if (space_.zero.open() ? !usual : !space_.zero.has(zero.number())) continue;
        p.zero = usual_zero(space_, zero, p.strategy, p.pipeline);
        if (shard(p, group) && allowed_by_rules(c)) return true;
      }
    }
    return false;
  }

  // ZeRO over the whole group, or the most ranks that the space allows.
  [[nodiscard]] bool shard(Parallelism& p, std::int64_t group) const {
    p.zero_shards = 0;
    if (!p.zero.shards_anything() || space_.zero_shards.open()) return true;
    for (std::int64_t n = group; n > 0; --n) {
      if (group % n != 0 || !space_.zero_shards.has(n)) continue;
      p.zero_shards = n;
      return true;
    }
    return false;
  }

  [[nodiscard]] bool allowed_by_rules(const Candidate& c) const {
    if (space_.rules == nullptr) return true;
    if (space_.rules->contiguous_stages && c.parallelism.pipeline > 1) {
      const std::vector<LayerId> order = beliefs_.order(c.training.micro_batch);
      if (!std::is_sorted(order.begin(), order.end())) return false;
    }
    return space_.rules->broken({c.training, c.parallelism}) == nullptr;
  }

  const PlanQuestion& question_;
  const SearchSpace& space_;
  const TwoLevelMesh& mesh_;
  CostBook& book_;
  LayerBeliefs& beliefs_;
  std::int64_t layers_ = 1;
  std::vector<Candidate> found_;
};

}  // namespace

Seconds believed_step(const std::vector<Seconds>& times, const std::vector<std::size_t>& firsts,
                      std::int64_t micro_batches) {
  Seconds sum;
  Seconds most;
  for (std::size_t s = 0; s < firsts.size(); ++s) {
    const std::size_t last = s + 1 < firsts.size() ? firsts[s + 1] : times.size();
    Seconds own;
    for (std::size_t i = firsts[s]; i < last; ++i) own += times[i];
    sum += own;
    most = std::max(most, own);
  }
  return sum + static_cast<double>(micro_batches - 1) * most;
}

RecomputeChoices recompute_choices(const SearchSpace& space) {
  RecomputeChoices choices(space.recompute);
  choices.drop_selective();
  if (space.rules != nullptr && space.rules->whole_recompute) choices.drop_parts();
  return choices;
}

std::vector<Candidate> candidates(const PlanQuestion& question, const TwoLevelMesh& mesh, CostBook& book,
                                  LayerBeliefs& beliefs) {
  return Offers(question, mesh, book, beliefs).all();
}

}  // namespace nest::solve::alpa
