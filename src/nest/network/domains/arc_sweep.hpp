// Ranges of groups that the children of a domain hold, cut so that all groups of one piece lie in the same
// children.
//
//   child 0 holds groups 0..3, child 1 groups 2..5  ->  0..1 in {0}, 2..3 in {0, 1}, 4..5 in {1}
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "nest/base/rooms.hpp"

namespace nest::network {

// Groups `from` to `to` - 1 of an owner, each with so many members in one child.
struct GroupArc {
  std::int32_t owner = 0;
  std::int32_t from = 0;
  std::int32_t to = 0;
  std::int32_t count = 0;
  std::int32_t facts = 0;
  std::int32_t child = 0;

  [[nodiscard]] std::int32_t groups() const { return to - from; }
};

class ArcSweep {
 public:
  struct Piece {
    std::int32_t owner = 0;
    std::int32_t from = 0;
    std::int32_t to = 0;
    std::size_t first = 0;  // its part of the arcs' list
    std::size_t last = 0;
  };

  // By owner and then by group.
  void sweep(std::vector<GroupArc>& arcs);
  [[nodiscard]] const std::vector<Piece>& pieces() const { return pieces_; }
  // What lies in a piece, by child.
  [[nodiscard]] std::span<const GroupArc> arcs(const Piece& piece) const {
    return {arcs_.data() + piece.first, piece.last - piece.first};
  }

 private:
  void sort_by_owner(std::vector<GroupArc>& arcs);
  void sweep_owner(std::span<const GroupArc> arcs);

  std::vector<Piece> pieces_;
  std::vector<GroupArc> arcs_;
  std::vector<std::int32_t> cuts_;
  std::vector<std::size_t> begins_;
};

}  // namespace nest::network
