// What must hold for every model of the zoo under every strategy that its shapes allow. The expected factors
// are worked out here from the axes of the whole layer, and not by the code under test.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "nest/base/error.hpp"
#include "nest/strategies/recompute.hpp"
#include "nest/strategies/strategy.hpp"
#include "nest/strategies/test_graph.hpp"
#include "nest/strategies/test_layers.hpp"

namespace nest::strategies {
namespace {

// Models with a fixed sequence (images) take no other. `old`: without flash kernels, and with dropout.
Model model_of(const std::string& name, bool old = false) {
  const ModelSpec spec = zoo_model(name);
  BuildOptions options;
  options.micro_batch = 2;
  options.mtp = true;
  options.flash = !old;
  options.dropout = old;
  try {
    options.sequence = 64;
    return build_model(spec, options);
  } catch (const InputError&) {
    options.sequence.reset();
    return build_model(spec, options);
  }
}

const std::map<std::string, Model>& zoo() {
  static const std::map<std::string, Model> kModels = [] {
    std::map<std::string, Model> models;
    for (const std::string& name : zoo_names()) models.emplace(name, model_of(name));
    return models;
  }();
  return kModels;
}

std::vector<Strategy> strategies() {
  std::vector<Strategy> all;
  for (const std::int64_t t : {1, 2, 4, 8}) {
    for (const bool sp : {false, true}) {
      for (const std::int64_t c : {1, 2, 4}) {
        for (const ContextMethod method : {ContextMethod::ring, ContextMethod::all_to_all}) {
          for (const std::int64_t e : {1, 2, 3, 4, 8, 16}) {
            for (const std::int64_t x : {std::int64_t{1}, t}) {
              if ((sp && t == 1) || (c == 1 && method != ContextMethod::ring)) continue;
              if (x == t && t == 1 && !all.empty() && all.back() == Strategy{t, sp, c, method, e, x})
                continue;
              all.push_back({t, sp, c, method, e, x});
            }
          }
        }
      }
    }
  }
  return all;
}

// Calls f(model, strategy) for each pair that arithmetic allows; returns how many there were.
template <class Call>
int for_each_pair(Call f) {
  int pairs = 0;
  const std::vector<Strategy> all = strategies();
  for (const auto& [name, model] : zoo()) {
    for (const Strategy& s : all) {
      const auto refusal = check_strategy(model, s);
      if (refusal && !refusal->framework) continue;
      f(model, s);
      ++pairs;
      if (testing::Test::HasFailure()) return pairs;
    }
  }
  return pairs;
}

std::int64_t size_of_axis(const Tensor& tensor, Axis axis) {
  for (const Dim& d : tensor.shape) {
    if (d.axis == axis) return d.size;
  }
  return 0;
}

// Copies of a dense weight over the tensor ranks, and padding.
double weight_factor(const Tensor& weight, std::int64_t t) {
  if (t == 1) return 1;
  if (const std::int64_t v = size_of_axis(weight, Axis::vocab)) {
    return std::ceil(static_cast<double>(v) / static_cast<double>(128 * t)) * static_cast<double>(128 * t) /
           static_cast<double>(v);
  }
  if (const std::int64_t kv = size_of_axis(weight, Axis::kv_heads))
    return std::max(1.0, static_cast<double>(t) / static_cast<double>(kv));
  if (size_of_axis(weight, Axis::heads) > 0 || size_of_axis(weight, Axis::ffn) > 0) return 1;
  return static_cast<double>(t);
}

double product_factor(const LayerType& whole, const Operator& op, const Strategy& s) {
  const Tensor& in = whole.tensor(op.inputs[0]);
  // Attention and experts are split evenly, but for towers, which every context rank computes.
  if (op.kind != OperatorKind::matmul)
    return size_of_axis(in, Axis::tower_sequence) > 0 ? static_cast<double>(s.context) : 1;
  const bool rows = size_of_axis(in, Axis::sequence) > 0 || size_of_axis(in, Axis::source_sequence) > 0;
  double sum = 0;
  double all = 0;
  std::size_t weights = 0;
  for (const TensorIndex p : op.parameters) {
    const Tensor& weight = whole.tensor(p);
    if (weight.name.ends_with(".bias")) continue;
    if (++weights > op.outputs.size()) break;  // what it only holds comes after its weights
    const bool no_axis = size_of_axis(weight, Axis::vocab) + size_of_axis(weight, Axis::kv_heads) +
                             size_of_axis(weight, Axis::heads) + size_of_axis(weight, Axis::ffn) ==
                         0;
    double factor = weight_factor(weight, s.tensor);
    if (no_axis && s.shards_sequence() && rows) factor = 1;
    if (!rows) factor *= static_cast<double>(s.context);
    sum += factor * static_cast<double>(elements(weight.shape));
    all += static_cast<double>(elements(weight.shape));
  }
  return sum / all;
}

void check_flops(const LayerType& whole, const ShardedLayer& sharded) {
  const Strategy& s = sharded.strategy;
  for (const Operator& op : whole.operators) {
    if (op.forward_flops.value == 0) continue;
    const double sum =
        operator_named(sharded.layer, op.name).forward_flops.value * static_cast<double>(s.cell());
    const double factor = product_factor(whole, op, s);
    const double expected = static_cast<double>(s.side()) * op.forward_flops.value * factor;
    EXPECT_NEAR(sum / expected, 1, 1e-9) << op.name;
    EXPECT_NEAR(sharded.factor_of(op.name, false), factor, 1e-9 * factor) << op.name;
  }
}

void check_parameters(const LayerType& whole, const ShardedLayer& sharded) {
  const Strategy& s = sharded.strategy;
  std::vector<double> expected(whole.tensors.size(), 0);  // strategies add tensors behind these
  for (const Operator& op : whole.operators) {
    const bool experts = op.kind == OperatorKind::grouped_matmul;
    for (const TensorIndex p : op.parameters) {
      // A bias of what experts give back is whole on each of their tensor ranks.
      const bool whole_bias =
          whole.tensor(p).name.ends_with(".bias") && size_of_axis(whole.tensor(p), Axis::ffn) == 0;
      expected[p] = !experts     ? weight_factor(whole.tensor(p), s.tensor)
                    : whole_bias ? static_cast<double>(s.expert_tensor_degree())
                                 : 1;
    }
  }
  for (const ParameterFact& fact : sharded.parameters) {
    const Tensor& local = sharded.layer.tensor(fact.tensor);
    const std::int64_t degree = fact.expert ? s.expert * s.expert_tensor_degree() : s.tensor;
    const double factor = expected.at(fact.tensor);
    EXPECT_EQ(degree * elements(local.shape),
              std::llround(factor * static_cast<double>(elements(whole.tensor(fact.tensor).shape))))
        << local.name;
    EXPECT_DOUBLE_EQ(sharded.factor_of(local.name, true), factor) << local.name;
    const bool padded = size_of_axis(local, Axis::vocab) > 0;
    EXPECT_EQ(fact.copies, padded ? 1 : std::llround(factor)) << local.name;
  }
}

void check_recomputation(const ShardedLayer& sharded) {
  const Bytes none = recompute_cost(sharded, RecomputePolicy::none).stash;
  const Bytes selective = recompute_cost(sharded, RecomputePolicy::selective).stash;
  const Bytes full = recompute_cost(sharded, RecomputePolicy::full).stash;
  EXPECT_LE(selective, none);
  EXPECT_LE(full, selective);
}

std::vector<std::int64_t> sizes(const LayerType& layer, TensorIndex i) {
  const Shape& shape = layer.tensor(i).shape;
  std::vector<std::int64_t> out(shape.size());
  std::transform(shape.begin(), shape.end(), out.begin(), [](const Dim& d) { return d.size; });
  return out;
}

// What one layer makes is what the next one reads. A source_sequence is the encoder's sequence: sizes, not
// axes.
void check_boundaries(const Model& model, const std::vector<ShardedLayer>& types) {
  std::vector<std::size_t> next(model.layers.size(), 0);  // edges come in the order of the inputs
  std::set<std::pair<std::size_t, TensorIndex>> seen;     // by type: equal layers are equal
  for (const Edge& edge : model.edges) {
    const ShardedLayer& from = types[model.layers[edge.from.index()].type];
    const std::size_t to_type = model.layers[edge.to.index()].type;
    const LayerType& to = types[to_type].layer;
    const TensorIndex input = to.inputs.at(next[edge.to.index()]++);
    if (!seen.insert({to_type * types.size() + model.layers[edge.from.index()].type, input}).second) continue;
    EXPECT_EQ(sizes(from.layer, from.layer.outputs[0]), sizes(to, input)) << to.name;
    // What a tower makes is whole on every rank.
    const bool tower = size_of_axis(from.layer.tensor(from.layer.outputs[0]), Axis::tower_sequence) > 0;
    EXPECT_EQ(tower ? edge.bytes : boundary_bytes(edge.bytes, from.strategy), from.layer.output_bytes())
        << to.name;
  }
}

TEST(Properties, EveryModelUnderEveryStrategy) {
  const int pairs = for_each_pair([](const Model& model, const Strategy& s) {
    SCOPED_TRACE(model.name + ": " + spell(s));
    const std::vector<ShardedLayer> types = shard_types(model, s);
    for (std::size_t i = 0; i < types.size(); ++i) {
      check_flops(model.types[i], types[i]);
      check_parameters(model.types[i], types[i]);
      check_recomputation(types[i]);
      EXPECT_EQ(contradiction(types[i]), "") << model.types[i].name;
    }
    check_boundaries(model, types);
  });
  RecordProperty("pairs", pairs);
  EXPECT_GT(pairs, 3000);
}

// Attention's scores are split as the rest is, and recomputation never keeps more than none does.
TEST(Properties, WithoutFlashKernels) {
  for (const char* name : {"gpt3-1.3b", "t5-large", "llama3.1-8b", "deepseek-v2-lite", "bert-large"}) {
    const Model model = model_of(name, true);
    for (const Strategy& s : strategies()) {
      const auto refusal = check_strategy(model, s);
      if (refusal && !refusal->framework) continue;
      SCOPED_TRACE(std::string(name) + ": " + spell(s));
      const std::vector<ShardedLayer> types = shard_types(model, s);
      for (std::size_t i = 0; i < types.size(); ++i) {
        check_recomputation(types[i]);
        EXPECT_EQ(contradiction(types[i]), "") << model.types[i].name;
        const std::int64_t devices = s.tensor * s.context;
        for (const Operator& op : model.types[i].operators) {
          if (op.kind != OperatorKind::attention) continue;
          const Operator& local = operator_named(types[i].layer, op.name);
          const Bytes whole = model.types[i].tensor(op.keeps.front()).bytes();
          EXPECT_EQ(types[i].layer.tensor(local.keeps.front()).bytes().value * devices, whole.value);
        }
      }
      if (testing::Test::HasFailure()) return;
    }
  }
}

TEST(Properties, OneDeviceIsTheLayerItself) {
  for (const auto& [name, model] : zoo()) {
    for (const LayerType& whole : model.types) {
      const ShardedLayer sharded = shard_layer(whole, {});
      ASSERT_EQ(sharded.layer.tensors.size(), whole.tensors.size());
      ASSERT_EQ(sharded.layer.operators.size(), whole.operators.size());
      for (TensorIndex i = 0; i < whole.tensors.size(); ++i)
        EXPECT_EQ(sharded.layer.tensor(i).shape, whole.tensor(i).shape) << name;
      for (std::size_t i = 0; i < whole.operators.size(); ++i) {
        EXPECT_EQ(sharded.layer.operators[i].name, whole.operators[i].name) << name;
        EXPECT_EQ(sharded.layer.operators[i].forward_flops, whole.operators[i].forward_flops) << name;
        EXPECT_EQ(sharded.layer.operators[i].keeps, whole.operators[i].keeps) << name;
        EXPECT_EQ(sharded.layer.operators[i].parameter_bytes_read, whole.operators[i].parameter_bytes_read)
            << name;
      }
      EXPECT_TRUE(sharded.replicated.empty() && sharded.padded.empty()) << name;
      EXPECT_EQ(sharded.dense_parameters() + sharded.expert_parameters(),
                whole.parameters() + whole.apart_parameters())
          << name;
    }
  }
}

}  // namespace
}  // namespace nest::strategies
