// How many devices and nodes the copies of one token reach, in the mean: what dispatchers that send a token once to
// each of them pay for. Experts lie in equal blocks; a token takes top-k different ones at random. Routing limited to
// some groups of experts (DeepSeek-V3: 4 of 8) reaches fewer.
//
//   reached_blocks({.experts = 256, .top_k = 8}, 8)                       -> 5.30 of 8 devices
//   reached({.experts = 256, .top_k = 8, .groups = 8, .limit = 4}, 64, 8) -> 7.47 devices on 3.98 nodes
#pragma once

#include <cstdint>

#include "nest/model/graph/operator.hpp"

namespace nest::estimate {

// Without a limit on groups: the closed form.
[[nodiscard]] double reached_blocks(const TokenRoute& route, double blocks);

struct Reached {
  double devices = 1;
  double nodes = 1;
};
// Of a group of `devices` on `nodes`. Groups of experts are ranked by their best expert.
[[nodiscard]] Reached reached(const TokenRoute& route, std::int64_t devices, std::int64_t nodes);

}  // namespace nest::estimate
