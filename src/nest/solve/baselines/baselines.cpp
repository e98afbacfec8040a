#include "nest/solve/baselines/baselines.hpp"

#include <algorithm>
#include <array>

#include "nest/base/stopwatch.hpp"
#include "nest/solve/baselines/alpa/alpa.hpp"
#include "nest/solve/baselines/flat.hpp"
#include "nest/solve/baselines/manual/manual.hpp"
#include "nest/solve/baselines/mcmc/mcmc.hpp"
#include "nest/solve/baselines/no_memory.hpp"
#include "nest/solve/baselines/phaze.hpp"

namespace nest::solve {
namespace {

constexpr std::array kBaselines{
    Baseline{
        .name = "manual",
        .title = "the expert recipe of the Megatron papers",
        .does = "Tensor parallelism as wide as the model needs to fit, inside the node and up to what the "
                "heads allow; where that "
                "is not enough, the fewest equal pipeline stages; data parallelism for the rest; "
                "recomputation only where "
                "nothing fits without; the micro-batch by trial. With given degrees: the best stage "
                "boundaries and placement "
                "for them.",
        .knows =
            "Memory, the size of a node, what heads and experts allow, and the full price when it compares "
            "micro-batches.",
        .ignores = "Trade-offs between degrees, uneven stages, interleaving, network levels beyond the node.",
        .simplified = "A fixed order of rules; a real expert would also try variants on the machine.",
        .find = find_manual},
    Baseline{
        .name = "mcmc",
        .title = "simulated annealing, in the manner of FlexFlow and TopoOpt",
        .does = "Walks at random from data parallelism through plans that differ in one or two choices "
                "(degrees, stage "
                "boundaries, placement), keeps the better ones and, ever more rarely, worse ones, and goes "
                "back to the "
                "best when it is stuck. Seed and budget are the user's.",
        .knows = "The whole cost model: network levels, memory, ZeRO, one recomputation for the plan. Plans "
                 "that do "
                 "not fit count as slower, so that it can leave them.",
        .ignores = "Interleaved schedules, and recomputation that differs between stages. It has no bound: "
                   "it cannot "
                   "say how far the best plan is.",
        .simplified =
            "FlexFlow and TopoOpt choose a split and devices for every operator and price with a simulator; "
            "here one strategy holds for all layers, the placement follows our rule, and our price stands "
            "for the simulator. TopoOpt also changes the network. Neither knows ZeRO or recomputation.",
        .find = find_mcmc},
    Baseline{
        .name = "alpa",
        .title = "Alpa's two levels, without its hardware profiler (Alpa-E)",
        .does = "Splits the operators of each layer over a stage's mesh by dynamic programming, with the "
                "cost of moving "
                "tensors between layouts; then cuts the layers into stages that minimise the sum of the "
                "stages' times "
                "plus (micro-batches - 1) times the longest. Takes the first of its choices that fits.",
        .knows = "Kernel times from our estimator, one network inside nodes and one between them, the layout "
                 "of every "
                 "tensor, the sums of gradients over copies.",
        .ignores =
            "Network levels above the second, contention, sends between stages, overlap, interleaving and "
            "context parallelism. Memory is only checked when a plan is ready.",
        .simplified =
            "A dynamic program over the operators of our layers stands for the integer program. Stages have "
            "equal meshes and one tensor degree, because plans here do; remarks say what the freer choice "
            "was believed to gain. Recomputation, a user's switch in Alpa, is tried off and then on; "
            "optimizer states are sharded (ZeRO 1) and experts spread as far as allowed.",
        .find = find_alpa},
    Baseline{
        .name = "phaze",
        .title = "Phaze's dynamic program over a flat network",
        .does = "An exact dynamic program over pipeline, data, tensor and expert degrees and stage "
                "boundaries, with one "
                "bandwidth between all devices. Its plan is then placed on the real cluster.",
        .knows = "Memory, recomputation of everything or of nothing, uneven stages with 1F1B.",
        .ignores =
            "Network levels: it cannot tell a node from a spine. ZeRO, interleaving, context parallelism and "
            "recomputation that differs between stages are not in its space.",
        .simplified =
            "Only the placement half of Phaze, without its search for the accelerator; our search with these "
            "choices fixed stands for its program.",
        .find = find_phaze},
    Baseline{.name = "flat",
             .title = "ours with the network collapsed to one level",
             .does = "Our search, told that one switch as fast as the innermost level joins all devices. Its "
                     "plan is then "
                     "placed on the real cluster.",
             .knows = "Memory, compute and every choice of ours.",
             .ignores = "Network levels: what the paper's second idea brings.",
             .simplified = "",
             .find = find_flat},
    Baseline{.name = "no-memory",
             .title = "ours with memory checked only afterwards",
             .does = "Our search with endless memory; of its eight best plans the first that fits is taken.",
             .knows = "The network, compute and every choice of ours.",
             .ignores = "Memory until it is too late, so that it has no reason to recompute or to shard: "
                        "what the paper's "
                        "third idea brings.",
             .simplified = "",
             .find = find_no_memory},
};

}  // namespace

std::span<const Baseline> baselines() {
  return kBaselines;
}

const Baseline* find_baseline(std::string_view name) {
  const auto at =
      std::find_if(kBaselines.begin(), kBaselines.end(), [&](const Baseline& b) { return b.name == name; });
  return at == kBaselines.end() ? nullptr : &*at;
}

BaselineResult ask_baseline(const Baseline& baseline, const PlanQuestion& question,
                            const BaselineOptions& options) {
  const Stopwatch watch;
  BaselineResult result;
  try {
    if (question.options.deadline.over()) throw Stopped{};
    return baseline.find(question, options);
  } catch (const Stopped&) {
    result.status = PlanStatus::limit;
    result.reason = kNotFinished;
    result.search_time = watch.elapsed();
  }
  return result;
}

}  // namespace nest::solve
