#include "nest/cluster/matrix.hpp"

#include <gtest/gtest.h>

namespace nest {
namespace {

std::string error_of(const std::string& rates, const std::string& times = "-,1 us\n1 us,-\n") {
  try {
    (void)read_matrices({"bw.csv", rates}, {"lat.csv", times});
  } catch (const InputError& e) {
    return e.what();
  }
  return "no error";
}

TEST(Matrix, UnitsAndPlainNumbersMix) {
  const MeasuredPairs m =
      read_matrices({"bw.csv", "0, 50 GB/s\n5e10, 0\n"}, {"lat.csv", "x,1 us\r\n0.000001,\r\n"});
  EXPECT_EQ(m.names, (std::vector<std::string>{"d0", "d1"}));
  EXPECT_DOUBLE_EQ(m.table.at(0, 1).bandwidth, 50e9);
  EXPECT_DOUBLE_EQ(m.table.at(1, 0).latency, 1e-6);
  EXPECT_TRUE(m.warnings.empty());
}

TEST(Matrix, NamesAndCommentsAreAllowed) {
  const MeasuredPairs m = read_matrices({"bw.csv", "# measured\n,gpu0,gpu1\ngpu0,,1 GB/s\ngpu1,1 GB/s,\n"},
                                        {"lat.csv", "-,1 us\n1 us,-\n"});
  EXPECT_EQ(m.names, (std::vector<std::string>{"gpu0", "gpu1"}));
}

TEST(Matrix, DirectionsAreAveragedAndLargeDifferencesTold) {
  const MeasuredPairs m = read_matrices({"bw.csv", "0,10\n12,0\n"}, {"lat.csv", "0,1\n1,0\n"});
  EXPECT_DOUBLE_EQ(m.table.at(0, 1).bandwidth, 11);
  EXPECT_EQ(
      m.warnings,
      (Warnings{"bw.csv: the two directions between 'd1' and 'd0' differ by 20 %; their mean is taken"}));
}

TEST(Matrix, BrokenFilesAreAnsweredToTheLetter) {
  EXPECT_EQ(error_of(""), "bw.csv: the file is empty");
  EXPECT_EQ(error_of("0\n"), "bw.csv: at least two devices are expected");
  EXPECT_EQ(error_of("0,1\n1,0,2\n"),
            "bw.csv: line 2: 3 entries, but the matrix has 2 rows; it must be square");
  EXPECT_EQ(error_of("0,1 GB/s,1 GB/s\n1 GB/s,0,1 GB/s\n1 GB/s,12 parsec,0\n"),
            "bw.csv: line 3, column 2: '12 parsec' is not a bandwidth; write it like '50 GB/s'");
  EXPECT_EQ(error_of("0,-1\n1,0\n"), "bw.csv: line 1, column 2: '-1' is not above 0");
  EXPECT_EQ(error_of("0,1\n0,0\n"), "bw.csv: line 2, column 1: '0' is not above 0");
  EXPECT_EQ(error_of("0,1\n1,0\n", "0,1\n,0\n"),
            "lat.csv: line 2, column 1: '' is not a time; write it like '5 us'");
  EXPECT_EQ(error_of("0,1\n1,0\n", "0,1,1\n1,0,1\n1,1,0\n"), "lat.csv: 3 devices, but bw.csv has 2");
  EXPECT_EQ(error_of("0,1\n2,0\n"),
            "bw.csv: the two directions between 'd1' and 'd0' differ by 100 %; levels have one figure for "
            "both directions");
  EXPECT_EQ(error_of(",a,b\na,0,1\nb,1,0\n", ",a,c\na,0,1\nc,1,0\n"),
            "lat.csv: the devices' names differ from those in bw.csv");
}

}  // namespace
}  // namespace nest
