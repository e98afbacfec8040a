#include "nest/frameworks/common/imported_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "nest/base/document/csv.hpp"
#include "nest/cluster/catalog.hpp"
#include "nest/plan/schedules/schedule.hpp"
#include "nest/price/price.hpp"

namespace nest::frameworks {

void ImportedRun::warn(const std::string& sentence) const {
  warnings.push_back(fmt::format("{}: {}", question.file, sentence));
}

void ImportedRun::fail(const std::string& place, const std::string& what) const {
  throw InputError(question.file, place, what);
}

std::int64_t ImportedRun::assumed_ranks() const {
  const Parallelism& p = plan.parallelism;
  const Strategy& s = p.strategy;
  const std::int64_t dense = s.tensor * s.context * p.pipeline;
  const std::int64_t expert = s.expert_tensor_degree() * s.expert * p.pipeline;
  const std::int64_t sequences = global_batch.value_or(0) / plan.training.micro_batch;
  const auto fits = [&](std::int64_t copies) {
    return dense * copies % expert == 0 && (sequences == 0 || sequences % copies == 0) &&
           (!rounds || sequences / copies % p.pipeline == 0);
  };
  std::int64_t most = inputs.cluster.devices() / dense;
  while (most > 1 && !fits(most)) --most;
  most = std::max<std::int64_t>(1, most);
  if (most * dense < inputs.cluster.devices())
    warn(fmt::format("the number of ranks is not in it: {} are assumed, --devices sets another",
                     most * dense));
  return most * dense;
}

void ImportedRun::settle_ranks() {
  Parallelism& p = plan.parallelism;
  const Strategy& s = p.strategy;
  constexpr std::int64_t kMost = 1'000'000;  // more would leave the range of their product
  for (const std::int64_t degree :
       {s.tensor, s.context, s.expert, s.expert_tensor_degree(), p.pipeline, data, ranks, question.devices}) {
    if (degree > kMost) fail("", fmt::format("a degree of {}: the most is {}", degree, kMost));
  }
  const std::int64_t dense = s.tensor * s.context * p.pipeline;
  const std::int64_t expert = s.expert_tensor_degree() * s.expert * p.pipeline;
  std::int64_t world = question.devices > 0 ? question.devices : ranks;
  if (world == 0) world = data > 0 ? dense * data : assumed_ranks();
  for (const auto& [parts, what] :
       {std::pair(dense, "tensor x context x pipeline"), {expert, "expert tensor x expert x pipeline"}}) {
    if (parts > world || world % parts != 0)
      fail("", fmt::format("{} ranks are not a multiple of {} = {}", world, what, parts));
  }
  p.data = world / dense;
  if (data > 0 && p.data != data)
    fail("",
         fmt::format("{} ranks leave {} for data parallelism, and the file says {}", world, p.data, data));
  if (p.data % s.side() != 0)
    fail("", fmt::format("{} data ranks are not a multiple of the {} that share experts", p.data, s.side()));
  p.data_inner = 0;
}

void ImportedRun::settle_batch(const std::string& key) {
  Training& t = plan.training;
  const std::int64_t once = t.micro_batch * plan.parallelism.data;
  t.global_batch = global_batch.value_or(once);
  if (t.global_batch % once != 0) {
    fail(key, fmt::format("{} is not a multiple of micro-batch {} x data {}", t.global_batch, t.micro_batch,
                          plan.parallelism.data));
  }
  t.micro_batches = t.global_batch / once;
}

void ImportedRun::settle_shards(Zero zero, std::optional<std::int64_t> shards) {
  Parallelism& p = plan.parallelism;
  p.zero = zero;
  p.zero_shards = zero.shards_anything() ? shards.value_or(p.data * p.strategy.context) : 0;
}

void cut_stages(Plan& plan, const std::vector<std::int64_t>& layers_of_parts) {
  const Parallelism& p = plan.parallelism;
  plan.stages.assign(static_cast<std::size_t>(p.pipeline), {});
  std::int32_t next = 0;
  for (std::size_t i = 0; i < layers_of_parts.size(); ++i) {
    Stage& stage = plan.stages[place_of_part(p.schedule, plan.stages.size(), i).stage];
    std::vector<LayerId> chunk;
    chunk.reserve(static_cast<std::size_t>(layers_of_parts[i]));
    for (std::int64_t k = 0; k < layers_of_parts[i]; ++k) chunk.emplace_back(next++);
    stage.layers.insert(stage.layers.end(), chunk.begin(), chunk.end());
    if (p.interleave > 1) stage.chunks.push_back(std::move(chunk));
  }
}

void ImportedRun::recompute_all(const Recompute& recompute) {
  for (Stage& stage : plan.stages) {
    stage.strategy = plan.parallelism.strategy;
    stage.recompute = recompute;
  }
  plan.default_recompute = recompute;
}

void ImportedRun::place() {
  Parallelism& p = plan.parallelism;
  const Strategy& s = p.strategy;
  const std::vector<std::int64_t> devices = devices_of_ranks();
  if (p.devices() > inputs.cluster.devices()) return;  // refused when it is priced
  const std::int64_t dense = s.tensor * s.context;
  for (std::size_t stage = 0; stage < plan.stages.size(); ++stage) {
    const auto at = static_cast<std::int64_t>(stage);
    for (std::int64_t copy = 0; copy < p.copies(); ++copy) {
      Cell& cell = plan.stages[stage].devices.emplace_back();
      for (std::int64_t j = 0; j < s.cell(); ++j) {
        const std::int64_t side = j / dense + s.side() * copy;
        const std::int64_t rank =
            j % dense + dense * (whole_copies ? at + p.pipeline * side : side + p.data * at);
        cell.emplace_back(static_cast<std::int32_t>(devices[static_cast<std::size_t>(rank)]));
      }
    }
  }
  p.data_inner = whole_copies ? 1 : 0;
  p.first_stage_first = true;
}

std::vector<std::int64_t> ImportedRun::devices_of_ranks() const {
  const std::int64_t world = plan.parallelism.devices();
  std::vector<std::int64_t> devices(static_cast<std::size_t>(world));
  std::iota(devices.begin(), devices.end(), 0);
  if (question.rank_map.empty()) return devices;
  const CsvTable table(question.rank_map_file, question.rank_map);
  table.require({"rank", "device"});
  if (static_cast<std::int64_t>(table.rows().size()) != world)
    throw InputError(question.rank_map_file, "",
                     fmt::format("{} ranks, the arguments have {}", table.rows().size(), world));
  for (const CsvRow& row : table.rows()) {
    const std::int64_t rank = row.whole("rank", 0).value_or(0);
    if (rank >= world) row.fail("rank", fmt::format("a rank below {}", world));
    devices[static_cast<std::size_t>(rank)] = row.whole("device", 0).value_or(0);
  }
  return devices;
}

OpenPlan ImportedRun::finish() {
  try {
    Pricer pricer(inputs);
    if (plan.stages.empty()) plan = pricer.complete(std::move(plan));  // the even split
    place();
    plan = pricer.complete(std::move(plan));
  } catch (const InputError& error) {
    fail(error.place(), error.problem());
  }
  return {std::move(plan), std::move(inputs)};
}

PlanInputs load_run_inputs(const ImportQuestion& question, const std::string& recipe) {
  return {{}, {}, load_cluster(question.cluster), load_recipe(question.recipe.value_or(recipe)), {}};
}

void load_run_model(ImportedRun& run) {
  if (!run.question.model)
    throw InputError(run.question.file, "", "it names no model", "name one with --model");
  set_model(run.inputs, *run.question.model, run.warnings);
}

}  // namespace nest::frameworks
