#include "nest/question/asked_run.hpp"

#include <gtest/gtest.h>

namespace nest::question {
namespace {

Asked with(std::string_view field, std::string_view text) {
  Asked asked;
  set_asked(asked, field, text);
  return asked;
}

std::string refused(std::string_view field, std::string_view text) {
  try {
    (void)with(field, text);
  } catch (const AskedError& error) {
    return error.problem();
  }
  return "";
}

TEST(AskedRun, Prices) {
  using Prices = std::vector<std::pair<std::string, double>>;
  EXPECT_EQ(with("price", "2.5/h").run.prices, (Prices{{"", 2.5}}));
  EXPECT_EQ(with("price", "$3").run.prices, (Prices{{"", 3}}));
  EXPECT_EQ(with("price", "h100-sxm=2.5,b200=$5/h").run.prices, (Prices{{"h100-sxm", 2.5}, {"b200", 5}}));
  EXPECT_EQ(refused("price", "free"), "'free' is not a number above 0; try 2.5/h");
  EXPECT_EQ(refused("price", "h100-sxm="), "'h100-sxm=' is not a number above 0; try 2.5/h");
  EXPECT_EQ(refused("price", "=2"), "'=2' is not a number above 0; try 2.5/h");
  EXPECT_EQ(refused("price", "-1"), "'-1' is not a number above 0; try 2.5/h");
  EXPECT_EQ(refused("price", ""), "'' is not a number above 0; try 2.5/h");
}

TEST(AskedRun, FailuresOfADeviceANodeOrAll) {
  EXPECT_EQ(*with("mtbf", "50000h").run.mtbf, (Amount{1.8e8, Amount::Of::device}));
  EXPECT_EQ(*with("mtbf", "10 days/node").run.mtbf, (Amount{864'000, Amount::Of::node}));
  EXPECT_EQ(*with("mtbf", "3h/all").run.mtbf, (Amount{10'800, Amount::Of::all}));
  EXPECT_EQ(refused("mtbf", "50000"), "'50000' has no unit; try 50000h");
  EXPECT_EQ(refused("mtbf", "0h"), "'0h' is not a time above 0; try 50000h");
  EXPECT_EQ(refused("mtbf", "3h/rack"), "'3h/rack' is not a time above 0; try 50000h");
  EXPECT_EQ(*with("checkpoint-bandwidth", "2TB/s/all").run.bandwidth, (Amount{2e12, Amount::Of::all}));
  EXPECT_EQ(refused("checkpoint-bandwidth", "fast"),
            "'fast' is not a bandwidth above 0; try 125MB/s or 2TB/s/all");
}

TEST(AskedRun, PowerAndTimes) {
  EXPECT_EQ(with("power", "1.2kW").run.power, Watts{1200});
  EXPECT_EQ(refused("power", "hot"), "'hot' is not a power; write it like '700 W'");
  EXPECT_EQ(with("electricity", "0.12/kWh").run.electricity, 0.12);
  EXPECT_EQ(with("restart", "10min").run.restart, Seconds{600});
  EXPECT_EQ(with("restart", "0").run.restart, Seconds{0});
  EXPECT_EQ(refused("restart", "10"), "'10' has no unit; try 10min");
  EXPECT_EQ(with("checkpoint-size", "1 TB").run.checkpoint, Bytes{1'000'000'000'000});
  EXPECT_EQ(refused("checkpoint-size", "1"), "'1' is not a size; try '1 TB'");
}

// What is spelt reads back as the same.
TEST(AskedRun, SpellsWhatItReads) {
  for (const auto& [field, text] :
       {std::pair("price", "h100-sxm=2.5,b200=5"), std::pair("price", "2.5"), std::pair("mtbf", "7h/node"),
        std::pair("checkpoint-bandwidth", "2TB/s/all"), std::pair("power", "700 W"),
        std::pair("restart", "90 s"), std::pair("repair", "24h"), std::pair("checkpoint-size", "5 GB"),
        std::pair("electricity", "0.1")}) {
    const Asked asked = with(field, text);
    EXPECT_EQ(with(field, find_asked_field(field)->spell(asked)).run, asked.run) << text;
    EXPECT_EQ(find_asked_field(field)->spell(Asked()), "");
  }
}

}  // namespace
}  // namespace nest::question
