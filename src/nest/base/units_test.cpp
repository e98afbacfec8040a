#include "nest/base/units.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace nest::base {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();

TEST(ParseBytes, KnowsEveryUnit) {
  const std::vector<std::pair<std::string, std::int64_t>> cases{{"3", 3},
                                                                {"3 B", 3},
                                                                {"3 bytes", 3},
                                                                {"3 kB", 3'000},
                                                                {"3 KB", 3'000},
                                                                {"3 MB", 3'000'000},
                                                                {"3 GB", 3'000'000'000},
                                                                {"3 TB", 3'000'000'000'000},
                                                                {"3 KiB", 3072},
                                                                {"3 MiB", 3145728},
                                                                {"3 GiB", 3221225472},
                                                                {"3 TiB", 3298534883328},
                                                                {"3 PB", 3'000'000'000'000'000},
                                                                {"3 EB", 3'000'000'000'000'000'000},
                                                                {"3 PiB", 3377699720527872},
                                                                {"3 EiB", 3458764513820540928},
                                                                {"80GiB", 85899345920},
                                                                {"  80\tGiB ", 85899345920},
                                                                {"1e9", 1'000'000'000},
                                                                {"0", 0},
                                                                {"1.5 KiB", 1536}};
  for (const auto& [text, bytes] : cases) EXPECT_EQ(parse_bytes(text), Bytes{bytes}) << text;
}

TEST(ParseBytes, RoundsFractionsUp) {
  EXPECT_EQ(parse_bytes("0.1 B"), Bytes{1});
  EXPECT_EQ(parse_bytes("1.0005 kB"), Bytes{1001});
  EXPECT_EQ(parse_bytes("80.1 GB"), Bytes{80'100'000'000});
  EXPECT_EQ(parse_bytes("0.3 kB"), Bytes{300});
}

TEST(ParseBytes, RefusesWhatIsNoSize) {
  for (const char* text : {"",         " ",      "GiB", "80 gib", "80 Gb", "80 GiBs", "80 G iB",
                           "-1",       "-1 GiB", "nan", "inf",    "1e400", "1e19",    "10000000 TB",
                           "1e300 TB", "1,000",  "+5",  "0x10",   "5 s",   "5 GB/s",  "80\nGiB"}) {
    EXPECT_EQ(parse_bytes(text), std::nullopt) << text;
  }
}

TEST(ParsePower, KnowsEveryUnit) {
  EXPECT_EQ(parse_power("700 W"), Watts{700});
  EXPECT_EQ(parse_power("1.2kW"), Watts{1200});
  EXPECT_EQ(parse_power("3 MW"), Watts{3e6});
  EXPECT_EQ(parse_power("3 kg"), std::nullopt);
  EXPECT_EQ(format(Watts{700}), "700 W");
  EXPECT_EQ(format(Watts{14'300}), "14.3 kW");
}

TEST(FormatLong, MinutesHoursAndDays) {
  EXPECT_EQ(format_long(Seconds{0.5}), "500 ms");
  EXPECT_EQ(format_long(Seconds{90}), "90 s");
  EXPECT_EQ(format_long(Seconds{600}), "10 min");
  EXPECT_EQ(format_long(Seconds{5400}), "90 min");
  EXPECT_EQ(format_long(Seconds{10'800}), "3 h");
  EXPECT_EQ(format_long(Seconds{200'000}), "2.31 days");
}

TEST(ParseTime, KnowsEveryUnit) {
  const std::vector<std::pair<std::string, double>> cases{{"3", 3},
                                                          {"3 s", 3},
                                                          {"3 ms", 3e-3},
                                                          {"3 us", 3e-6},
                                                          {"3 \xc2\xb5s", 3e-6},
                                                          {"3 \xce\xbcs", 3e-6},
                                                          {"3 ns", 3e-9},
                                                          {"3 ps", 3e-12},
                                                          {"3 min", 180},
                                                          {"3h", 10'800},
                                                          {"2 hours", 7200},
                                                          {"2 d", 172'800},
                                                          {"2 days", 172'800},
                                                          {"2.5us", 2.5e-6},
                                                          {"1e-6", 1e-6},
                                                          {"0.7 us", 0.7e-6},
                                                          {"5 us", 5e-6}};
  for (const auto& [text, seconds] : cases)
    EXPECT_EQ(parse_time(text).value_or(Seconds{-1}).value, seconds) << text;
  for (const char* text : {"", "us", "3 H", "3 US", "3 m", "3 GB", "1e308 min", "nan s"}) {
    EXPECT_EQ(parse_time(text), std::nullopt) << text;
  }
}

TEST(ParseBandwidth, KnowsEveryUnit) {
  const std::vector<std::pair<std::string, double>> cases{{"8", 8},
                                                          {"8 B/s", 8},
                                                          {"8 kB/s", 8e3},
                                                          {"8 KB/s", 8e3},
                                                          {"8 MB/s", 8e6},
                                                          {"8 GB/s", 8e9},
                                                          {"8 TB/s", 8e12},
                                                          {"50 PB/s", 5e16},
                                                          {"1 EB/s", 1e18},
                                                          {"8 PiB/s", 9007199254740992},
                                                          {"1 EiB/s", 1152921504606846976},
                                                          {"8 KiB/s", 8192},
                                                          {"8 MiB/s", 8388608},
                                                          {"8 GiB/s", 8589934592},
                                                          {"8 TiB/s", 8796093022208},
                                                          {"8 Mb/s", 1e6},
                                                          {"8 Gb/s", 1e9},
                                                          {"8 Tb/s", 1e12},
                                                          {"8 Mbit/s", 1e6},
                                                          {"8 Gbit/s", 1e9},
                                                          {"8 Tbit/s", 1e12},
                                                          {"8 Mbps", 1e6},
                                                          {"8 Gbps", 1e9},
                                                          {"8 Tbps", 1e12},
                                                          {"400 Gb/s", 5e10}};
  for (const auto& [text, rate] : cases) {
    EXPECT_EQ(parse_bandwidth(text).value_or(BytesPerSecond{-1}).value, rate) << text;
  }
  for (const char* text : {"", "GB/s", "8 GB", "8 gb/s", "8 GBps", "1e300 TB/s"}) {
    EXPECT_EQ(parse_bandwidth(text), std::nullopt) << text;
  }
}

TEST(ParseComputeRate, KnowsEveryUnit) {
  const std::vector<std::pair<std::string, double>> cases{
      {"5", 5},          {"5 FLOP/s", 5},    {"5 GFLOP/s", 5e9}, {"5 TFLOP/s", 5e12}, {"5 PFLOP/s", 5e15},
      {"5 GFLOPS", 5e9}, {"5 TFLOPS", 5e12}, {"5 PFLOPS", 5e15}, {"5 TF/s", 5e12},    {"5 PF/s", 5e15}};
  for (const auto& [text, rate] : cases) {
    EXPECT_EQ(parse_compute_rate(text).value_or(FlopsPerSecond{-1}).value, rate) << text;
  }
  for (const char* text : {"", "TFLOP/s", "5 TFLOP", "5 tflops", "5 GB/s"}) {
    EXPECT_EQ(parse_compute_rate(text), std::nullopt) << text;
  }
}

TEST(UnitHint, GuessesTheUnitOrShowsHow) {
  EXPECT_EQ(unit_hint("80 gib", UnitKind::bytes), "did you mean 'GiB'?");
  EXPECT_EQ(unit_hint("5 uss", UnitKind::time), "did you mean 'us'?");
  EXPECT_EQ(unit_hint("400 GBps", UnitKind::bandwidth), "did you mean 'GB/s'?");  // a capital B is bytes
  EXPECT_EQ(unit_hint("400 gbps", UnitKind::bandwidth), "did you mean 'Gbps'?");
  EXPECT_EQ(unit_hint("1 gb/s", UnitKind::bandwidth), "did you mean 'GB/s' or 'Gb/s'?");
  EXPECT_EQ(unit_hint("1 ZB/s", UnitKind::bandwidth), "write it like '50 GB/s'");  // no other magnitude
  EXPECT_EQ(unit_hint("1 fs", UnitKind::time), "write it like '5 us'");
  EXPECT_EQ(unit_hint("1 ZB", UnitKind::bytes), "write it like '80 GiB'");
  EXPECT_EQ(unit_hint("1,000 GB/s", UnitKind::bandwidth), "write the number without commas");
  EXPECT_EQ(unit_hint("989 TFLOPs", UnitKind::compute_rate), "did you mean 'TFLOPS'?");
  EXPECT_EQ(unit_hint("lots", UnitKind::bytes), "write it like '80 GiB'");
  EXPECT_EQ(unit_hint("5 fortnights", UnitKind::time), "write it like '5 us'");
  EXPECT_EQ(unit_hint("", UnitKind::bandwidth), "write it like '50 GB/s'");
  EXPECT_EQ(unit_hint("5", UnitKind::compute_rate), "write it like '989 TFLOP/s'");
}

TEST(RoundUpBytes, RoundsUpAndIgnoresAHair) {
  EXPECT_EQ(round_up_bytes(0), Bytes{0});
  EXPECT_EQ(round_up_bytes(0.001), Bytes{1});
  EXPECT_EQ(round_up_bytes(10 * (0.1 + 0.2)), Bytes{3});  // 3.0000000000000004
  EXPECT_EQ(round_up_bytes(5e9 + 0.25), Bytes{5'000'000'001});
  EXPECT_EQ(round_up_bytes(1e12 + 0.25), Bytes{1'000'000'000'001});
  EXPECT_EQ(round_up_bytes(-1.5), Bytes{-1});
}

TEST(RoundUpBytes, SaturatesAtTheEnds) {
  EXPECT_EQ(round_up_bytes(1e19), Bytes{kMost});
  EXPECT_EQ(round_up_bytes(std::numeric_limits<double>::infinity()), Bytes{kMost});
  EXPECT_EQ(round_up_bytes(std::nan("")), Bytes{kMost});
  EXPECT_EQ(round_up_bytes(-1e19), Bytes{kLeast});
}

RC_GTEST_PROP(RoundUpBytes, NeverBelowAndLessThanOneAbove, ()) {
  const auto thousandths = *rc::gen::inRange<std::int64_t>(0, 4'000'000'000'000'000);
  const double bytes = static_cast<double>(thousandths) / 1000;
  const double up = static_cast<double>(round_up_bytes(bytes).value);
  RC_ASSERT(up >= bytes - 0.1);  // the hair, at 4e12 bytes
  RC_ASSERT(up < bytes + 1);
}

TEST(Format, Bytes) {
  EXPECT_EQ(format(Bytes{0}), "0 B");
  EXPECT_EQ(format(Bytes{999}), "999 B");
  EXPECT_EQ(format(Bytes{1234}), "1.23 kB");
  EXPECT_EQ(format(Bytes{80'000'000'000}), "80 GB");
  EXPECT_EQ(format(Bytes{85899345920}), "85.9 GB");
  EXPECT_EQ(format(Bytes{-1500}), "-1.5 kB");
  EXPECT_EQ(format(Bytes{999'999}), "1 MB");  // 999.999 kB
  EXPECT_EQ(format(Bytes{2'000'001'000'000'000'000}), "2,000,001 TB");
}

TEST(Format, Memory) {
  EXPECT_EQ(format_memory(Bytes{0}), "0 GiB");
  EXPECT_EQ(format_memory(Bytes{512}), "0.5 KiB");
  EXPECT_EQ(format_memory(Bytes{1 << 20}), "1 MiB");
  EXPECT_EQ(format_memory(Bytes{1000 << 20}), "1,000 MiB");
  EXPECT_EQ(format_memory(Bytes{85899345920}), "80 GiB");
  EXPECT_EQ(format_memory(Bytes{80'000'000'000}), "74.5 GiB");
  EXPECT_EQ(format_memory(Bytes{std::int64_t{3} << 39}), "1.5 TiB");
}

TEST(Format, TimesAndRates) {
  EXPECT_EQ(format(Seconds{0}), "0 s");
  EXPECT_EQ(format(Seconds{5e-6}), "5 us");
  EXPECT_EQ(format(Seconds{1.2345e-3}), "1.23 ms");
  EXPECT_EQ(format(Seconds{0.9996}), "1 s");
  EXPECT_EQ(format(Seconds{-0.9996}), "-1 s");
  EXPECT_EQ(format(Seconds{0.9994}), "999 ms");
  EXPECT_EQ(format(Seconds{3599.7}), "3,600 s");
  EXPECT_EQ(format(Seconds{2.5e-10}), "0.25 ns");
  EXPECT_EQ(format(BytesPerSecond{5e10}), "50 GB/s");
  EXPECT_EQ(format(BytesPerSecond{3.35e12}), "3.35 TB/s");
  EXPECT_EQ(format(FlopsPerSecond{989.4e12}), "989 TFLOP/s");
  EXPECT_EQ(format(FlopsPerSecond{1.979e15}), "1.98 PFLOP/s");
  EXPECT_EQ(format(BytesPerSecond{1e-12}), "1e-12 B/s");
  EXPECT_EQ(format(BytesPerSecond{98'096e12}), "98,096 TB/s");
  EXPECT_EQ(format(FlopsPerSecond{1e300}), "1e+300 FLOP/s");
  EXPECT_EQ(format(BytesPerSecond{1e300}), "1e+300 B/s");
  EXPECT_EQ(format(Seconds{-1e300}), "-1e+300 s");
}

TEST(Format, Flops) {
  EXPECT_EQ(format(Flops{5000}), "5,000 FLOP");
  EXPECT_EQ(format(Flops{1.5e12}), "1.5 TFLOP");
  EXPECT_EQ(format(Flops{3.2e18}), "3.2 EFLOP");
}

TEST(Format, Counts) {
  EXPECT_EQ(format_count(1024), "1,024");
  EXPECT_EQ(format_count(999'999), "999,999");
  EXPECT_EQ(format_count(124'439'808), "124 M");
  EXPECT_EQ(format_count(70'553'706'496), "70.6 B");
  EXPECT_EQ(format_count(999'700'000), "1 B");
  EXPECT_EQ(format_count(1.04e12), "1.04 T");
  EXPECT_EQ(format_digits(0), "0");
  EXPECT_EQ(format_digits(999), "999");
  EXPECT_EQ(format_digits(1000), "1,000");
  EXPECT_EQ(format_digits(-1000), "-1,000");
  EXPECT_EQ(format_digits(-100), "-100");
  EXPECT_EQ(format_digits(70'553'706'496), "70,553,706,496");
  EXPECT_EQ(format_digits(kLeast), "-9,223,372,036,854,775,808");
}

// What is shown reads back as what it was, to the three digits that are shown.
RC_GTEST_PROP(Format, ReadsBackToThreeDigits, ()) {
  const auto near = [](double a, double b) { return std::abs(a - b) <= 0.0051 * std::abs(b); };
  const auto whole = *rc::gen::inRange<std::int64_t>(1, 4'000'000'000'000'000);
  const auto plain = [](std::string text) {
    std::erase(text, ',');
    return text;
  };
  const auto read_back = [&](const std::string& text) {
    return static_cast<double>(parse_bytes(plain(text)).value().value);
  };
  RC_ASSERT(near(read_back(format(Bytes{whole})), static_cast<double>(whole)));
  if (whole > 1'000'000) RC_ASSERT(near(read_back(format_memory(Bytes{whole})), static_cast<double>(whole)));
  const double x = std::ldexp(static_cast<double>(*rc::gen::inRange<std::int64_t>(1, 1'000'000)),
                              *rc::gen::inRange(-30, 40));
  RC_ASSERT(near(parse_time(plain(format(Seconds{x}))).value().value, x));
  RC_ASSERT(near(parse_bandwidth(plain(format(BytesPerSecond{x}))).value().value, x));
  RC_ASSERT(near(parse_compute_rate(plain(format(FlopsPerSecond{x}))).value().value, x));
}

TEST(Quantity, CalculatesInItsUnit) {
  EXPECT_EQ(Bytes{100} / BytesPerSecond{50}, Seconds{2});
  EXPECT_EQ(Flops{100} / FlopsPerSecond{50}, Seconds{2});
  EXPECT_EQ(Seconds{1} + 2.0 * Seconds{3} - Seconds{2} * 0.5, Seconds{6});
  Bytes sum{1};
  sum += Bytes{4};
  sum -= Bytes{2};
  EXPECT_EQ(sum, Bytes{3});
  EXPECT_LT(Bytes{2}, Bytes{3});
}

}  // namespace
}  // namespace nest::base
