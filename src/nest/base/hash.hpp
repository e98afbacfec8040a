// Hashes of keys with several parts.
#pragma once

#include <cstddef>

namespace nest {

// Takes one more part into a hash; the order of parts counts.
inline void mix_hash(std::size_t& hash, std::size_t part) {
  hash = (hash ^ part) * 0x9e3779b97f4a7c15ULL;
  hash ^= hash >> 32;
}

}  // namespace nest
