// Networks measured pair by pair: one CSV file of bandwidths and one of latencies, a row and a column for
// each device. Entries are plain SI numbers or have units; a first row and a first column of names are
// optional, each of them; where both are there they must agree; the diagonal is not looked at, and the two
// directions of a pair are averaged. Mistakes are answered with line and column:
//
//   bw.csv: line 3, column 2: '12 parsec' is not a bandwidth; write it like '50 GB/s'
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "nest/base/error.hpp"
#include "nest/cluster/reduce/pairs.hpp"

namespace nest::cluster {

struct MatrixText {
  std::string file;  // for messages
  std::string text;
};

struct MeasuredPairs {
  std::vector<std::string> names;  // from the files, else d0, d1, ...
  PairTable table;
  Warnings warnings;  // pairs whose two directions differ by more than 15 %; above 50 % is an error
};

[[nodiscard]] MeasuredPairs read_matrices(const MatrixText& bandwidth, const MatrixText& latency);

}  // namespace nest::cluster
