#include "nest/validate/collectives/collective_rows.hpp"

#include <gtest/gtest.h>

#include "nest/base/error.hpp"

namespace nest::validate {
namespace {

const std::string kHeader =
    "id,source,collective,hardware,num_gpus,num_nodes,gpus_per_node,intra_link,inter_link,algo,message_bytes,"
    "time_us,"
    "algbw_GBps,busbw_GBps,notes\n";

TEST(CollectiveRows, QuotesAndEmptyFields) {
  const auto rows = read_collective_rows(
      "c.csv", kHeader + "a,\"x, \"\"y\"\"\",all_reduce,H100,8,1,8,NVLink4,,,1024,10.5,,,n\r\n\n");
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].source, "x, \"y\"");
  EXPECT_EQ(rows[0].devices, 8);
  EXPECT_EQ(rows[0].time_us, 10.5);
  EXPECT_FALSE(rows[0].bus_gb_per_s);
  EXPECT_EQ(rows[0].notes, "n");
}

std::string message(const std::string& text) {
  try {
    static_cast<void>(read_collective_rows("c.csv", text));
  } catch (const InputError& e) {
    return e.what();
  }
  return "no error";
}

TEST(CollectiveRows, ErrorsAreSentences) {
  EXPECT_EQ(message("id,source\na,b\n"), "c.csv: line 1: no column 'collective'");
  EXPECT_EQ(message(kHeader + "a,b\n"), "c.csv: line 2: 2 fields, but the header has 15");
  EXPECT_EQ(message(kHeader + "a,s,all_reduce,H100,eight,1,8,,,,1,1,,,\n"),
            "c.csv: line 2: 'num_gpus' is 'eight', not a positive number");
}

}  // namespace
}  // namespace nest::validate
