#include "nest/report/sweep/sweep_axis.hpp"

#include <gtest/gtest.h>

#include "nest/base/error.hpp"

namespace nest::report {
namespace {

using Values = std::vector<std::string>;

std::string refusal(const std::string& text) {
  try {
    (void)read_sweep_axis(text);
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(SweepAxis, ReadsLists) {
  const SweepAxis axis = read_sweep_axis("devices = 64, 128,256");
  EXPECT_EQ(axis.field, "devices");
  EXPECT_EQ(axis.values, (Values{"64", "128", "256"}));
  EXPECT_EQ(read_sweep_axis("model=llama2-7b,gpt2-xl").values, (Values{"llama2-7b", "gpt2-xl"}));
}

TEST(SweepAxis, ReadsRanges) {
  EXPECT_EQ(read_sweep_axis("cluster.levels.2.bandwidth=12.5GB/s..400GB/s:log6").values,
            (Values{"12.5GB/s", "25GB/s", "50GB/s", "100GB/s", "200GB/s", "400GB/s"}));
  EXPECT_EQ(read_sweep_axis("a=10..40:4").values, (Values{"10", "20", "30", "40"}));
  EXPECT_EQ(read_sweep_axis("a=64..1024:log5").values, (Values{"64", "128", "256", "512", "1024"}));
  EXPECT_EQ(read_sweep_axis("a=0.5..1.5:3").values, (Values{"0.5", "1", "1.5"}));
  EXPECT_EQ(read_sweep_axis("a=40..80 GB:3").values, (Values{"40GB", "60GB", "80GB"}));
  EXPECT_EQ(read_sweep_axis("a=500MB/s..1GB/s:2").values, (Values{"5e+08", "1e+09"}));
  EXPECT_EQ(read_sweep_axis("a=1..2:4").values, (Values{"1", "2"}));  // whole numbers, without repeats
}

TEST(SweepAxis, LengthsHaveBinarySuffixes) {
  EXPECT_EQ(read_sweep_axis("sequence=8K..128K:log5").values,
            (Values{"8192", "16384", "32768", "65536", "131072"}));
  const SweepAxis axis = read_sweep_axis("sequence=8K,1M");
  EXPECT_EQ(axis.values, (Values{"8K", "1M"}));
  EXPECT_TRUE(is_numeric(axis));
  EXPECT_EQ(sweep_number("1M"), 1'048'576);
}

TEST(SweepAxis, SaysWhatIsWrong) {
  EXPECT_EQ(refusal("devices"),
            "--vary devices: a field and its values are expected; try devices=64,128,256");
  EXPECT_EQ(refusal("a=1..8"), "--vary a=1..8: a range needs the number of its values; try 1..8:log6");
  EXPECT_EQ(refusal("a=1..8:x"),
            "--vary a=1..8:x: 'x' is not a number of values from 2 to 1,000; try :6 or :log6");
  EXPECT_EQ(refusal("a=0..8:log3"),
            "--vary a=0..8:log3: evenly spaced ratios need numbers above 0; use :6 instead of :log6");
  EXPECT_EQ(refusal("a=x..y:3"),
            "--vary a=x..y:3: 'x..y' is not a range of numbers; try 12.5GB/s..400GB/s:log6");
  EXPECT_EQ(refusal("a=1GB..2GB/s:3"),
            "--vary a=1GB..2GB/s:3: '1GB..2GB/s' is not a range of numbers; try 12.5GB/s..400GB/s:log6");
  EXPECT_EQ(refusal("a=1,,2"), "--vary a=1,,2: a value is missing between commas");
  EXPECT_EQ(refusal("a=1,1"), "--vary a=1,1: '1' is there twice");
}

TEST(SweepAxis, NumbersHaveSiUnits) {
  EXPECT_DOUBLE_EQ(sweep_number("12.5GB/s").value(), 12.5e9);
  EXPECT_DOUBLE_EQ(sweep_number("80 GiB").value(), 80.0 * (1LL << 30));
  EXPECT_DOUBLE_EQ(sweep_number("64").value(), 64);
  EXPECT_EQ(sweep_number("llama2-7b"), std::nullopt);
}

}  // namespace
}  // namespace nest::report
