#include "nest/solve/baselines/baselines.hpp"

#include <algorithm>
#include <array>

#include "nest/solve/baselines/alpa.hpp"
#include "nest/solve/baselines/flat.hpp"
#include "nest/solve/baselines/manual.hpp"
#include "nest/solve/baselines/mcmc.hpp"
#include "nest/solve/baselines/no_memory.hpp"
#include "nest/solve/baselines/phaze.hpp"

namespace nest {
namespace {

constexpr std::array kBaselines{
    Baseline{
        "manual", "the expert recipe of the Megatron papers",
        "Tensor parallelism inside the node as wide as the heads allow, the fewest equal pipeline stages "
        "that "
        "fit in memory, data parallelism for the rest, recomputation only where nothing fits without, the "
        "micro-batch by trial.",
        "Memory, exactly; the size of a node; the price of its micro-batches.",
        "The network beyond the node, uneven stages, narrower tensor groups, interleaving.",
        "Experts learn from failed runs; this one asks our price.", find_manual},
    Baseline{
        "mcmc", "simulated annealing, in the manner of FlexFlow and TopoOpt",
        "A seeded walk over degrees, stage boundaries and placements; better plans are taken, worse ones "
        "with a "
        "chance that falls with time.",
        "The whole network and memory: every step is priced as ours are.",
        "Any bound: it cannot tell how far from the best it is.",
        "FlexFlow walks over configurations of single operators and TopoOpt over topologies too; here one "
        "strategy holds for the model. Neither knows ZeRO or recomputation; here both are choices of the "
        "walk.",
        find_mcmc},
    Baseline{
        "alpa", "Alpa's two levels without its hardware profiler (Alpa-E)",
        "Shards the matrix products of each layer over every submesh shape by dynamic programming, then cuts "
        "the "
        "layers into stages on submeshes by the dynamic program over the sum and the largest of the stages' "
        "times.",
        "A mesh of two levels: devices of a node, and nodes.",
        "Deeper levels of the network and oversubscription; memory, which is only checked afterwards: the "
        "first "
        "of its plans that fits is taken.",
        "Times come from our estimator in place of a profiler; the integer program is a dynamic program over "
        "the operators of one layer, and our layers are its layers. Stages of one plan have submeshes of one "
        "shape, because plans here have.",
        find_alpa},
    Baseline{
        "phaze", "Phaze's dynamic program over a flat network",
        "Ours, with one bandwidth between all devices: pipeline, data, tensor and expert parallelism, 1F1B, "
        "recomputation of everything or nothing.",
        "Memory, exactly; compute; how many devices there are.",
        "Network levels: it cannot tell a node from a spine. ZeRO, interleaving and context parallelism are "
        "not "
        "in its space.",
        "Phaze also designs the accelerator and schedules operators by integer programming; here the "
        "accelerator "
        "is given and operators come from our estimator.",
        find_phaze},
    Baseline{"flat", "ours with the network collapsed to one level",
             "The whole search on a cluster whose devices all have the innermost level's bandwidth to each "
             "other; the "
             "plan is then placed on the real one.",
             "Memory, compute and every choice of ours.",
             "Network levels: what the paper's second idea brings.", "", find_flat},
    Baseline{"no-memory", "ours with memory checked only afterwards",
             "The whole search with endless memory; of its eight best plans the fastest that fits is taken.",
             "The network, compute and every choice of ours.",
             "Memory inside the search: what the paper's third idea brings.", "", find_no_memory},
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

}  // namespace nest
