// What nccl-tests and rccl-tests print: one or more tables of sizes and times, each of one collective over some ranks.
//
//   const auto tests = read_nccl_tests("all_reduce.txt", text);
//   tests[0].kind, tests[0].ranks, tests[0].hosts, tests[0].rows.size()   -> all_reduce, 16, 2, 28
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "nest/base/units.hpp"
#include "nest/model/graph/operator.hpp"

namespace nest::validate {

struct NcclRow {
  Bytes size;
  Seconds time;  // out of place
};

struct NcclTest {
  CollectiveKind kind = CollectiveKind::none;
  std::int32_t ranks = 0;
  std::int32_t hosts = 1;
  std::vector<NcclRow> rows;
};

// Throws an InputError where there is no table, or one whose ranks or collective are not known.
[[nodiscard]] std::vector<NcclTest> read_nccl_tests(const std::string& file, std::string_view text);

// Whether a text has the head of such a table.
[[nodiscard]] bool is_nccl_tests(std::string_view text);

}  // namespace nest::validate
