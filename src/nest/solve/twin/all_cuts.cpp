#include "nest/solve/twin/all_cuts.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace nest::solve {
namespace {

using Numbers = std::vector<std::int64_t>;

// Every way to cut a layer graph into so many stages: the last stage is a set of layers closed under
// successors, the stage before it such a set of what is left, and so on.
class Cuts {
 public:
  Cuts(const LayerGraph& graph, std::size_t parts, std::size_t most)
      : graph_(&graph), most_(most), left_(graph.layers()), taken_(graph.layers()), cut_(parts) {
    order_layers();
    take(parts, 0);
  }
  [[nodiscard]] std::vector<CutParts> all() && { return std::move(all_); }

 private:
  // Users of a layer's output before the layer itself, so that one pass sees every closed set once.
  void order_layers() {
    std::vector<bool> listed(graph_->layers());
    while (order_.size() < listed.size()) {
      for (std::size_t i = listed.size(); i-- > 0;) {
        const bool open = std::any_of(graph_->edges().begin(), graph_->edges().end(), [&](const Edge& e) {
          return e.from.index() == i && !listed[e.to.index()];
        });
        if (listed[i] || open) continue;
        listed[i] = true;
        order_.emplace_back(static_cast<std::int32_t>(i));
      }
    }
  }
  [[nodiscard]] bool parts_joined() const {
    std::vector<std::int32_t> part_of(graph_->layers());
    for (std::size_t part = 0; part < cut_.size(); ++part) {
      for (const LayerId id : cut_[part]) part_of[id.index()] = static_cast<std::int32_t>(part);
    }
    return graph_->parted(part_of).has_value();
  }
  // Decides about the layers from order_[at] on, for stage `stage` - 1.
  void take(std::size_t stage, std::size_t at) {
    if (at == order_.size()) {
      if (cut_[stage - 1].empty() || left_ < stage - 1) return;
      if (stage > 1) return take(stage - 1, 0);
      if (all_.size() == most_ || parts_joined()) return;
      all_.push_back(cut_);
      for (std::vector<LayerId>& part : all_.back()) std::sort(part.begin(), part.end());
      return;
    }
    const LayerId id = order_[at];
    const bool closed = std::all_of(graph_->edges().begin(), graph_->edges().end(),
                                    [&](const Edge& e) { return e.from != id || taken_[e.to.index()]; });
    if (!taken_[id.index()] && closed) {
      taken_[id.index()] = true;
      --left_;
      cut_[stage - 1].push_back(id);
      take(stage, at + 1);
      cut_[stage - 1].pop_back();
      ++left_;
      taken_[id.index()] = false;
    }
    // The first stage takes all that is left.
    if ((stage > 1 || taken_[id.index()]) && all_.size() < most_) take(stage, at + 1);
  }

  const LayerGraph* graph_;
  std::size_t most_;
  std::size_t left_;
  std::vector<LayerId> order_;
  std::vector<bool> taken_;
  CutParts cut_;
  std::vector<CutParts> all_;
};

// Chunks with these numbers of blocks; nothing where one has no layer.
CutParts chunks_of(const LayerGraph& graph, const Numbers& blocks) {
  CutParts chunks(blocks.size());
  std::size_t chunk = 0;
  std::int64_t left = blocks[0];
  std::int64_t to_come = 0;
  for (const std::int64_t n : blocks) to_come += n;
  for (std::size_t i = 0; i < graph.layers(); ++i) {
    const LayerId id(static_cast<std::int32_t>(i));
    if (graph.is_block(id)) {
      while (left == 0) left = blocks[++chunk];
      --left;
      --to_come;
      chunks[chunk].push_back(id);
    } else {
      chunks[to_come == 0 ? blocks.size() - 1 : chunk].push_back(id);
    }
  }
  const bool empty = std::any_of(chunks.begin(), chunks.end(), [](const auto& c) { return c.empty(); });
  return empty ? CutParts{} : chunks;
}

}  // namespace

std::vector<CutParts> all_cuts(const LayerGraph& graph, std::size_t parts, std::size_t most) {
  return Cuts(graph, parts, most).all();
}

std::vector<CutParts> all_chunk_cuts(const LayerGraph& graph, std::size_t parts) {
  const auto chunks = static_cast<std::int64_t>(parts);
  std::vector<CutParts> all;
  if (!graph.ascending()) return all;
  std::int64_t blocks = 0;
  for (std::size_t i = 0; i < graph.layers(); ++i)
    blocks += graph.is_block(LayerId(static_cast<std::int32_t>(i))) ? 1 : 0;
  if (blocks == 0) return all;
  for (std::int64_t first = 0; first <= 3; ++first) {
    for (std::int64_t last = 0; last <= 3; ++last) {
      for (const bool longer_first : {true, false}) {
        const std::int64_t slots = blocks + first + last;
        const std::int64_t longer = slots % chunks;
        Numbers sizes(parts, slots / chunks);
        for (std::int64_t k = 0; k < longer; ++k)
          ++sizes[static_cast<std::size_t>(longer_first ? k : chunks - 1 - k)];
        sizes.front() -= first;
        sizes.back() -= last;
        if (std::any_of(sizes.begin(), sizes.end(), [](std::int64_t n) { return n < 0; })) continue;
        CutParts cut = chunks_of(graph, sizes);
        if (!cut.empty() && std::find(all.begin(), all.end(), cut) == all.end())
          all.push_back(std::move(cut));
      }
    }
  }
  return all;
}

bool contiguous(const CutParts& parts) {
  std::int32_t next = 0;
  for (const std::vector<LayerId>& part : parts) {
    for (const LayerId id : part) {
      if (id.value != next++) return false;
    }
  }
  return true;
}

}  // namespace nest::solve
