#include "nest/cluster/reduce/matrix.hpp"

#include <gtest/gtest.h>

namespace nest::cluster {
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

TEST(Matrix, NamesMayBeARowAColumnOrBoth) {
  const auto names = [](const std::string& rates) {
    const MeasuredPairs m = read_matrices({"bw.csv", rates}, {"lat.csv", "-,1 us\n1 us,-\n"});
    EXPECT_DOUBLE_EQ(m.table.at(0, 1).bandwidth, 5);
    return m.names;
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(names(",a,b\na,-,5\nb,5,-\n"), (Names{"a", "b"}));
  EXPECT_EQ(names("a,b\n-,5\n5,-\n"), (Names{"a", "b"}));       // no column of names
  EXPECT_EQ(names("a,-,5\nb,5,-\n"), (Names{"a", "b"}));        // no row of names
  EXPECT_EQ(names("a,b\na,-,5\nb,5,-\n"), (Names{"a", "b"}));   // no corner
  EXPECT_EQ(names(",0,1\n0,-,5\n1,5,-\n"), (Names{"0", "1"}));  // names that are numbers
  EXPECT_EQ(names("0,1\n-,5\n5,-\n"), (Names{"0", "1"}));
  EXPECT_EQ(names("1,-,5\n2,5,-\n"), (Names{"1", "2"}));
  EXPECT_EQ(names(",10.0.0.1,10.0.0.2\n10.0.0.1,-,5\n10.0.0.2,5,-\n"), (Names{"10.0.0.1", "10.0.0.2"}));
  EXPECT_EQ(names("\xef\xbb\xbf,a,b\na,-,5\nb,5,-\n"), (Names{"a", "b"}));
}

// An empty diagonal is no corner, and figures that repeat by symmetry are no names.
TEST(Matrix, FiguresAreNotTakenForNames) {
  const MeasuredPairs m = read_matrices({"bw.csv", ",5,6\n5,,7\n6,7,\n"}, {"lat.csv", ",1,1\n1,,1\n1,1,\n"});
  EXPECT_EQ(m.names.size(), 3U);
  EXPECT_DOUBLE_EQ(m.table.at(1, 2).bandwidth, 7);
}

TEST(Matrix, NamesMustAgree) {
  EXPECT_EQ(
      error_of(",a,b\nb,-,5\na,5,-\n"),
      "bw.csv: line 2, column 1: the row is called 'b', but column 1 is 'a'; rows and columns must have the "
      "same names in the same order");
  EXPECT_EQ(error_of(",a,a\na,-,5\na,5,-\n"), "bw.csv: two devices are called 'a'");
  EXPECT_EQ(error_of("a,\n-,5\n5,-\n"),
            "bw.csv: line 1: 2 entries, but the matrix has 3 rows; it must be square");
  EXPECT_EQ(error_of(",a,\na,-,5\n,5,-\n"), "bw.csv: a device's name is empty");
}

TEST(Matrix, ColumnsAreSeparatedByCommas) {
  EXPECT_EQ(error_of("-;5\n5;-\n"), "bw.csv: line 1, column 1: a ';' in '-;5'; separate columns with commas");
  EXPECT_EQ(error_of("0;,1\n1,0\n"), "bw.csv: line 1, column 1: a ';' in '0;'; separate columns with commas");
  EXPECT_EQ(error_of("0\t5\n5\t0\n"),
            "bw.csv: line 1, column 1: a tab in '0?5'; separate columns with commas");
  EXPECT_EQ(error_of("0 5\n5 0\n"), "bw.csv: line 1: one column, '0 5'; separate columns with commas");
  EXPECT_EQ(error_of("0,1\n1\n"), "bw.csv: line 2: 1 entry, but the matrix has 2 rows; it must be square");
}

TEST(Matrix, WhatWasNotMeasuredIsNamed) {
  EXPECT_EQ(error_of("0,nan\n1,0\n"),
            "bw.csv: line 1, column 2: 'nan' is not a number; every pair needs one that is above 0");
  EXPECT_EQ(error_of("0,1\nInf,0\n"),
            "bw.csv: line 2, column 1: 'Inf' is not a number; every pair needs one that is above 0");
}

TEST(Matrix, RefusesWhatIsNoText) {
  EXPECT_EQ(error_of(std::string("PK\x03\x04\0\0", 6)),
            "bw.csv: is a binary file, not a matrix of texts and commas");
  EXPECT_EQ(error_of("0,1\n1\xff,0\n"), "bw.csv: line 2: not valid UTF-8; save the file as UTF-8");
  EXPECT_EQ(error_of(",a\x1b[0m,b\na\x1b[0m,-,5\nb,5,-\n"),
            "bw.csv: line 1, column 2: a text without control characters is expected");
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
}  // namespace nest::cluster
