// The layers of a model as plans see them, whether they come from an architecture or from a layer profile:
// which feeds which, what crosses a cut, which share a weight, which can recompute.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "nest/model/graph/model.hpp"
#include "nest/model/graph/profile.hpp"

namespace nest::plan {

class LayerGraph {
 public:
  explicit LayerGraph(const Model& model);
  explicit LayerGraph(const LayerProfile& profile);

  [[nodiscard]] std::size_t layers() const { return recomputes_.size(); }
  [[nodiscard]] const std::vector<Edge>& edges() const { return edges_; }
  [[nodiscard]] const std::vector<TiedTensor>& tied() const { return tied_; }
  // Whether every edge runs from a lower to a higher id.
  [[nodiscard]] bool ascending() const { return ascending_; }
  // Whether recomputation means this layer; all layers of a profile.
  [[nodiscard]] bool recomputes(LayerId id) const { return recomputes_[id.index()]; }
  // What even splits count: a stack's blocks, and all layers of a profile.
  [[nodiscard]] bool is_block(LayerId id) const { return block_[id.index()]; }

  // Whether this layer stands in the part of the one before it: modules for multi-token prediction and the head do,
  // from the first module on, as Megatron-LM has them in the last stage.
  [[nodiscard]] bool is_joined(LayerId id) const { return joined_[id.index()]; }
  // The first layer that stands in another part than the one before it, though it is joined to it.
  [[nodiscard]] std::optional<LayerId> parted(std::span<const std::int32_t> part_of) const;

  // Bytes that cross each boundary between the parts of a pipeline in order, every distinct tensor once, the
  // last entry being 0: `part_of` has the part of each layer. Tensors are relayed from part to part.
  [[nodiscard]] std::vector<Bytes> crossing(std::span<const std::int32_t> part_of, std::size_t parts) const;
  // The same at a cut of the layers in their order: what layers below `layer` make and others use.
  [[nodiscard]] Bytes crossing_before(LayerId layer) const { return before_[layer.index()]; }
  // Of both, the gradients that come back: as much, but where nothing is trained before the boundary.
  [[nodiscard]] std::vector<Bytes> returning(std::span<const std::int32_t> part_of, std::size_t parts) const;
  [[nodiscard]] Bytes returning_before(LayerId layer) const { return returning_[layer.index()]; }

 private:
  struct Carried;
  void finish();
  template <class Counts>
  [[nodiscard]] std::vector<Bytes> sums(std::span<const std::int32_t> part_of, std::size_t parts,
                                        Counts counts) const;

  std::vector<Edge> edges_;
  std::vector<TiedTensor> tied_;
  bool ascending_ = true;
  std::vector<bool> recomputes_;
  std::vector<bool> block_;
  std::vector<bool> joined_;
  std::vector<Bytes> before_;
  std::vector<Bytes> returning_;
  // Distinct tensors: maker and last users.
  struct Carried {
    LayerId from;
    std::string tensor;
    Bytes bytes;
    bool frozen = false;
    std::vector<LayerId> users;
  };
  std::vector<Carried> carried_;
};

}  // namespace nest::plan
