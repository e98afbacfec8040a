#include "nest/price/run/run_cost.hpp"

#include <cmath>

#include "nest/base/error.hpp"
#include "nest/estimate/operators/operator_products.hpp"
#include "nest/model/tuned_model.hpp"
#include "nest/price/stage_cost.hpp"

namespace nest::price {
namespace {

constexpr double kWattsPerKilowatt = 1e3;

std::optional<double> price_of(const RunTerms& terms, const Accelerator& chip) {
  std::string others;
  std::optional<double> any = chip.price_per_hour;
  for (const auto& [name, price] : terms.prices) {
    if (name == chip.name || (!chip.base.empty() && name == chip.base)) return price;
    if (name.empty())
      any = price;
    else
      others += (others.empty() ? "" : " and ") + name;
  }
  if (!any && !others.empty())
    throw InputError("", "price", "there is one for " + others + ", but none for " + chip.name,
                     "try " + chip.name + "=2.5");
  return any;
}

}  // namespace

Bytes state_bytes(const PlanInputs& inputs, const Training& training) {
  const Recipe recipe = recipe_for(inputs.recipe, training);
  const auto each = recipe.weight_bytes_per_parameter() + recipe.optimizer_bytes_per_parameter();
  const LayerProfile* profile = inputs.profile();
  const auto of_model = [&] {
    const Model model =
        build_model(std::get<ModelSpec>(inputs.source), {.sequence = training.sequence, .mtp = training.mtp});
    // Modules for multi-token prediction are outside the published count.
    return training.tuning.whole() && !training.mtp ? model.parameters()
                                                    : tuned(model, training.tuning).trained_parameters();
  };
  const std::int64_t parameters = profile != nullptr ? profile->parameters() : of_model();
  if (recipe.optimizer != Optimizer::muon || profile != nullptr) return Bytes{parameters} * each;
  const Model model = tuned(
      build_model(std::get<ModelSpec>(inputs.source), {.sequence = training.sequence, .mtp = training.mtp}),
      training.tuning);
  std::int64_t matrices = 0;
  for (const Layer& layer : model.layers) {
    const LayerType& type = model.types[layer.type];
    for (const WeightMatrix& matrix : muon_matrices(type))
      matrices += elements(type.tensor(matrix.tensor).shape);
  }
  const std::int64_t fewer = recipe.optimizer_bytes_per_parameter() - recipe.matrix_bytes_per_parameter();
  return Bytes{parameters * each - matrices * fewer};
}

RunCosts::RunCosts(const RunTerms& terms, const PlanInputs& inputs, const Training& training)
    : terms_(terms), node_(inputs.cluster.tree().devices_in(LevelId{0}, 0)) {
  const Accelerator& chip = inputs.cluster.accelerator();
  price_ = price_of(terms, chip);
  power_ = terms.power ? terms.power : chip.power;
  if (terms.electricity && !power_)
    throw InputError("", "electricity", "nothing is known of the power of " + chip.name,
                     "give it with --power, such as 1kW");
  if (terms.mtbf) checkpoint_ = terms.checkpoint.value_or(state_bytes(inputs, training));
}

Goodput RunCosts::goodput(std::int64_t devices) const {
  Goodput out;
  if (!terms_.mtbf) return out;
  out.failures.between = terms_.mtbf->between(devices, node_);
  const BytesPerSecond rate{terms_.bandwidth.value_or(kCheckpointBandwidth).sum(devices, node_)};
  out.failures.checkpoint = checkpoint_ / rate;
  out.failures.restart = terms_.restart.value_or(kRestart);
  out.interval = best_interval(out.failures);
  out.share = price::goodput(out.failures, out.interval);
  return out;
}

RunCost RunCosts::of(const RunRate& rate, double tokens) const {
  RunCost out;
  const double seconds = tokens / (rate.tokens_per_s * rate.uptime * goodput(rate.devices).share);
  const double hours = seconds / kSecondsPerHour;
  out.days = seconds / kSecondsPerDay;
  out.device_hours = static_cast<double>(rate.devices) * hours;
  if (power_) out.energy_kwh = out.device_hours * power_->value / kWattsPerKilowatt;
  if (costs_money())
    out.money =
        out.device_hours * price_.value_or(0) + out.energy_kwh.value_or(0) * terms_.electricity.value_or(0);
  return out;
}

Value to_value(const Goodput& goodput, Bytes checkpoint) {
  const Failures& f = goodput.failures;
  Value v = Value::object();
  v.set("share", goodput.share).set("mtbf_s", f.between.value).set("checkpoint_bytes", checkpoint.value);
  v.set("checkpoint_s", f.checkpoint.value).set("interval_s", goodput.interval.value);
  v.set("restart_s", f.restart.value);
  return v;
}

void add_cost(Value& out, const RunCosts& costs, const RunRate& rate, double tokens) {
  const RunCost cost = costs.of(rate, tokens);
  const RunCost trillion = costs.of(rate, kTrillion);
  out.set("device_hours", cost.device_hours);
  if (cost.money) out.set("cost", *cost.money);
  if (cost.energy_kwh) out.set("energy_kwh", *cost.energy_kwh);
  Value each = Value::object();
  each.set("device_hours", trillion.device_hours);
  if (trillion.money) each.set("cost", *trillion.money);
  if (trillion.energy_kwh) each.set("energy_kwh", *trillion.energy_kwh);
  out.set("per_trillion_tokens", std::move(each));
  if (costs.fails()) out.set("goodput", to_value(costs.goodput(rate.devices), costs.checkpoint()));
}

}  // namespace nest::price
