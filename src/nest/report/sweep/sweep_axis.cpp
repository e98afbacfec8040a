#include "nest/report/sweep/sweep_axis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "nest/base/error.hpp"
#include "nest/base/numbers.hpp"
#include "nest/base/units.hpp"

namespace nest::report {
namespace {

constexpr std::array kFamilies{UnitKind::bandwidth, UnitKind::bytes, UnitKind::time, UnitKind::compute_rate};

[[noreturn]] void refuse(const std::string& text, const std::string& what, const std::string& hint) {
  throw InputError("", "--vary " + text, what, hint);
}

struct Typed {
  double number = 0;
  std::string unit;
  bool whole = false;
};

std::string trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return std::string(text);
}

std::optional<Typed> typed(const std::string& text) {
  Typed out;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out.number);
  if (error != std::errc{} || !std::isfinite(out.number)) return std::nullopt;
  out.unit = trimmed(text.substr(static_cast<std::size_t>(end - text.data())));
  // 128K tokens.
  if (const auto length = parse_length(text)) return Typed{static_cast<double>(*length), "", true};
  out.whole = out.unit.empty() && out.number == std::floor(out.number) && std::abs(out.number) < 1e15;
  return out;
}

std::string spelled(double number, const std::string& unit, bool whole) {
  return whole ? fmt::format("{:.0f}{}", number, unit) : fmt::format("{:.6g}{}", number, unit);
}

// Both ends in one unit: the one that is written, or SI where they differ.
bool same_unit(Typed& from, Typed& to, const std::string& from_text, const std::string& to_text) {
  if (from.unit.empty()) from.unit = to.unit;
  if (to.unit.empty()) to.unit = from.unit;
  if (from.unit == to.unit) return true;
  for (const UnitKind kind : kFamilies) {
    const auto a = parse_quantity(from_text, kind);
    const auto b = parse_quantity(to_text, kind);
    if (!a || !b) continue;
    from = {*a, "", false};
    to = {*b, "", false};
    return true;
  }
  return false;
}

std::vector<std::string> range(const std::string& text, const std::string& ends, std::string count) {
  const std::size_t dots = ends.find("..");
  const std::string from_text = trimmed(ends.substr(0, dots));
  const std::string to_text = trimmed(ends.substr(dots + 2));
  auto from = typed(from_text);
  auto to = typed(to_text);
  if (!from || !to || !same_unit(*from, *to, from_text, to_text))
    refuse(text, "'" + ends + "' is not a range of numbers", "try 12.5GB/s..400GB/s:log6");
  const bool log = count.starts_with("log");
  if (log) count.erase(0, 3);
  int steps = 0;
  const auto [end, error] = std::from_chars(count.data(), count.data() + count.size(), steps);
  if (error != std::errc{} || end != count.data() + count.size() || steps < 2 ||
      static_cast<std::size_t>(steps) > kMostSweepValues)
    refuse(text, "'" + count + "' is not a number of values from 2 to 1,000", "try :6 or :log6");
  if (log && !(from->number > 0 && to->number > 0))
    refuse(text, "evenly spaced ratios need numbers above 0", "use :6 instead of :log6");
  std::vector<std::string> values;
  for (int i = 0; i < steps; ++i) {
    const double share = static_cast<double>(i) / (steps - 1);
    double at = log ? from->number * std::pow(to->number / from->number, share)
                    : from->number + (to->number - from->number) * share;
    const bool whole = from->whole && to->whole;
    if (whole) at = std::round(at);
    std::string value = spelled(at, from->unit, whole);
    if (values.empty() || values.back() != value) values.push_back(std::move(value));
  }
  return values;
}

}  // namespace

std::optional<double> sweep_number(std::string_view value) {
  const std::string text = trimmed(value);
  double plain = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), plain);
  if (error == std::errc{} && end == text.data() + text.size()) return plain;
  if (const auto length = parse_length(text)) return static_cast<double>(*length);
  for (const UnitKind kind : kFamilies) {
    if (const auto number = parse_quantity(text, kind)) return number;
  }
  return std::nullopt;
}

bool is_numeric(const SweepAxis& axis) {
  return axis.field != "zero" &&
         std::all_of(axis.values.begin(), axis.values.end(),
                     [](const std::string& v) { return sweep_number(v).has_value(); });
}

Dearer dearer(const SweepAxis& axis) {
  if (!is_numeric(axis)) return Dearer::neither;
  if (axis.field == "devices") return Dearer::more;
  if (!axis.field.starts_with("cluster.")) return Dearer::neither;
  const bool less = axis.field.ends_with("latency") || axis.field.ends_with("oversubscription");
  return less ? Dearer::less : Dearer::more;
}

std::string unit_of(const SweepAxis& axis) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kCounts{
      {{"global-batch", "sequences"}, {"micro-batch", "sequences"}, {"sequence", "tokens"}}};
  for (const auto& [field, unit] : kCounts) {
    if (axis.field == field) return std::string(unit);
  }
  if (!is_numeric(axis)) return "";
  const std::string unit = typed(axis.values.front())->unit;
  const bool all = std::all_of(axis.values.begin(), axis.values.end(),
                               [&](const std::string& value) { return typed(value)->unit == unit; });
  return all ? unit : "";
}

std::vector<std::string> short_values(const SweepAxis& axis) {
  std::vector<std::string> out = axis.values;
  const std::string unit = unit_of(axis);
  for (std::string& value : out) {
    if (!unit.empty() && value.ends_with(unit)) value = trimmed(value.substr(0, value.size() - unit.size()));
  }
  return out;
}

SweepAxis read_sweep_axis(const std::string& text) {
  const std::size_t equals = text.find('=');
  SweepAxis axis;
  axis.field = trimmed(text.substr(0, equals));
  const std::string list = equals == std::string::npos ? "" : trimmed(text.substr(equals + 1));
  if (axis.field.empty() || list.empty())
    refuse(text, "a field and its values are expected", "try devices=64,128,256");
  if (list.find("..") != std::string::npos) {
    const std::size_t colon = list.rfind(':');
    if (colon == std::string::npos)
      refuse(text, "a range needs the number of its values", "try " + list + ":log6");
    axis.values = range(text, list.substr(0, colon), trimmed(list.substr(colon + 1)));
    return axis;
  }
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t comma = std::min(list.find(',', begin), list.size());
    std::string value = trimmed(std::string_view(list).substr(begin, comma - begin));
    begin = comma + 1;
    if (value.empty()) refuse(text, "a value is missing between commas", "");
    if (std::find(axis.values.begin(), axis.values.end(), value) != axis.values.end())
      refuse(text, "'" + value + "' is there twice", "");
    axis.values.push_back(std::move(value));
  }
  if (axis.values.size() > kMostSweepValues) refuse(text, "there are more than 1,000 values", "");
  return axis;
}

}  // namespace nest::report
