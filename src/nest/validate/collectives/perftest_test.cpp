#include "nest/validate/collectives/perftest.hpp"

#include <gtest/gtest.h>

#include <string>

#include "support/message_of.hpp"

namespace nest::validate {
namespace {

const std::string kRule =
    "---------------------------------------------------------------------------------------\n";

TEST(Perftest, BandwidthInEitherUnit) {
  const LinkTest bits = read_perftest(
      "bw.txt",
      kRule + "                    RDMA_Write BW Test\n Dual-port       : OFF\t\tDevice         : mlx5_0\n" +
          kRule +
          " #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]\n"
          " 2          5000             0.065                0.064               4.03\n"
          " 65536      5000             392.01               391.85              0.747400\n" +
          kRule);
  EXPECT_DOUBLE_EQ(bits.bandwidth->value, 391.85e9 / 8);
  EXPECT_FALSE(bits.latency.has_value());
  // Its megabytes are 2^20 bytes; in both directions at once it adds them up.
  const LinkTest bytes =
      read_perftest("bw.txt",
                    "                    RDMA_Write Bidirectional BW Test\n"
                    " #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]\n"
                    " 65536      5000             46823.77           46800.00            0.748800\n");
  EXPECT_DOUBLE_EQ(bytes.bandwidth->value, 23400.0 * (1 << 20));
}

TEST(Perftest, LatencyOfTheSmallestMessage) {
  const LinkTest test = read_perftest(
      "lat.txt",
      " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    t_stdev[usec]\n"
      " 2       1000          1.73           4.20         1.77               1.78             0.04\n"
      " 1024    1000          2.30           5.20         2.40               2.41             0.05\n");
  EXPECT_DOUBLE_EQ(test.latency->value, 1.77e-6);
  EXPECT_FALSE(test.bandwidth.has_value());
}

TEST(Perftest, WhatIsNoTable) {
  EXPECT_FALSE(is_perftest("# nThread 1 nGpus 1 minBytes 8"));
  EXPECT_TRUE(is_perftest("#bytes #iterations BW peak[MB/sec] BW average[MB/sec]"));
  EXPECT_EQ(
      message_of([] { static_cast<void>(read_perftest("bw.txt", "#bytes BW average[Gb/sec]\n 64 fast\n")); }),
      "bw.txt: there is no table of ib_write_bw or ib_write_lat with a row; it begins with #bytes "
      "#iterations and BW "
      "average[Gb/sec] or t_typical[usec]");
}

}  // namespace
}  // namespace nest::validate
