// Small questions for tests of baselines: chains of equal layers on nodes that a spine joins, and models
// after a config.json.
//
//   PlanQuestion question = test::chain_question({.spine = 1e9});
#pragma once

#include <cstdint>
#include <string>

#include "nest/base/document/document.hpp"
#include "nest/cluster/cluster_file.hpp"
#include "nest/model/hub/hub_config.hpp"
#include "nest/question/question.hpp"

namespace nest::test {
using namespace solve;

struct ClusterFigures {
  std::int64_t nodes = 2;
  std::int64_t node = 4;  // devices of one
  double inside = 300e9;  // bytes per second
  double spine = 300e9;
  double memory = 80e9;
};

[[nodiscard]] inline Cluster node_cluster(const ClusterFigures& wish) {
  const auto whole = [](double n) { return std::to_string(static_cast<std::int64_t>(n)); };
  const std::string text = "name: nodes\naccelerator: {name: x, memory: " + whole(wish.memory) +
                           ", memory_bandwidth: 3 TB/s, peak: {bf16: 1000 TFLOP/s}}\nlevels:\n" +
                           "  - {name: node, kind: switch, size: " + std::to_string(wish.node) +
                           ", bandwidth: " + whole(wish.inside) + ", latency: 1 us}\n" +
                           "  - {name: spine, kind: switch, size: " + std::to_string(wish.nodes) +
                           ", bandwidth: " + whole(wish.spine) + ", latency: 1 us}\n";
  return read_cluster(parse_yaml("cluster", text));
}

struct ChainFigures {
  ClusterFigures cluster;
  std::int64_t layers = 8;          // of 1 ms forward and 2 ms backward
  double parameter_bytes = 100e6;   // of each
  double activation_bytes = 100e6;  // kept by each for a micro-batch
  double edge_bytes = 1e5;
  std::int64_t global_batch = 32;
};

// Weights and gradients of 16 bits and nothing else; no overlap, ideal network.
[[nodiscard]] inline PlanQuestion chain_question(const ChainFigures& wish) {
  Value layers = Value::array();
  Value edges = Value::array();
  const auto whole = [](double n) { return static_cast<std::int64_t>(n); };
  for (std::int64_t i = 0; i < wish.layers; ++i) {
    Value layer = Value::object();
    layer.set("id", i).set("name", "l" + std::to_string(i));
    layer.set("forward_s", 0.001).set("backward_s", 0.002);
    layer.set("parameter_bytes", whole(wish.parameter_bytes));
    layer.set("activation_bytes", whole(wish.activation_bytes));
    layers.push(std::move(layer));
    if (i == 0) continue;
    Value edge = Value::object();
    edge.set("from", i - 1).set("to", i).set("bytes", whole(wish.edge_bytes));
    edges.push(std::move(edge));
  }
  Value strategy = Value::object();
  strategy.set("tensor", 1).set("layers", std::move(layers)).set("edges", std::move(edges));
  Value strategies = Value::array();
  strategies.push(std::move(strategy));
  Value profile = Value::object();
  profile.set("format", "nest-layer-profile").set("version", 1).set("name", "chain");
  profile.set("micro_batch", 1).set("sequence", 512).set("parameter_dtype_bytes", 2);
  profile.set("strategies", std::move(strategies));
  const Document text = parse_json("profile", to_json(profile));
  PlanQuestion question{
      {text.root, read_layer_profile(text), node_cluster(wish.cluster), named_recipe("plain"), {}},
      {},
      {},
      {}};
  question.training.global_batch = wish.global_batch;
  question.training.sequence = 512;
  question.training.optimizer = Optimizer::sgd;
  question.options.threads = 1;
  return question;
}

// A model by the text of its config.json, trained as Megatron-LM does.
[[nodiscard]] inline PlanQuestion config_question(const std::string& config, const ClusterFigures& cluster,
                                                  std::int64_t global_batch = 32) {
  const Document text = parse_json("config", config);
  Warnings warnings;
  PlanQuestion question{{text.root,
                         read_hub_config(text, "tiny", warnings),
                         node_cluster(cluster),
                         named_recipe("megatron"),
                         {}},
                        {},
                        {},
                        {}};
  question.training.global_batch = global_batch;
  question.training.sequence = 1024;
  question.options.threads = 1;
  return question;
}

// A llama with so many heads.
[[nodiscard]] inline std::string llama_config(std::int64_t heads, std::int64_t key_value_heads,
                                              std::int64_t blocks = 8) {
  return R"({"model_type": "llama", "vocab_size": 32768, "hidden_size": 1024, "intermediate_size": 4096,
    "num_hidden_layers": )" +
         std::to_string(blocks) + R"(, "num_attention_heads": )" + std::to_string(heads) +
         R"(, "num_key_value_heads": )" + std::to_string(key_value_heads) +
         R"(, "head_dim": 64, "max_position_embeddings": 4096})";
}

}  // namespace nest::test
