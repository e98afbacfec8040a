// Layers that the tests of this room share, and short ways to look at what strategies did to them.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "nest/model/blocks/build.hpp"
#include "nest/model/zoo.hpp"
#include "nest/strategies/registry.hpp"

namespace nest::strategies {

inline Model small_model(const std::string& name, std::int64_t sequence = 64, std::int64_t micro_batch = 2) {
  BuildOptions options;
  options.micro_batch = micro_batch;
  options.sequence = sequence;
  return build_model(zoo_model(name), options);
}

// The first block with that operator.
inline const LayerType& block_with(const Model& model, const std::string& op_name) {
  for (const LayerType& type : model.types) {
    for (const Operator& op : type.operators) {
      if (type.is_block() && op.name == op_name) return type;
    }
  }
  ADD_FAILURE() << "no block of " << model.name << " has " << op_name;
  return model.types.front();
}

inline const Operator& operator_named(const LayerType& layer, const std::string& name) {
  for (const Operator& op : layer.operators) {
    if (op.name == name) return op;
  }
  ADD_FAILURE() << "no operator " << name;
  return layer.operators.front();
}

inline const ParameterFact& fact_named(const ShardedLayer& s, const std::string& name) {
  for (const ParameterFact& f : s.parameters) {
    if (s.layer.tensor(f.tensor).name == name) return f;
  }
  ADD_FAILURE() << "no parameter " << name;
  return s.parameters.front();
}

inline std::string name_of_collective(CollectiveKind kind) {
  static const std::vector<std::string> kNames{
      "-", "all_reduce", "reduce_scatter", "all_gather", "all_to_all", "broadcast", "send"};
  return kNames[static_cast<std::size_t>(kind)];
}

// "qkv.enter: - / all_reduce 1024": one line for each collective, forward / backward.
inline std::vector<std::string> collectives(const LayerType& layer) {
  std::vector<std::string> lines;
  for (const Operator& op : layer.operators) {
    if (op.kind != OperatorKind::collective) continue;
    const CollectiveCall& c = op.collective;
    const auto side = [](CollectiveKind kind, Bytes bytes) {
      const std::string name = name_of_collective(kind);
      return kind == CollectiveKind::none ? name : name + " " + std::to_string(bytes.value);
    };
    const std::string repeats = c.repeats == 1 ? "" : " x" + std::to_string(c.repeats);
    lines.push_back(op.name + ": " + side(c.forward, c.forward_bytes) + " / " +
                    side(c.backward, c.backward_bytes) + repeats);
  }
  return lines;
}

}  // namespace nest::strategies
