// Tables of prices that hold the fitted constants in place (tests/data/pins). A row has inputs and, in the
// columns whose names begin with "=", figures of nine digits that were once computed from them:
//
//   accelerator,kernel,sizes,=seconds
//   a100-80,matmul/forward,8192x8192x8192,0.00441213498
//
// A test computes them again. Tables of a change that was meant are written anew by
// NEST_WRITE_PINS=1 build/tests/pins/test_pins
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace nest::pins {

class PinRow {
 public:
  explicit PinRow(std::map<std::string, std::string> inputs) : inputs_(std::move(inputs)) {}

  // Throws where the table has no such column.
  [[nodiscard]] const std::string& operator[](const std::string& column) const { return inputs_.at(column); }
  [[nodiscard]] std::int64_t whole(const std::string& column) const;

 private:
  std::map<std::string, std::string> inputs_;
};

// "8192x4096" and "tensor=2 pipeline=4".
[[nodiscard]] std::vector<std::int64_t> sizes_in(const std::string& text);
[[nodiscard]] std::map<std::string, std::string> words_in(const std::string& text);

// One figure for each column that begins with "=".
using Figures = std::function<std::vector<double>(const PinRow&)>;
void check_pins(const std::string& table, const Figures& figures);

}  // namespace nest::pins
