#include "nest/solve/table/layer_sets.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "nest/base/hash.hpp"
#include "nest/solve/table/class_numbers.hpp"
#include "nest/solve/table/memory_budget.hpp"

namespace nest::solve {
namespace {

bool has(const std::vector<std::uint64_t>& set, std::size_t layer) {
  return (set[layer / 64] >> (layer % 64) & 1U) != 0;
}

void put(std::vector<std::uint64_t>& set, std::size_t layer) {
  set[layer / 64] |= std::uint64_t{1} << (layer % 64);
}

std::size_t hash_of(const std::vector<std::uint64_t>& set) {
  std::size_t hash = 0;
  for (const std::uint64_t word : set) mix_hash(hash, word);
  return hash;
}

bool is_subset(const std::vector<std::uint64_t>& a, const std::vector<std::uint64_t>& b) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    if ((a[i] & ~b[i]) != 0) return false;
  }
  return true;
}

// Numbers of values that compare equal, in the order in which they first come.
template <class Same>
std::vector<std::uint16_t> numbered(std::size_t size, const Same& same) {
  std::vector<std::uint16_t> numbers;
  std::vector<std::size_t> firsts;
  numbers.reserve(size);
  for (std::size_t i = 0; i < size; ++i) {
    const auto known = std::find_if(firsts.begin(), firsts.end(), [&](std::size_t f) { return same(f, i); });
    numbers.push_back(static_cast<std::uint16_t>(known - firsts.begin()));
    if (known == firsts.end()) firsts.push_back(i);
  }
  return numbers;
}

}  // namespace

std::vector<std::uint16_t> layer_kinds(const Model& model) {
  const auto tied = [&](std::size_t layer) {
    return std::any_of(model.tied.begin(), model.tied.end(), [&](const TiedTensor& t) {
      return std::any_of(t.layers.begin(), t.layers.end(), [&](LayerId id) { return id.index() == layer; });
    });
  };
  return numbered(model.layers.size(), [&](std::size_t a, std::size_t b) {
    return model.layers[a].type == model.layers[b].type && !tied(a) && !tied(b);
  });
}

std::vector<std::uint16_t> layer_kinds(const LayerProfile& profile) {
  const auto alike = [](const ProfileLayer& a, const ProfileLayer& b) {
    return a.forward == b.forward && a.backward == b.backward && a.parameters == b.parameters &&
           a.activations == b.activations && a.expert_parameters == b.expert_parameters &&
           a.backward_weight == b.backward_weight && a.workspace == b.workspace;
  };
  const std::size_t layers = profile.strategies.front().layers.size();
  // What full recomputation keeps, strategy after strategy.
  std::vector<std::vector<Bytes>> incoming(profile.strategies.size(), std::vector<Bytes>(layers));
  for (std::size_t s = 0; s < incoming.size(); ++s) {
    for (const Edge& edge : profile.strategies[s].edges) incoming[s][edge.to.index()] += edge.bytes;
  }
  const auto tied = [&](std::size_t layer) {
    return std::any_of(profile.shared.begin(), profile.shared.end(), [&](const ProfileShared& t) {
      return std::any_of(t.layers.begin(), t.layers.end(), [&](LayerId id) { return id.index() == layer; });
    });
  };
  return numbered(layers, [&](std::size_t a, std::size_t b) {
    if (tied(a) || tied(b)) return false;
    for (std::size_t s = 0; s < incoming.size(); ++s) {
      if (!alike(profile.strategies[s].layers[a], profile.strategies[s].layers[b]) ||
          incoming[s][a] != incoming[s][b])
        return false;
    }
    return true;
  });
}

LayerSets::LayerSets(const LayerGraph& graph, std::span<const std::uint16_t> kind_of, std::size_t most,
                     bool contiguous, const Deadline& deadline, Bytes memory)
    : graph_(&graph), kind_of_(kind_of.begin(), kind_of.end()), layers_(graph.layers()) {
  for (std::size_t i = 0; i < layers_; ++i) kinds_ = std::max<std::size_t>(kinds_, kind_of_[i] + 1U);
  recomputes_.resize(kinds_);
  examples_.resize(kinds_);
  for (std::size_t i = layers_; i-- > 0;) {
    examples_[kind_of_[i]] = LayerId(static_cast<std::int32_t>(i));
    recomputes_[kind_of_[i]] = graph.recomputes(examples_[kind_of_[i]]);
  }
  enumerate(most, contiguous, deadline);
  chain_ = graph_->ascending() && sets_.size() == layers_ + 1;
  std::erase_if(sets_, [&](const Set& set) { return graph_->parted(halves(set)).has_value(); });
  if (memory.value / static_cast<std::int64_t>(sizeof(outside_[0])) <
      static_cast<std::int64_t>(sets_.size() * kinds_))
    throw TableTooLarge{};
  count_layers();
  add_moves(deadline, memory);
}

void LayerSets::count_layers() {
  outside_.assign(sets_.size() * kinds_, 0);
  for (std::size_t s = 0; s < sets_.size(); ++s) {
    std::int32_t placed = 0;
    for (std::size_t i = 0; i < layers_; ++i) {
      if (has(sets_[s], i)) {
        ++placed;
      } else {
        ++outside_[s * kinds_ + kind_of_[i]];
      }
    }
    placed_.push_back(placed);
  }
}

void LayerSets::enumerate(std::size_t most, bool contiguous, const Deadline& deadline) {
  const std::size_t words = (layers_ + 63) / 64;
  std::vector<std::vector<std::size_t>> users(layers_);
  for (const Edge& edge : graph_->edges()) users[edge.from.index()].push_back(edge.to.index());
  // The last layers in their order, where they are a downset.
  const auto suffixes = [&] {
    sets_.assign(1, Set(words, 0));
    Set suffix = sets_.front();
    std::size_t lowest_user = layers_;
    for (std::size_t i = layers_; i-- > 0;) {
      put(suffix, i);
      for (const std::size_t user : users[i]) lowest_user = std::min(lowest_user, user);
      if (lowest_user >= i) sets_.push_back(suffix);
    }
  };
  if (contiguous) {
    suffixes();
    return;
  }
  std::unordered_map<std::size_t, std::vector<std::size_t>> known;  // by hash
  sets_.assign(1, Set(words, 0));
  known[hash_of(sets_.front())].push_back(0);
  std::size_t begin = 0;
  for (std::size_t size = 0; size < layers_; ++size) {
    const std::size_t end = sets_.size();
    for (std::size_t s = begin; s < end; ++s) {
      deadline.look();
      for (std::size_t i = layers_; i-- > 0;) {
        if (has(sets_[s], i)) continue;
        if (!std::all_of(users[i].begin(), users[i].end(),
                         [&](std::size_t user) { return has(sets_[s], user); }))
          continue;
        Set next = sets_[s];
        put(next, i);
        std::vector<std::size_t>& alike = known[hash_of(next)];
        if (std::any_of(alike.begin(), alike.end(), [&](std::size_t k) { return sets_[k] == next; }))
          continue;
        alike.push_back(sets_.size());
        sets_.push_back(std::move(next));
      }
    }
    if (sets_.size() > most) {
      complete_ = false;
      suffixes();
      return;
    }
    begin = end;
  }
}

// The two parts that the boundary of a downset lies between.
std::vector<std::int32_t> LayerSets::halves(const Set& set) const {
  std::vector<std::int32_t> part(layers_);
  for (std::size_t i = 0; i < layers_; ++i) part[i] = has(set, i) ? 1 : 0;
  return part;
}

StageClass LayerSets::class_of(const std::vector<LayerId>& layers, Bytes before, Bytes after,
                               Bytes returning) const {
  StageClass made;
  made.before = before;
  made.after = after;
  made.returning = returning;
  made.counts.assign(kinds_, 0);
  made.kinds.reserve(layers.size());
  for (const LayerId id : layers) {
    const std::uint16_t kind = kind_of_[id.index()];
    made.kinds.push_back(kind);
    ++made.counts[kind];
    made.recomputable += recomputes_[kind] ? 1 : 0;
  }
  for (const TiedTensor& t : graph_->tied()) {
    const auto holds = [&](LayerId id) { return std::binary_search(layers.begin(), layers.end(), id); };
    const auto users = std::count_if(t.layers.begin(), t.layers.end(), holds);
    if (users == 0 || users == static_cast<std::ptrdiff_t>(t.layers.size())) continue;
    if (t.frozen) {
      if (!holds(t.layers.front())) made.tied_frozen += static_cast<double>(t.parameters);
      continue;
    }
    made.splits_tied = true;
    made.tied_summed += static_cast<double>(t.parameters);
    if (!holds(t.layers.front())) made.tied_copied += static_cast<double>(t.parameters);
  }
  return made;
}

std::vector<LayerId> LayerSets::stage(std::int32_t from, std::int32_t to) const {
  const Set& less = sets_[static_cast<std::size_t>(from)];
  const Set& more = sets_[static_cast<std::size_t>(to)];
  std::vector<LayerId> ids;
  for (std::size_t i = 0; i < layers_; ++i) {
    if (has(more, i) && !has(less, i)) ids.emplace_back(static_cast<std::int32_t>(i));
  }
  return ids;
}

void LayerSets::add_moves(const Deadline& deadline, Bytes memory) {
  std::vector<Bytes> boundaries;
  std::vector<Bytes> returning;
  boundaries.reserve(sets_.size());
  returning.reserve(sets_.size());
  for (const Set& set : sets_) {
    deadline.look();
    const std::vector<std::int32_t> parts = halves(set);
    boundaries.push_back(graph_->crossing(parts, 2).front());
    returning.push_back(graph_->returning(parts, 2).front());
  }
  // Where all downsets are the last layers in their order, each stage is longer than the one before it.
  const auto lowest = [&](std::size_t s) { return layers_ - static_cast<std::size_t>(placed_[s]); };
  bool in_order = true;
  for (std::size_t s = 0; s < sets_.size() && in_order; ++s) {
    for (std::size_t i = 0; i < lowest(s) && in_order; ++i) in_order = !has(sets_[s], i);
  }
  ClassNumbers numbers;
  std::int64_t taken = 0;
  for (std::size_t s = 0; s < sets_.size(); ++s) {
    deadline.look();
    ClassNumbers::Sequence sequence = ClassNumbers::kEmpty;
    for (std::size_t t = s + 1; t < sets_.size(); ++t) {
      deadline.glance();
      std::vector<LayerId> layers;
      if (in_order) {
        for (std::size_t i = lowest(t - 1); i-- > lowest(t);)
          sequence = numbers.extended(sequence, kind_of_[i]);
      } else {
        if (placed_[t] == placed_[s] || !is_subset(sets_[s], sets_[t])) continue;
        layers = stage(static_cast<std::int32_t>(s), static_cast<std::int32_t>(t));
        sequence = ClassNumbers::kEmpty;
        for (std::size_t i = layers.size(); i-- > 0;)
          sequence = numbers.extended(sequence, kind_of_[layers[i].index()]);
      }
      const std::int32_t number = numbers.of(sequence, boundaries[t], boundaries[s], returning[s]);
      if (static_cast<std::size_t>(number) == classes_.size()) {
        if (in_order) layers = stage(static_cast<std::int32_t>(s), static_cast<std::int32_t>(t));
        classes_.push_back(class_of(layers, boundaries[t], boundaries[s], returning[s]));
        const StageClass& made = classes_.back();
        taken += static_cast<std::int64_t>(sizeof(made) + made.kinds.size() * sizeof(made.kinds[0]) +
                                           made.counts.size() * sizeof(made.counts[0]));
      }
      moves_.push_back({static_cast<std::int32_t>(t), number});
    }
    moves_end_.push_back(moves_.size());
    const auto moves = static_cast<std::int64_t>(moves_.size() * sizeof(Move));
    if (taken + moves + numbers.memory().value > memory.value) throw TableTooLarge{};
  }
}

}  // namespace nest::solve
