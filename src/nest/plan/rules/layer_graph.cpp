#include "nest/plan/rules/layer_graph.hpp"

#include <algorithm>

#include "nest/strategies/recompute.hpp"

namespace nest::plan {

LayerGraph::LayerGraph(const Model& model) : edges_(model.edges), tied_(model.tied) {
  bool predicts = false;  // a module for multi-token prediction came
  for (const Layer& layer : model.layers) {
    const LayerType& type = model.types[layer.type];
    recomputes_.push_back(can_recompute(type));
    block_.push_back(type.is_block());
    joined_.push_back(predicts);
    predicts = predicts || type.part == LayerPart::prediction;
  }
  finish();
}

LayerGraph::LayerGraph(const LayerProfile& profile) : edges_(profile.strategies.front().edges) {
  recomputes_.assign(profile.strategies.front().layers.size(), true);
  block_ = recomputes_;
  joined_.assign(recomputes_.size(), false);
  for (const ProfileShared& shared : profile.shared) {
    tied_.push_back({"shared", shared.layers, shared.parameters.value / profile.parameter_dtype_bytes});
  }
  finish();
}

void LayerGraph::finish() {
  for (const Edge& edge : edges_) {
    ascending_ = ascending_ && edge.from < edge.to;
    const auto same = [&](const Carried& c) {
      return c.from == edge.from && !edge.tensor.empty() && c.tensor == edge.tensor;
    };
    const auto at = std::find_if(carried_.begin(), carried_.end(), same);
    if (at == carried_.end()) {
      carried_.push_back({edge.from, edge.tensor, edge.bytes, edge.frozen, {edge.to}});
    } else {
      at->users.push_back(edge.to);
      at->bytes = std::max(at->bytes, edge.bytes);
    }
  }
  before_.assign(layers() + 1, Bytes{0});
  returning_ = before_;
  for (const Carried& c : carried_) {
    const LayerId last = *std::max_element(c.users.begin(), c.users.end());
    for (std::size_t i = c.from.index() + 1; i <= last.index(); ++i) {
      before_[i] += c.bytes;
      if (!c.frozen) returning_[i] += c.bytes;
    }
  }
}

std::optional<LayerId> LayerGraph::parted(std::span<const std::int32_t> part_of) const {
  for (std::size_t i = 1; i < part_of.size(); ++i) {
    if (joined_[i] && part_of[i] != part_of[i - 1]) return LayerId(static_cast<std::int32_t>(i));
  }
  return std::nullopt;
}

template <class Counts>
std::vector<Bytes> LayerGraph::sums(std::span<const std::int32_t> part_of, std::size_t parts,
                                    Counts counts) const {
  std::vector<Bytes> bytes(parts);
  for (const Carried& c : carried_) {
    if (!counts(c)) continue;
    std::int32_t last = part_of[c.from.index()];
    for (const LayerId user : c.users) last = std::max(last, part_of[user.index()]);
    for (std::int32_t i = part_of[c.from.index()]; i < last; ++i)
      bytes[static_cast<std::size_t>(i)] += c.bytes;
  }
  return bytes;
}

std::vector<Bytes> LayerGraph::crossing(std::span<const std::int32_t> part_of, std::size_t parts) const {
  return sums(part_of, parts, [](const Carried&) { return true; });
}

std::vector<Bytes> LayerGraph::returning(std::span<const std::int32_t> part_of, std::size_t parts) const {
  return sums(part_of, parts, [](const Carried& c) { return !c.frozen; });
}

}  // namespace nest::plan
