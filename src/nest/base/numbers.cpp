#include "nest/base/numbers.hpp"

#include <array>
#include <charconv>
#include <cmath>

namespace nest::base {
namespace {

// "131,072" and "131_072" are 131072; "1,2" is a list and stays as it is.
std::string without_separators(std::string_view text) {
  for (const char separator : {',', '_'}) {
    std::string digits;
    std::size_t group = 0;
    bool grouped =
        text.find(separator) != std::string::npos && text.find(separator) <= 3 && text[0] != separator;
    for (std::size_t i = text.size(); i-- > 0 && grouped;) {
      const bool here = text[i] == separator;
      grouped = here ? group == 3 : group < 3;
      group = here ? 0 : group + 1;
      if (!here) digits.insert(digits.begin(), text[i]);
    }
    if (grouped) return digits;
  }
  return std::string(text);
}

std::string percent(double share, std::chars_format format, int digits) {
  std::array<char, 400> buffer{};  // of any double
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), 100 * share, format, digits);
  return std::string(buffer.data(), end.ptr) + " %";
}

}  // namespace

std::optional<std::int64_t> parse_whole(std::string_view text) {
  const std::string digits = without_separators(text);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

std::optional<std::int64_t> parse_length(std::string_view text) {
  const char last = text.empty() ? '0' : text.back();
  const bool thousands = last == 'K' || last == 'k';
  if (!thousands && last != 'M' && last != 'm') return parse_whole(text);
  text.remove_suffix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  const auto number = parse_number(text);
  if (!number) return std::nullopt;
  constexpr double kMost = 1e15;
  const double value = *number * (thousands ? 0x1p10 : 0x1p20);
  if (value != std::floor(value) || std::abs(value) > kMost) return std::nullopt;
  return static_cast<std::int64_t>(value);
}

std::optional<double> parse_number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::optional<double> parse_share(std::string_view text) {
  const bool percent = text.ends_with('%');
  if (percent) text.remove_suffix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  const auto value = parse_number(text);
  return value && percent ? *value / 100 : value;
}

std::string format_percent(double share, int digits) {
  return percent(share, std::chars_format::fixed, digits);
}

std::string format_small_percent(double share, int digits) {
  return percent(share, std::chars_format::general, digits);
}

std::string format_signed_percent(double share) {
  return (std::signbit(share) ? "" : "+") + format_percent(share);
}

}  // namespace nest::base
