#include "nest/price/price_rows.hpp"

#include <algorithm>
#include <limits>
#include <unordered_map>
#include <utility>

#include "nest/base/error.hpp"

namespace nest::price {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t kEvery = 4096;     // rows between two questions whether to go on
constexpr std::size_t kMostKept = 2048;  // plans whose stages are kept for rows that have the same

// What the stages of a plan of degrees depend on.
struct StageKey {
  std::array<std::int64_t, 15> of{};

  explicit StageKey(const Plan& plan) {
    const Parallelism& p = plan.parallelism;
    const Strategy& s = p.strategy;
    of = {s.tensor, static_cast<std::int64_t>(s.sequence_parallel), s.context,
          static_cast<std::int64_t>(s.context_method), s.context_inner, s.expert, s.expert_tensor,
          static_cast<std::int64_t>(s.dispatcher), static_cast<std::int64_t>(s.expert_overlap), p.pipeline,
          p.interleave, static_cast<std::int64_t>(p.schedule),
          static_cast<std::int64_t>(plan.default_recompute.policy), plan.default_recompute.layers,
          // The graph of the layers: the model at another sequence.
          plan.training.sequence};
  }
  bool operator==(const StageKey&) const = default;
};

struct HashKey {
  std::size_t operator()(const StageKey& key) const {
    std::size_t hash = 14695981039346656037U;
    for (const std::int64_t value : key.of) hash = (hash ^ static_cast<std::size_t>(value)) * 1099511628211U;
    return hash;
  }
};

// Copies that fill the devices.
void fill_devices(Plan& plan, std::int64_t devices) {
  Parallelism& p = plan.parallelism;
  if (p.data != 0 || devices <= 0) return;
  const Strategy& s = p.strategy;
  const std::int64_t pipeline = std::max<std::int64_t>(1, p.pipeline);
  const auto sane = [&](std::int64_t a, std::int64_t b) { return a >= 1 && b >= 1 && a <= devices / b; };
  if (!sane(s.tensor, s.context) || !sane(s.expert_tensor_degree(), s.expert)) return;  // refused later
  const std::int64_t cell = s.cell();
  if (!sane(cell, pipeline)) return;
  p.data = devices / (cell * pipeline) * s.side();
}

void reserve(PricedRows& out, std::size_t rows) {
  out = {};
  out.status.reserve(rows);
  out.reasons.reserve(rows);
  out.devices.reserve(rows);
  for (auto* column : {&out.step_s, &out.tokens_per_s, &out.mfu, &out.bubble_fraction, &out.memory_bytes,
                       &out.fits_probability})
    column->reserve(rows);
  for (auto& column : out.breakdown) column.reserve(rows);
}

void put(const Plan& plan, PricedPlan& priced, PricedRows& out) {
  const bool known = priced.status != PriceStatus::invalid;
  const Prediction& p = priced.predicted;
  const auto figure = [&](double value) { return known ? value : kUnknown; };
  out.status.push_back(priced.status);
  out.reasons.push_back(std::move(priced.reason));
  out.devices.push_back(known ? plan.parallelism.devices() : 0);
  out.step_s.push_back(figure(p.step.value));
  out.tokens_per_s.push_back(figure(p.tokens_per_s));
  out.mfu.push_back(figure(p.mfu));
  out.bubble_fraction.push_back(figure(p.bubble_fraction));
  std::int64_t most = 0;
  for (const StageCost& stage : priced.stages) most = std::max(most, stage.memory.total().value);
  out.memory_bytes.push_back(figure(static_cast<double>(most)));
  out.fits_probability.push_back(figure(p.fits_probability.value_or(kUnknown)));
  for (std::size_t i = 0; i < out.breakdown.size(); ++i)
    out.breakdown[i].push_back(figure((p.breakdown.*plan::kBreakdownKeys[i].member).value));
}

}  // namespace

Plan row_plan(Pricer& pricer, const PlanColumns& columns, std::size_t row, const RowOptions& options) {
  Plan plan = columns.plan(row);
  fill_devices(plan, options.devices);
  return pricer.complete(std::move(plan));
}

void price_rows(Pricer& pricer, const PlanColumns& columns, const RowOptions& options, PricedRows& out) {
  reserve(out, columns.size());
  std::unordered_map<StageKey, Plan, HashKey> kept;
  Plan plan;
  PricedPlan priced;
  for (std::size_t row = 0; row < columns.size(); ++row) {
    if (options.go_on && row % kEvery == 0 && !options.go_on(row)) return;
    columns.put(row, plan);
    fill_devices(plan, options.devices);
    if (kept.size() > kMostKept) kept.clear();
    Plan& own = kept.try_emplace(StageKey(plan)).first->second;
    own.training = plan.training;
    own.parallelism = plan.parallelism;
    own.default_recompute = plan.default_recompute;
    try {
      own = pricer.complete(std::move(own));
      pricer.price(own, priced);
    } catch (const InputError& error) {
      priced.status = PriceStatus::invalid;
      priced.reason = error.what();
    }
    put(own, priced, out);
  }
}

}  // namespace nest::price
