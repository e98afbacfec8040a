#include "nest/report/page/report_roofline.hpp"

#include <map>
#include <utility>

#include "nest/estimate/kernels/precision_math.hpp"
#include "nest/price/layers/cost_book.hpp"

namespace nest::report {
namespace {

struct UsedType {
  std::int64_t count = 0;
  const Strategy* strategy = nullptr;  // of the first stage that has such a layer
};

Value operators_of(const LayerType& layer, LayerPricer& pricer, Precision precision) {
  Value list = Value::array();
  LayerType alone;  // with one operator after the other, of which it knows what a backward pass is spared
  alone.tensors = layer.tensors;
  for (const Operator& op : layer.operators) {
    if (op.kind == OperatorKind::collective) continue;
    const OperatorTime time = pricer.time(layer, op, precision);
    if (time.forward.value + time.backward().value <= 0) continue;
    alone.operators = {op};
    const auto bytes = (layer.bytes_read(op) + layer.bytes_written(op)).value;
    Value v = Value::object();
    v.set("name", op.name).set("kind", row_of(op.kind).name);
    v.set("forward_flops", op.forward_flops.value).set("forward_bytes", bytes);
    v.set("backward_flops", (2 * op.forward_flops - alone.saved_flops()).value);
    v.set("forward_s", time.forward.value).set("backward_s", time.backward().value);
    v.set("low", layer.low_product(op)).set("source", name_of(time.source));
    list.push(std::move(v));
  }
  return list;
}

}  // namespace

Value roofline_value(const Plan& plan, const PlanInputs& inputs) {
  if (inputs.profile() != nullptr) return {};
  const Precision precision = plan.training.precision;
  CostBook book(inputs);
  LayerPricer pricer(inputs.recipe, inputs.cluster);
  const Model& model = *book.model(plan.training.micro_batch, plan.training).model;
  std::map<std::size_t, UsedType> types;
  for (const Stage& stage : plan.stages) {
    for (const LayerId id : stage.layers) {
      UsedType& type = types[model.layers[id.index()].type];
      ++type.count;
      if (type.strategy == nullptr) type.strategy = &stage.strategy;
    }
  }
  Value layers = Value::array();
  for (const auto& [index, type] : types) {
    const LayerType& layer = book.sharded(plan.training, *type.strategy)[index].layer;
    Value v = Value::object();
    v.set("name", layer.name).set("count", type.count);
    v.set("operators", operators_of(layer, pricer, precision));
    layers.push(std::move(v));
  }
  const Accelerator& accelerator = inputs.cluster.accelerator();
  const MathType math = math_of(precision);
  const double bandwidth = accelerator.memory_bandwidth.value;
  Value v = Value::object();
  v.set("precision", name_of(precision)).set("peak_flops_per_s", peak_of(accelerator, precision).value);
  v.set("plain_peak_flops_per_s", peak_of(accelerator, Precision::bf16).value);
  v.set("reached_flops_per_s", peak_of(accelerator, precision).value * accelerator.matmul_share(math).value);
  v.set("bandwidth_bytes_per_s", bandwidth);
  v.set("reached_bytes_per_s", bandwidth * accelerator.memory_share().value);
  v.set("micro_batch", plan.training.micro_batch).set("layers", std::move(layers));
  return v;
}

}  // namespace nest::report
