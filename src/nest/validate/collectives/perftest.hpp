// What the perftest programs print of one InfiniBand or RoCE link between two hosts: ib_write_bw and its likes a table of
// bandwidths, ib_write_lat and its likes one of latencies.
//
//    #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]
//    65536      5000             392.01             391.85             0.747
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "nest/base/units.hpp"

namespace nest::validate {

struct LinkTest {
  std::optional<BytesPerSecond> bandwidth;  // in one direction: the best average of the sizes
  std::optional<Seconds> latency;           // of the smallest message
};

[[nodiscard]] bool is_perftest(std::string_view text);
// Throws an InputError where there is no table, or one without a row that can be read.
[[nodiscard]] LinkTest read_perftest(const std::string& file, std::string_view text);

}  // namespace nest::validate
