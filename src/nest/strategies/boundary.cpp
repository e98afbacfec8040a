#include "nest/strategies/boundary.hpp"

namespace nest::strategies {

Bytes boundary_bytes(Bytes whole, const Strategy& s) {
  const std::int64_t shares = s.context * (s.shards_sequence() ? s.tensor : 1);
  return Bytes{(whole.value + shares - 1) / shares};
}

Bytes boundary_bytes(const Edge& edge, const Strategy& s) {
  return boundary_bytes(edge.bytes, s);
}

}  // namespace nest::strategies
