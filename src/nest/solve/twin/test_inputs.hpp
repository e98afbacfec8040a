// Random small inputs for proofs of the search: clusters of any kind of level, layer profiles of any shape,
// tiny architectures, recipes. Everything follows from the dice.
//
//   Dice dice(seed);
//   const PlanInputs inputs = random_small_inputs(dice);
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "nest/base/document/document.hpp"
#include "nest/cluster/cluster_file.hpp"
#include "nest/model/hub/hub_config.hpp"
#include "nest/plan/inputs.hpp"
#include "nest/plan/test_plans.hpp"
#include "nest/solve/twin/test_architectures.hpp"

namespace nest::test {
using namespace solve;

// A number between two powers of ten, even on the logarithmic scale.
[[nodiscard]] inline double log_pick(Dice& dice, double least, double most) {
  return std::pow(10, least + (most - least) * static_cast<double>(dice.pick(0, 1000)) / 1000);
}

[[nodiscard]] inline double share(Dice& dice) {
  return dice.once_in(3) ? static_cast<double>(dice.pick(0, 1))
                         : static_cast<double>(dice.pick(0, 100)) / 100;
}

[[nodiscard]] inline std::string in_brackets(const std::vector<std::int64_t>& list) {
  std::string text;
  for (const std::int64_t n : list) text += (text.empty() ? "" : ", ") + std::to_string(n);
  return "[" + text + "]";
}

// What the random cluster is like.
struct ClusterWish {
  std::int64_t most_devices = 16;
  double bandwidth = 1e11;  // of a usual level
  Bytes memory{80'000'000'000};
  std::string kind;    // of all levels; empty: any
  std::string fabric;  // of the innermost level; empty: what its bandwidth says
};

// One level: its fan-out for so many domains, at most `most` children in all, which are counted into
// `children`.
[[nodiscard]] inline std::string random_fan_out(Dice& dice, std::string& kind, std::int64_t domains,
                                                std::int64_t most, std::int64_t& children) {
  const std::int64_t each = most / domains;
  if (kind == "mesh" || kind == "torus") {
    const std::int64_t x = dice.pick(1, std::min<std::int64_t>(4, each));
    const std::int64_t y = dice.pick(1, std::min<std::int64_t>(4, each / x));
    children = domains * x * y;
    return "dims: " + in_brackets({x, y});
  }
  if (dice.once_in(3)) {
    std::vector<std::int64_t> sizes(static_cast<std::size_t>(domains));
    for (std::int64_t& n : sizes) n = dice.pick(1, each);
    for (const std::int64_t n : sizes) children += n;
    return "sizes: " + in_brackets(sizes);
  }
  const std::int64_t size = dice.pick(std::min<std::int64_t>(2, each), std::min<std::int64_t>(8, each));
  children = domains * size;
  return "size: " + std::to_string(size);
}

[[nodiscard]] inline Cluster random_small_cluster(Dice& dice, const ClusterWish& wish) {
  static const std::vector<std::string> kKinds{"switch", "switch", "switch",         "ring",
                                               "mesh",   "torus",  "fully_connected"};
  const std::int64_t levels = dice.pick(1, 4);
  const std::int64_t most = dice.once_in(4) ? dice.pick(1, wish.most_devices) : wish.most_devices;
  std::int64_t domains = 1;
  std::string text;
  for (std::int64_t l = levels - 1; l >= 0; --l) {
    std::string kind = wish.kind.empty() ? dice.one_of(kKinds) : wish.kind;
    std::int64_t children = 0;
    const std::string fan_out = random_fan_out(dice, kind, domains, most, children);
    std::string line = "  - {name: l" + std::to_string(l);
    line.append(", kind: ").append(kind).append(", ").append(fan_out);
    const double speed =
        wish.bandwidth * static_cast<double>(dice.one_of<std::int64_t>({1, 2, 5, 10, 10, 20, 40})) / 10;
    line += ", bandwidth: " + std::to_string(std::max(1.0, std::round(speed)));
    line += ", latency: " + dice.one_of<std::string>({"0", "1 us", "5 us", "100 us"});
    const bool switched = kind == "switch" || kind == "fully_connected";
    if (switched && dice.once_in(3)) line += ", oversubscription: " + std::to_string(dice.pick(2, 4));
    if (kind == "switch" && dice.once_in(6)) line += ", in_network_reduction: true";
    if (l == 0 && !wish.fabric.empty()) line += ", fabric: " + wish.fabric;
    text.insert(0, line + "}\n");
    domains = children;
  }
  const std::string memory = std::to_string(std::max<std::int64_t>(1, wish.memory.value));
  const std::string accelerator =
      dice.once_in(2)
          ? "{base: h100-sxm, memory: " + memory + "}"
          : "{name: x, memory: " + memory + ", memory_bandwidth: 3 TB/s, peak: {bf16: 1000 TFLOP/s}}";
  return read_cluster(
      parse_yaml("cluster", "name: random\naccelerator: " + accelerator + "\nlevels:\n" + text));
}

// Which layer feeds which, with the number of the tensor.
struct RandomEdge {
  std::int64_t from;
  std::int64_t to;
  std::int64_t tensor;
};

[[nodiscard]] inline std::vector<RandomEdge> random_graph(Dice& dice, std::int64_t layers) {
  std::vector<RandomEdge> edges;
  std::int64_t tensors = 0;
  const auto chain = [&](std::int64_t from, std::int64_t to) {
    for (std::int64_t i = from; i + 1 < to; ++i) edges.push_back({i, i + 1, tensors++});
  };
  const std::int64_t middle = layers / 2;
  switch (dice.pick(0, 8)) {
    case 0:  // skips, of the same tensor or of another
      chain(0, layers);
      for (std::int64_t i = 0; i + 2 < layers; ++i) {
        if (dice.once_in(3))
          edges.push_back({i, dice.pick(i + 2, layers - 1), dice.once_in(2) ? i : tensors++});
      }
      break;
    case 1:  // an encoder whose output every layer of the decoder reads
      chain(0, middle);
      chain(middle, layers);
      for (std::int64_t i = middle; i < layers && middle > 0; ++i) edges.push_back({middle - 1, i, tensors});
      ++tensors;
      break;
    case 2:  // two towers, joined at the end
      chain(0, middle);
      chain(middle, layers);
      if (middle > 0) edges.push_back({middle - 1, layers - 1, tensors++});
      break;
    case 3:  // branches of one layer each
      for (std::int64_t i = 1; i + 1 < layers; ++i) {
        edges.push_back({0, i, -1});
        edges.push_back({i, layers - 1, tensors++});
      }
      break;
    case 4:  // anything
      for (std::int64_t i = 0; i < layers; ++i) {
        for (std::int64_t k = i + 1; k < layers; ++k) {
          if (dice.once_in(3)) edges.push_back({i, k, tensors++});
        }
      }
      break;
    case 5:  // ids that do not follow the edges
      for (std::int64_t i = 0; i + 1 < layers; ++i) {
        const std::int64_t from = layers - 1 - i;
        edges.push_back({from, from - 1, tensors++});
        if (from >= 2 && dice.once_in(3)) edges.push_back({from, from - 2, tensors++});
      }
      break;
    default:
      chain(0, layers);
  }
  return edges;
}

// Layers of about a millisecond whose tensors and parameters take `bytes` or so.
[[nodiscard]] inline Value random_layer_profile(Dice& dice, std::int64_t layers, double bytes) {
  const bool equal = dice.once_in(4);
  const bool experts = dice.once_in(4);
  const bool weight_parts = dice.once_in(2);
  const bool suits = !equal && dice.once_in(2);  // strategies suit some layers better than others
  const auto some = [&](double scale) { return scale * static_cast<double>(dice.pick(1, 20)) / 10; };
  const auto whole = [&](double n) { return static_cast<std::int64_t>(std::min(std::ceil(n), 1e13)); };
  const std::vector<RandomEdge> edges = random_graph(dice, layers);
  const double edge_bytes = some(bytes);
  std::vector<double> sizes(edges.size());
  for (double& size : sizes) size = equal ? edge_bytes : some(bytes);
  std::vector<std::array<double, 7>> whole_layers;  // forward, backward, parameters, experts, stash, ..
  const double parameters = bytes * dice.one_of<double>({0.01, 1, 10, 100});
  const double stash = bytes * dice.one_of<double>({1, 3, 10});
  for (std::int64_t i = 0; i < layers; ++i) {
    whole_layers.push_back({some(1e-3), some(2e-3), some(parameters), share(dice), some(stash) + bytes,
                            share(dice), dice.once_in(4) ? some(stash) : 0});
    if (equal && i > 0) whole_layers.back() = whole_layers.front();
  }
  struct Degrees {
    std::int64_t tensor, expert, context;
    bool sequence_parallel;
  };
  std::vector<Degrees> all{{1, 1, 1, false}};
  const std::vector<Degrees> more{{2, 1, 1, true},  {2, 1, 1, false}, {4, 1, 1, true}, {1, 1, 2, false},
                                  {1, 2, 1, false}, {1, 4, 1, false}, {2, 2, 1, true}, {2, 1, 2, true},
                                  {3, 1, 1, false}, {1, 2, 2, false}, {8, 1, 1, true}};
  if (suits && dice.once_in(2)) all = {{2, 1, 1, true}, {1, 1, 2, false}};  // cells of one width
  for (const Degrees& d : more) {
    const bool known = std::any_of(all.begin(), all.end(), [&](const Degrees& k) {
      return k.tensor == d.tensor && k.expert == d.expert && k.context == d.context &&
             k.sequence_parallel == d.sequence_parallel;
    });
    if (!known && dice.once_in(3) && (experts || d.expert == 1 || dice.once_in(3))) all.push_back(d);
  }
  if (dice.once_in(8) && all.size() > 1) all.erase(all.begin());
  Value strategies = Value::array();
  for (const Degrees& d : all) {
    const double ranks = static_cast<double>(d.tensor * d.context);
    const double split = static_cast<double>(d.tensor);
    const double of_all = some(0.3) + 0.9;
    Value list = Value::array();
    for (std::int64_t i = 0; i < layers; ++i) {
      const auto& l = whole_layers[static_cast<std::size_t>(i)];
      const double lost = suits ? some(1) + 0.5 : of_all;
      const std::int64_t own = whole(l[2] * (experts ? l[3] : 0) / (split * static_cast<double>(d.expert)));
      Value layer = Value::object();
      layer.set("id", i).set("name", "l" + std::to_string(i));
      layer.set("forward_s", l[0] / ranks * lost).set("backward_s", l[1] / ranks * lost);
      layer.set("parameter_bytes", own + whole(l[2] * (experts ? 1 - l[3] : 1) / split));
      layer.set("activation_bytes", whole(l[4] / ranks)).set("expert_parameter_bytes", own);
      if (weight_parts) layer.set("backward_weight_s", l[1] / ranks * lost * l[5]);
      layer.set("workspace_bytes", whole(l[6] / ranks));
      list.push(std::move(layer));
    }
    Value drawn = Value::array();
    for (std::size_t i = 0; i < edges.size(); ++i) {
      // Edges of one tensor agree about its bytes.
      std::size_t first = 0;
      while (edges[first].from != edges[i].from || edges[first].tensor != edges[i].tensor) ++first;
      Value edge = Value::object();
      edge.set("from", edges[i].from).set("to", edges[i].to).set("bytes", whole(sizes[first]));
      edge.set("tensor", "t" + std::to_string(edges[i].from) + "." + std::to_string(edges[i].tensor));
      drawn.push(std::move(edge));
    }
    Value s = Value::object();
    s.set("tensor", d.tensor).set("expert", d.expert).set("context", d.context);
    s.set("sequence_parallel", d.sequence_parallel).set("layers", std::move(list));
    s.set("edges", std::move(drawn));
    strategies.push(std::move(s));
  }
  Value shared = Value::array();
  const auto share_weight = [&](const std::vector<std::int64_t>& ids) {
    Value list = Value::array();
    for (const std::int64_t id : ids) list.push(id);
    Value one = Value::object();
    one.set("layers", std::move(list)).set("parameter_bytes", whole(some(parameters / 2)));
    shared.push(std::move(one));
  };
  if (layers > 1 && dice.once_in(4)) share_weight({0, layers - 1});
  if (layers > 2 && dice.once_in(6)) {
    const std::int64_t from = dice.pick(0, layers - 2);
    share_weight({from, dice.pick(from + 1, layers - 1)});
  }
  if (layers > 3 && dice.once_in(12)) share_weight({0, dice.pick(1, layers - 2), layers - 1});
  Value v = Value::object();
  v.set("format", "nest-layer-profile").set("version", 1).set("name", "random");
  v.set("micro_batch", dice.once_in(5) ? 2 : 1).set("sequence", 512).set("parameter_dtype_bytes", 2);
  v.set("strategies", std::move(strategies));
  if (!shared.as_array()->empty()) v.set("shared", std::move(shared));
  return v;
}

// A framework's recipe, or one with any of its figures changed. `reserve` is what it keeps back.
[[nodiscard]] inline Recipe random_recipe(Dice& dice, Bytes reserve) {
  Recipe r =
      named_recipe(dice.one_of<std::string>({"plain", "plain", "megatron", "torchtitan", "deepspeed"}));
  if (r.reserve.value > 0) r.reserve = reserve;
  if (dice.once_in(3)) return r;
  Overlap& o = r.overlap;
  for (double* part : {&o.gradient_reduce, &o.parameter_gather, &o.pipeline, &o.tensor, &o.context, &o.expert,
                       &o.prefetch, &o.interleaved_sends, &o.tensor_backward}) {
    if (dice.once_in(2)) *part = share(dice);
  }
  if (dice.once_in(3)) o.slow_down = share(dice) / 2;
  if (dice.once_in(4)) r.step_bytes = static_cast<double>(dice.pick(1, 8));
  if (dice.once_in(4)) r.stage_buffers = dice.pick(1, 2);
  if (dice.once_in(4)) r.accumulation_bytes = static_cast<double>(dice.pick(0, 12));
  if (dice.once_in(4)) r.zero_time = 1 + share(dice);
  if (dice.once_in(4)) r.fragmentation = share(dice) / 5;
  if (dice.once_in(4)) r.expert_imbalance = 1 + share(dice);
  if (dice.once_in(6)) r.kernel_time = 1 + share(dice);
  if (dice.once_in(4)) r.master_weights = !r.master_weights;
  if (dice.once_in(4)) r.gradient_dtype = StateDType::fp32;
  if (dice.once_in(4)) r.ideal_network = !r.ideal_network;
  r.levels_at_once = r.ideal_network && dice.once_in(4);
  if (dice.once_in(4)) r.optimizer_time = !r.optimizer_time;
  r.gather_by_broadcast = dice.once_in(6);
  r.gradient_copy = dice.once_in(6);
  if (dice.once_in(6)) r.optimizer = r.optimizer == Optimizer::adam ? Optimizer::sgd : Optimizer::adam;
  r.momentum = r.optimizer == Optimizer::sgd && dice.once_in(3);
  // From a copy: what is drawn after this stays as it was before these were added.
  Dice more = dice;
  if (more.once_in(3)) o.memory_bound = share(more);
  if (more.once_in(3)) r.jitter = share(more);
  if (more.once_in(3)) r.copied_shards = !r.copied_shards;
  if (more.once_in(3)) r.fresh_gradients = !r.fresh_gradients;
  if (more.once_in(3)) r.early_stop = !r.early_stop;
  return r;
}

// Something that is trained in part, of a model that has blocks.
[[nodiscard]] inline Tuning random_tuning(Dice& dice, const ModelSpec& spec) {
  Tuning tuning;
  const auto blocks = static_cast<std::int64_t>(spec.stacks.back().blocks.size());
  if (dice.once_in(2)) {
    tuning.kind = Tuning::Kind::lora;
    tuning.rank = dice.one_of<std::int64_t>({1, 8, 64});
    // Hybrids may have no attention, whose products are the usual targets.
    const bool usual = dice.once_in(2) && spec.family != "nemotron_h";
    tuning.targets = usual ? default_targets() : std::vector<std::string>{"all-linear"};
  } else if (dice.once_in(2)) {
    tuning.kind = Tuning::Kind::layers;
    tuning.layers.first = dice.pick(0, blocks - 1);
    if (dice.once_in(2)) tuning.layers.last = dice.pick(tuning.layers.first, blocks - 1);
  } else {
    tuning.freeze = {dice.one_of<std::string>({"embedding", "head", "layers 0"})};
  }
  tuning.frozen_bits = dice.one_of<std::int64_t>({4, 8, 16, 16});
  return tuning;
}

}  // namespace nest::test
