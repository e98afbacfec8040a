#include "nest/cluster/cluster_text.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include "nest/base/document/value.hpp"
#include "nest/base/document/yaml_text.hpp"
#include "nest/base/units.hpp"
#include "nest/cluster/cluster_file.hpp"

namespace nest::cluster {
namespace {

constexpr std::size_t kWidth = 100;

struct Unit {
  const char* name;
  double value;
};
constexpr std::array kRates{Unit{"TB/s", 1e12}, Unit{"GB/s", 1e9}, Unit{"MB/s", 1e6}, Unit{"GiB/s", 1 << 30}};
constexpr std::array kTimes{Unit{"s", 1}, Unit{"ms", 1e-3}, Unit{"us", 1e-6}, Unit{"ns", 1e-9}};

// Division leaves dust behind: 5e-6 / 1e-6 is not quite 5.
double nine_digits(double value) {
  const double scale = std::pow(10.0, 9 - std::ceil(std::log10(value)));
  return std::isfinite(scale) && scale > 0 ? std::round(value * scale) / scale : value;
}

// With the first unit that makes it a number from 1 on, if that reads back as the same; else the plain number.
template <std::size_t N, class Parse>
std::string with_unit(double value, const std::array<Unit, N>& units, const Parse& parse) {
  for (const Unit& unit : units) {
    if (value < unit.value) continue;
    std::string text = to_json_line(nine_digits(value / unit.value));
    if (text.ends_with(".0")) text.resize(text.size() - 2);
    const bool short_enough = text.size() <= 8 && text.find('e') == std::string::npos;
    const auto back = parse(text + " " + unit.name);
    if (short_enough && back && back->value == value) return text + " " + unit.name;
  }
  return to_json_line(value);
}

// Remarks over several lines, which read back as one.
std::string prose(const std::string& text) {
  const bool simple = std::none_of(text.begin(), text.end(), [](char c) { return c >= 0 && c < ' '; });
  if (!simple || text.size() + 10 <= kWidth) return " " + to_json_line(text) + "\n";
  std::string out = " >-\n";
  std::string_view rest = text;
  while (!rest.empty()) {
    std::size_t end = rest.size();
    if (end > kWidth) end = std::min(rest.rfind(' ', kWidth), end);
    if (end == std::string_view::npos || end == 0) end = std::min(rest.find(' '), rest.size());
    out += "  " + std::string(rest.substr(0, end)) + "\n";
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return out;
}

std::string spelled(const std::string& key, const Value& value) {
  const double* real = value.as_real();
  if (key == "bandwidth" && real != nullptr)
    return with_unit(*real, kRates, [](const std::string& text) { return parse_bandwidth(text); });
  if (key == "latency" && real != nullptr)
    return with_unit(*real, kTimes, [](const std::string& text) { return parse_time(text); });
  const std::string* text = value.as_string();
  return text != nullptr ? yaml_word(*text) : to_json_line(value);
}

std::string one_line(const Value& object) {
  std::string out;
  for (const auto& [key, value] : *object.as_object())
    out += (out.empty() ? "{" : ", ") + key + ": " + spelled(key, value);
  return out + "}";
}

std::string list_lines(const Value& list) {
  std::string line = " [";
  std::string out;
  for (const Value& item : *list.as_array()) {
    const std::string word = spelled("", item);
    if (line.size() > 2 && line.size() + word.size() > kWidth) {
      out += line + "\n";
      line = "  ";
    }
    line += word + ", ";
  }
  if (line.ends_with(", ")) line.resize(line.size() - 2);
  return out + line + "]\n";
}

}  // namespace

std::string cluster_yaml(const Cluster& cluster) {
  std::string out;
  const Value file = cluster_file_value(cluster);
  for (const auto& [key, value] : *file.as_object()) {
    out += key + ":";
    if (key == "levels") {
      out += '\n';
      for (const Value& level : *value.as_array()) out += "  - " + one_line(level) + "\n";
    } else if (value.as_array() != nullptr) {
      out += list_lines(value);
    } else if (value.as_object() != nullptr) {
      out += "\n" + to_yaml(value, "  ");
    } else if (key == "note" || key == "source") {
      out += prose(*value.as_string());
    } else {
      out += " " + spelled(key, value) + "\n";
    }
  }
  return out;
}

}  // namespace nest::cluster
