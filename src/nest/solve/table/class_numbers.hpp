// Numbers stages that cost the same: those that hold the same kinds of layers in the same order, between
// boundaries of the same size, with gradients of the same size coming back. The sequences of kinds are a tree in which each adds one kind in front of its
// parent's, so that a stage that is one layer longer than the last one takes one step, however long it is.
//
//   ClassNumbers numbers;
//   auto sequence = numbers.extended(ClassNumbers::kEmpty, kind);    // one layer
//   sequence = numbers.extended(sequence, other);                    // that layer after another
//   numbers.of(sequence, before, after, returning)                   // 0, the first number
#pragma once

#include <cstdint>
#include <vector>

#include "nest/base/units.hpp"

namespace nest::solve {

class ClassNumbers {
 public:
  using Sequence = std::int32_t;
  static constexpr Sequence kEmpty = 0;

  // The sequence with `kind` in front.
  [[nodiscard]] Sequence extended(Sequence sequence, std::uint16_t kind) {
    std::int32_t at = nodes_[index(sequence)].first;
    while (at != kNone && nodes_[index(at)].kind != kind) at = nodes_[index(at)].next;
    if (at != kNone) return at;
    at = static_cast<std::int32_t>(nodes_.size());
    nodes_.push_back({kNone, nodes_[index(sequence)].first, kNone, kind});
    nodes_[index(sequence)].first = at;
    return at;
  }

  // Numbers are given in the order of the first calls.
  [[nodiscard]] std::int32_t of(Sequence sequence, Bytes before, Bytes after, Bytes returning) {
    std::int32_t at = nodes_[index(sequence)].classes;
    while (at != kNone && !(classes_[index(at)].before == before && classes_[index(at)].after == after &&
                            classes_[index(at)].returning == returning))
      at = classes_[index(at)].next;
    if (at != kNone) return at;
    at = static_cast<std::int32_t>(classes_.size());
    classes_.push_back({before, after, returning, nodes_[index(sequence)].classes});
    nodes_[index(sequence)].classes = at;
    return at;
  }

  [[nodiscard]] Bytes memory() const {
    return Bytes{static_cast<std::int64_t>(nodes_.size() * sizeof(Node) + classes_.size() * sizeof(Class))};
  }

 private:
  static constexpr std::int32_t kNone = -1;
  struct Node {
    std::int32_t first = kNone;    // of the longer sequences
    std::int32_t next = kNone;     // of those that its parent has
    std::int32_t classes = kNone;  // the last of them
    std::uint16_t kind = 0;
  };
  struct Class {
    Bytes before;
    Bytes after;
    Bytes returning;
    std::int32_t next = kNone;
  };

  static std::size_t index(std::int32_t i) { return static_cast<std::size_t>(i); }

  std::vector<Node> nodes_{Node{}};
  std::vector<Class> classes_;
};

}  // namespace nest::solve
