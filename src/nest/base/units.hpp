// Quantities with types, and the only place that converts units. Everything inside is SI: seconds, bytes,
// FLOP. 1 GB = 1e9 bytes, 1 GiB = 2^30 bytes; "Gb" is gigabit. Bytes are whole: fractions are rounded up here
// only.
//
//   parse_bytes("80 GiB")         -> 85899345920        format_memory(Bytes{85899345920}) -> "80 GiB"
//   parse_bandwidth("400 Gb/s")   -> 5e10 B/s           format(BytesPerSecond{5e10}) -> "50 GB/s"
//   parse_time("5 us")            -> 5e-6 s             format(Seconds{5e-6})        -> "5 us"
#pragma once

#include <compare>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "nest/base/rooms.hpp"

namespace nest::base {

// Whole quantities stop at the ends of their range: what overflows is still too much.
template <class Rep>
[[nodiscard]] constexpr Rep plus(Rep a, Rep b) {
  if constexpr (std::is_integral_v<Rep>) {
    Rep sum = 0;
    if (!__builtin_add_overflow(a, b, &sum)) return sum;
    return a < 0 ? std::numeric_limits<Rep>::min() : std::numeric_limits<Rep>::max();
  } else {
    return a + b;
  }
}
template <class Rep>
[[nodiscard]] constexpr Rep times(Rep a, Rep b) {
  if constexpr (std::is_integral_v<Rep>) {
    Rep product = 0;
    if (!__builtin_mul_overflow(a, b, &product)) return product;
    return (a < 0) == (b < 0) ? std::numeric_limits<Rep>::max() : std::numeric_limits<Rep>::min();
  } else {
    return a * b;
  }
}

template <class Tag, class Rep>
struct Quantity {
  Rep value = 0;

  constexpr Quantity() = default;
  constexpr explicit Quantity(Rep v) : value(v) {}
  constexpr auto operator<=>(const Quantity&) const = default;

  constexpr Quantity& operator+=(Quantity o) {
    value = plus(value, o.value);
    return *this;
  }
  constexpr Quantity& operator-=(Quantity o) {
    value -= o.value;
    return *this;
  }
  friend constexpr Quantity operator+(Quantity a, Quantity b) { return Quantity{plus(a.value, b.value)}; }
  friend constexpr Quantity operator-(Quantity a, Quantity b) { return Quantity{a.value - b.value}; }
  friend constexpr Quantity operator*(Quantity a, Rep k) { return Quantity{times(a.value, k)}; }
  friend constexpr Quantity operator*(Rep k, Quantity a) { return Quantity{times(a.value, k)}; }
  // Whole quantities are not divided here: somebody has to say which way the rest goes.
  friend constexpr Quantity operator/(Quantity a, Rep k)
    requires std::is_floating_point_v<Rep>
  {
    return Quantity{a.value / k};
  }
  friend constexpr double operator/(Quantity a, Quantity b)
    requires std::is_floating_point_v<Rep>
  {
    return a.value / b.value;
  }
  // More than any other.
  [[nodiscard]] static constexpr Quantity most() {
    if constexpr (std::is_floating_point_v<Rep>) return Quantity{std::numeric_limits<Rep>::infinity()};
    return Quantity{std::numeric_limits<Rep>::max()};
  }
};

using Seconds = Quantity<struct SecondsTag, double>;
using Bytes = Quantity<struct BytesTag, std::int64_t>;
using Flops = Quantity<struct FlopsTag, double>;
using BytesPerSecond = Quantity<struct BytesPerSecondTag, double>;
using FlopsPerSecond = Quantity<struct FlopsPerSecondTag, double>;
using Watts = Quantity<struct WattsTag, double>;

constexpr Seconds operator/(Bytes b, BytesPerSecond r) {
  return Seconds{static_cast<double>(b.value) / r.value};
}
constexpr Seconds operator/(Flops f, FlopsPerSecond r) {
  return Seconds{f.value / r.value};
}

// The one rounding of bytes: up, so that a plan that is said to fit fits. Saturates at the int64 range.
[[nodiscard]] Bytes round_up_bytes(double bytes);

// A number with a unit, or a plain number in SI. nullopt where the text is not such a quantity or not finite.
[[nodiscard]] std::optional<Bytes> parse_bytes(std::string_view text);
[[nodiscard]] std::optional<Seconds> parse_time(std::string_view text);
[[nodiscard]] std::optional<BytesPerSecond> parse_bandwidth(std::string_view text);
[[nodiscard]] std::optional<FlopsPerSecond> parse_compute_rate(std::string_view text);
[[nodiscard]] std::optional<Watts> parse_power(std::string_view text);

// The same before its sign and size are judged, in bytes, seconds, bytes or FLOP per second, watts.
enum class UnitKind { bytes, time, bandwidth, compute_rate, power };
[[nodiscard]] std::optional<double> parse_quantity(std::string_view text, UnitKind kind);
inline constexpr double kMostBytes = 9e18;  // parse_bytes takes no more

// Why a quantity could not be read: the unit that was meant, or an example.
[[nodiscard]] std::string unit_hint(std::string_view text, UnitKind kind);

// For people: three significant digits and a unit. Sizes of data are decimal; format_memory is for the
// capacity of devices and what is set aside of it, which everybody counts in GiB. What is beyond the largest
// unit has commas ("98,096 TB") or, where nobody would count the digits, an exponent ("1e+300 B/s").
[[nodiscard]] std::string format_memory(Bytes bytes);
[[nodiscard]] std::string format(Bytes bytes);
[[nodiscard]] std::string format(Seconds time);
[[nodiscard]] std::string format_long(Seconds time);  // in minutes, hours or days where it is so long
[[nodiscard]] std::string format(Watts power);
[[nodiscard]] std::string format(BytesPerSecond rate);
[[nodiscard]] std::string format(FlopsPerSecond rate);
[[nodiscard]] std::string format(Flops flops);
// A count: "70.6 B", "124 M", "1,024". Below a million every digit is shown.
[[nodiscard]] std::string format_count(double count);
// Every digit, with commas: "70,553,706,496".
[[nodiscard]] std::string format_digits(std::int64_t count);
// "1 host", "1,200 hosts"
[[nodiscard]] std::string count_of(std::int64_t count, std::string_view noun);

}  // namespace nest::base
