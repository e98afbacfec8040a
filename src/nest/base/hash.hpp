// Hashes of keys with several parts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "nest/base/rooms.hpp"

namespace nest::base {

// Takes one more part into a hash; the order of parts counts.
inline void mix_hash(std::size_t& hash, std::size_t part) {
  hash = (hash ^ part) * 0x9e3779b97f4a7c15ULL;
  hash ^= hash >> 32;
}

// The same on every machine: FNV-1a with 64 bits, for names of things that are kept in files.
[[nodiscard]] inline std::uint64_t fnv1a(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return hash;
}

}  // namespace nest::base
