// What ibnetdiscover prints of an InfiniBand fabric: switches with their ports, and the hosts behind them.
//
//   Switch 65 "S-2c5eab0300b87b40"   # "MF0;LEAF-04:MQM9701/U1" enhanced port 0 lid 73 lmc 0
//   [1]  "H-e09d7303007a4bd8"[1](e09d7303007a4bd8)   # "node001 mlx5_0" lid 647 4xNDR
//   [35] "S-2c5eab0300c26280"[32]                    # "MF0;SPINE-02:MQM9701/U1" lid 236 4xNDR
#pragma once

#include "nest/base/units.hpp"
#include "nest/cluster/imports/facts.hpp"

namespace nest::cluster {

[[nodiscard]] bool is_ibnetdiscover(std::string_view text);
[[nodiscard]] ImportFacts read_ibnetdiscover(const ImportFile& file);

// "4xNDR" is 50 GB/s; none where it is something else.
[[nodiscard]] std::optional<BytesPerSecond> infiniband_rate(std::string_view width_and_speed);

}  // namespace nest::cluster
