#include "nest/base/units.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "nest/base/closest.hpp"
#include "nest/base/plain_text.hpp"

namespace nest::base {
namespace {

struct Unit {
  std::string_view name;
  double factor;
};

constexpr double kKi = 1024.0;

constexpr double kMi = kKi * kKi;
constexpr double kGi = kMi * kKi;
constexpr double kTi = kGi * kKi;
constexpr double kPi = kTi * kKi;
constexpr double kEi = kPi * kKi;

constexpr std::array<Unit, 15> kByteUnits{{{"B", 1},
                                           {"kB", 1e3},
                                           {"KB", 1e3},
                                           {"MB", 1e6},
                                           {"GB", 1e9},
                                           {"TB", 1e12},
                                           {"PB", 1e15},
                                           {"EB", 1e18},
                                           {"KiB", kKi},
                                           {"MiB", kMi},
                                           {"GiB", kGi},
                                           {"TiB", kTi},
                                           {"PiB", kPi},
                                           {"EiB", kEi},
                                           {"bytes", 1}}};

constexpr std::array<Unit, 12> kTimeUnits{{{"s", 1},
                                           {"ms", 1e-3},
                                           {"us", 1e-6},
                                           {"\xc2\xb5s", 1e-6},
                                           {"\xce\xbcs", 1e-6},
                                           {"ns", 1e-9},
                                           {"ps", 1e-12},
                                           {"min", 60},
                                           {"h", 3600},
                                           {"hours", 3600},
                                           {"d", 86'400},
                                           {"days", 86'400}}};

constexpr std::array<Unit, 3> kPowerUnits{{{"W", 1}, {"kW", 1e3}, {"MW", 1e6}}};

constexpr std::array<Unit, 23> kBandwidthUnits{
    {{"B/s", 1},        {"kB/s", 1e3},      {"KB/s", 1e3},       {"MB/s", 1e6},       {"GB/s", 1e9},
     {"TB/s", 1e12},    {"PB/s", 1e15},     {"EB/s", 1e18},      {"KiB/s", kKi},      {"MiB/s", kMi},
     {"GiB/s", kGi},    {"TiB/s", kTi},     {"PiB/s", kPi},      {"EiB/s", kEi},      {"Mb/s", 1e6 / 8},
     {"Gb/s", 1e9 / 8}, {"Tb/s", 1e12 / 8}, {"Mbit/s", 1e6 / 8}, {"Gbit/s", 1e9 / 8}, {"Tbit/s", 1e12 / 8},
     {"Mbps", 1e6 / 8}, {"Gbps", 1e9 / 8},  {"Tbps", 1e12 / 8}}};

constexpr std::array<Unit, 11> kComputeUnits{{{"FLOP/s", 1},
                                              {"GFLOP/s", 1e9},
                                              {"TFLOP/s", 1e12},
                                              {"PFLOP/s", 1e15},
                                              {"EFLOP/s", 1e18},
                                              {"GFLOPS", 1e9},
                                              {"TFLOPS", 1e12},
                                              {"PFLOPS", 1e15},
                                              {"EFLOPS", 1e18},
                                              {"TF/s", 1e12},
                                              {"PF/s", 1e15}}};

struct NumberAndUnit {
  long double number;  // wider than the result, so that "5 us" is the double nearest to 5e-6
  std::string_view unit;
};

std::optional<NumberAndUnit> split(std::string_view text) {
  text = trimmed(text, " \t");
  long double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || !std::isfinite(number)) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return NumberAndUnit{number, trimmed(text, " \t")};
}

std::span<const Unit> units_of(UnitKind kind) {
  switch (kind) {
    case UnitKind::bytes:
      return kByteUnits;
    case UnitKind::time:
      return kTimeUnits;
    case UnitKind::bandwidth:
      return kBandwidthUnits;
    case UnitKind::compute_rate:
      return kComputeUnits;
    case UnitKind::power:
      return kPowerUnits;
  }
  return {};
}

constexpr double kRoundsToThousand = 999.5;

constexpr double kBeyondReading = 1e15;  // more digits than anybody counts

std::string three_digits(double x) {
  // Whole numbers keep all their digits, with commas; others get three significant ones.
  const bool whole = std::abs(x - std::round(x)) <= 1e-9 * std::abs(x);
  const bool counted = whole || std::abs(x) >= kRoundsToThousand;
  if (counted && std::abs(x) < kBeyondReading) return format_digits(std::llround(x));
  std::array<char, 32> buffer{};
  const auto result =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), x, std::chars_format::general, 3);
  return {buffer.data(), result.ptr};
}

std::string scaled(double x, std::span<const Unit> steps) {
  std::size_t chosen = 0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (std::abs(x) >= steps[i].factor * (1 - 1e-12)) chosen = i;
  }
  // 999.6 ms rounds to 1000 ms, which is written 1 s.
  const double shown = std::abs(x) / steps[chosen].factor;
  const bool next_is_thousand =
      chosen + 1 < steps.size() && steps[chosen + 1].factor / steps[chosen].factor < 1001;
  if (shown >= kRoundsToThousand && shown < 1000 && next_is_thousand) {
    return std::string(x < 0 ? "-1 " : "1 ").append(steps[chosen + 1].name);
  }
  const auto basic = std::find_if(steps.begin(), steps.end(), [](const Unit& u) { return u.factor == 1; });
  if (shown >= kBeyondReading && basic != steps.end())
    return three_digits(x) + " " + std::string(basic->name);
  return three_digits(x / steps[chosen].factor) + " " + std::string(steps[chosen].name);
}

// The unit that was meant, in quotes; empty where that is no fair guess. "gb/s" may be bytes or bits: both
// are named.
std::string near_unit(std::string_view given, std::span<const Unit> units) {
  std::string unit(given);
  // A capital B before "ps" is bytes: GBps is no Gbps.
  if (unit.ends_with("Bps")) unit.replace(unit.size() - 2, 2, "/s");
  std::vector<std::string> names;
  std::string same_letters;
  double factor = 0;
  for (const Unit& u : units) {
    names.emplace_back(u.name);
    if (unit == u.name) return "'" + unit + "'";
    if (edit_distance(unit, u.name) > 0 || factor == u.factor) continue;
    factor = u.factor;
    same_letters += (same_letters.empty() ? "'" : " or '") + std::string(u.name) + "'";
  }
  if (!same_letters.empty()) return same_letters;
  const std::optional<std::string> guess = closest(unit, names);
  // Another first letter is another magnitude: ZB/s is not EB/s, and not B/s either.
  return guess && lower_case(guess->front()) == lower_case(unit.front()) ? "'" + *guess + "'" : "";
}

}  // namespace

Bytes round_up_bytes(double bytes) {
  constexpr double kMost = 9.2e18;
  if (!(bytes < kMost)) return Bytes{std::numeric_limits<std::int64_t>::max()};
  if (bytes < -kMost) return Bytes{std::numeric_limits<std::int64_t>::min()};
  // A sum such as 0.1 + 0.2 may lie a hair above a whole number; that hair is not a byte.
  const auto down = static_cast<std::int64_t>(bytes);  // towards zero
  const double above = bytes - static_cast<double>(down);
  const double hair = std::min(0.5, std::max(1e-9, 1e-14 * std::abs(bytes)));
  if (above > hair) return Bytes{down + 1};
  return Bytes{above <= hair - 1 ? down - 1 : down};
}

std::optional<double> parse_quantity(std::string_view text, UnitKind kind) {
  const auto parts = split(text);
  if (!parts) return std::nullopt;
  const auto finite = [](long double v) {
    const auto narrow = static_cast<double>(v);
    return std::isfinite(narrow) ? std::optional(narrow) : std::nullopt;
  };
  if (parts->unit.empty()) return finite(parts->number);
  for (const Unit& unit : units_of(kind)) {
    if (unit.name != parts->unit) continue;
    // 1e-6 is no binary fraction, 1e6 is: divide by it.
    return finite(unit.factor < 1 ? parts->number / std::round(1 / unit.factor)
                                  : parts->number * unit.factor);
  }
  return std::nullopt;
}

std::optional<Bytes> parse_bytes(std::string_view text) {
  const auto v = parse_quantity(text, UnitKind::bytes);
  if (!v || *v < 0 || *v > kMostBytes) return std::nullopt;
  return round_up_bytes(*v);
}

std::optional<Seconds> parse_time(std::string_view text) {
  const auto v = parse_quantity(text, UnitKind::time);
  return v ? std::optional(Seconds{*v}) : std::nullopt;
}

std::optional<BytesPerSecond> parse_bandwidth(std::string_view text) {
  const auto v = parse_quantity(text, UnitKind::bandwidth);
  return v ? std::optional(BytesPerSecond{*v}) : std::nullopt;
}

std::optional<FlopsPerSecond> parse_compute_rate(std::string_view text) {
  const auto v = parse_quantity(text, UnitKind::compute_rate);
  return v ? std::optional(FlopsPerSecond{*v}) : std::nullopt;
}

std::optional<Watts> parse_power(std::string_view text) {
  const auto v = parse_quantity(text, UnitKind::power);
  return v ? std::optional(Watts{*v}) : std::nullopt;
}

std::string unit_hint(std::string_view text, UnitKind kind) {
  static constexpr std::array<std::string_view, 5> kExamples{"80 GiB", "5 us", "50 GB/s", "989 TFLOP/s",
                                                             "700 W"};
  const std::string example =
      "write it like '" + std::string(kExamples[static_cast<std::size_t>(kind)]) + "'";
  const auto parts = split(text);
  if (!parts || parts->unit.empty()) return example;
  if (parts->unit.starts_with(',')) return "write the number without commas";
  const std::string guess = near_unit(parts->unit, units_of(kind));
  return guess.empty() ? example : "did you mean " + guess + "?";
}

std::string format(Bytes bytes) {
  static constexpr std::array<Unit, 5> kSteps{
      {{"B", 1}, {"kB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}}};
  return scaled(static_cast<double>(bytes.value), kSteps);
}

std::string format_memory(Bytes bytes) {
  static constexpr std::array<Unit, 4> kSteps{{{"KiB", kKi}, {"MiB", kMi}, {"GiB", kGi}, {"TiB", kTi}}};
  if (bytes.value == 0) return "0 GiB";
  return scaled(static_cast<double>(bytes.value), kSteps);
}

std::string format(Seconds time) {
  static constexpr std::array<Unit, 4> kSteps{{{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}}};
  if (time.value == 0) return "0 s";
  return scaled(time.value, kSteps);
}

std::string format_long(Seconds time) {
  static constexpr std::array<Unit, 4> kSteps{{{"s", 1}, {"min", 60}, {"h", 3600}, {"days", 86'400}}};
  if (time.value < 1) return format(time);
  std::size_t at = 0;
  while (at + 1 < kSteps.size() && time.value >= 2 * kSteps[at + 1].factor) ++at;
  return three_digits(time.value / kSteps[at].factor) + " " + std::string(kSteps[at].name);
}

std::string format(Watts power) {
  static constexpr std::array<Unit, 3> kSteps{{{"W", 1}, {"kW", 1e3}, {"MW", 1e6}}};
  return scaled(power.value, kSteps);
}

std::string format(BytesPerSecond rate) {
  static constexpr std::array<Unit, 5> kSteps{
      {{"B/s", 1}, {"kB/s", 1e3}, {"MB/s", 1e6}, {"GB/s", 1e9}, {"TB/s", 1e12}}};
  return scaled(rate.value, kSteps);
}

std::string format(FlopsPerSecond rate) {
  static constexpr std::array<Unit, 4> kSteps{
      {{"FLOP/s", 1}, {"GFLOP/s", 1e9}, {"TFLOP/s", 1e12}, {"PFLOP/s", 1e15}}};
  return scaled(rate.value, kSteps);
}

std::string format(Flops flops) {
  static constexpr std::array<Unit, 6> kSteps{
      {{"FLOP", 1}, {"MFLOP", 1e6}, {"GFLOP", 1e9}, {"TFLOP", 1e12}, {"PFLOP", 1e15}, {"EFLOP", 1e18}}};
  return scaled(flops.value, kSteps);
}

std::string format_count(double count) {
  if (count < 1e6) return format_digits(std::llround(count));
  static constexpr std::array<Unit, 3> kSteps{{{"M", 1e6}, {"B", 1e9}, {"T", 1e12}}};
  return scaled(count, kSteps);
}

std::string format_digits(std::int64_t count) {
  std::string s = std::to_string(count);
  const std::size_t first = count < 0 ? 1 : 0;
  for (std::size_t at = s.size(); at > first + 3;) {
    at -= 3;
    s.insert(at, ",");
  }
  return s;
}

std::string count_of(std::int64_t count, std::string_view noun) {
  return format_digits(count) + " " + std::string(noun) + (count == 1 ? "" : "s");
}

}  // namespace nest::base
