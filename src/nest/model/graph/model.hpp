// A model ready to be planned: the layer graph (a DAG of layers with tensors on its edges) and the operator
// graph of each distinct layer, for one micro-batch size and one sequence length.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "nest/base/ids.hpp"
#include "nest/base/units.hpp"
#include "nest/model/graph/layer.hpp"

namespace nest::model {

struct Layer {
  std::string name;      // "embedding", "layer0", ..., "head"
  std::size_t type = 0;  // into Model::types: equal layers share one
};

// One use of a tensor by a later layer. Edges with the same `tensor` carry the same data: a pipeline boundary
// between its maker and several users carries it once.
struct Edge {
  LayerId from;
  LayerId to;
  std::string tensor;
  Bytes bytes;
  bool frozen = false;  // no gradient comes back over it
};

// A parameter that several layers use: the first trains it, the others hold a copy when they live elsewhere.
struct TiedTensor {
  std::string name;
  std::vector<LayerId> layers;
  std::int64_t parameters = 0;
  bool frozen = false;  // nobody trains it
};

// Parameters outside the published count, with the reason in the name: "mtp", "mlm head".
struct ApartParameters {
  std::string name;
  std::int64_t parameters = 0;
  bool in_graph = false;  // part of the layer graph as built
};

struct Model {
  std::string name;
  std::string family;
  std::int64_t micro_batch = 1;
  std::int64_t sequence = 0;
  std::int64_t positions = 0;  // longest sequence, 0 = no limit
  std::int64_t hidden = 0;     // of the last stack
  std::vector<LayerType> types;
  std::vector<Layer> layers;
  std::vector<Edge> edges;  // by (from, to)
  std::vector<TiedTensor> tied;
  std::vector<ApartParameters> apart;

  [[nodiscard]] const LayerType& type_of(LayerId id) const { return types[layers[id.index()].type]; }

  [[nodiscard]] std::int64_t parameters() const;
  [[nodiscard]] std::int64_t active_parameters() const;
  // Not frozen; those outside the published count, such as adapters, are among them.
  [[nodiscard]] std::int64_t trained_parameters() const;
  [[nodiscard]] Flops forward_flops() const;  // of one micro-batch
  [[nodiscard]] Flops forward_flops_per_token() const;
  [[nodiscard]] Flops saved_flops() const;  // of one micro-batch's backward pass: see LayerType
  // Blocks between embedding and head: what people call "layers".
  [[nodiscard]] std::int64_t blocks() const;
};

}  // namespace nest::model
