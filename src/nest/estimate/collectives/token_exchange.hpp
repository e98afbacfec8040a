// The time of sending tokens to the devices of their experts, or of bringing the results back, by a dispatcher that
// sends a token once to each node and inside it once to each device (data/dispatchers.yaml). Three things work at
// once, and the slowest counts: the multiprocessors that copy, the links inside a node, the network.
//
//   exchange_cost(route, Bytes{469'762'048}, shape, model).total   -> 1.69 ms: 4,096 tokens of 7,168 values to 8 GPUs
#pragma once

#include <span>

#include "nest/base/embedded.hpp"
#include "nest/base/units.hpp"
#include "nest/estimate/collectives/collective.hpp"
#include "nest/model/graph/operator.hpp"
#include "nest/network/groups/group.hpp"

namespace nest::estimate {

struct ExchangeCost {
  Seconds total;
  Seconds latency;  // notification included
  Seconds copies;   // by the multiprocessors
  Seconds links;    // inside a node
  Seconds network;
};

// `rows`: bytes of all copies of one device's tokens in 16 bits, its own part included. The dispatcher is not
// alltoall. `sms`: other than the dispatcher's own; 0: those.
[[nodiscard]] ExchangeCost exchange_cost(const TokenRoute& route, Bytes rows, const GroupShape& group,
                                         const CollectiveModel& model, double sms = 0);

// Multiprocessors that its kernels take from compute while they run beside it; those of a library's all-to-all too.
[[nodiscard]] double exchange_sms(Dispatcher dispatcher);

// data/dispatchers.yaml, compiled in.
[[nodiscard]] std::span<const EmbeddedFile> dispatcher_files();

}  // namespace nest::estimate
