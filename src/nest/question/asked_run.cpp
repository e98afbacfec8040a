#include "nest/question/asked_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "nest/base/numbers.hpp"
#include "nest/base/units.hpp"

namespace nest::question {
namespace {

using Problem = std::optional<SpaceProblem>;

constexpr std::array<std::pair<std::string_view, Amount::Of>, 3> kOf{
    {{"/device", Amount::Of::device}, {"/node", Amount::Of::node}, {"/all", Amount::Of::all}}};

constexpr double kMostMoney = 1e12;

// "2.5/h", "$2.5/h" or "2.5": in whatever currency, for one unit of `per`.
std::optional<double> money(std::string_view text, std::string_view per) {
  if (text.ends_with(per)) text.remove_suffix(per.size());
  if (text.starts_with('$')) text.remove_prefix(1);
  const auto value = parse_number(text);
  return value && *value > 0 && *value <= kMostMoney ? value : std::nullopt;
}

AskedField price(AskedField row) {
  row.read = [](std::string_view text, Asked& asked) -> Problem {
    std::vector<std::pair<std::string, double>> list;
    do {
      const std::size_t comma = std::min(text.find(','), text.size());
      std::string_view one = text.substr(0, comma);
      text.remove_prefix(std::min(comma + 1, text.size()));
      const std::size_t equals = one.find('=');
      const std::string name(equals == std::string_view::npos ? "" : one.substr(0, equals));
      const auto value = money(equals == std::string_view::npos ? one : one.substr(equals + 1), "/h");
      if (!value || (equals == 0))
        return SpaceProblem{fmt::format("'{}' is not a number above 0; try 2.5/h", one)};
      list.emplace_back(name, *value);
    } while (!text.empty());
    asked.run.prices = std::move(list);
    return std::nullopt;
  };
  row.spell = [](const Asked& asked) {
    std::string out;
    for (const auto& [name, value] : asked.run.prices)
      out += fmt::format("{}{}{}{}", out.empty() ? "" : ",", name, name.empty() ? "" : "=", value);
    return out;
  };
  return row;
}

AskedField electricity(AskedField row) {
  row.read = [](std::string_view text, Asked& asked) -> Problem {
    asked.run.electricity = money(text, "/kWh");
    if (!asked.run.electricity)
      return SpaceProblem{fmt::format("'{}' is not a number above 0; try 0.12/kWh", text)};
    return std::nullopt;
  };
  row.spell = [](const Asked& asked) {
    return asked.run.electricity ? fmt::format("{}", *asked.run.electricity) : "";
  };
  return row;
}

AskedField power(AskedField row) {
  row.read = [](std::string_view text, Asked& asked) -> Problem {
    const auto value = parse_power(text);
    if (!value || !(value->value > 0) || value->value > 1e9)
      return SpaceProblem{fmt::format("'{}' is not a power; {}", text, unit_hint(text, UnitKind::power))};
    asked.run.power = value;
    return std::nullopt;
  };
  row.spell = [](const Asked& asked) {
    return asked.run.power ? fmt::format("{} W", asked.run.power->value) : "";
  };
  return row;
}

// Whether there is nothing but a number: of hours, seconds or days, nobody knows.
bool without_unit(std::string_view text) {
  return parse_number(text).has_value();
}

AskedField time(AskedField row, std::optional<Seconds> RunTerms::* member, const char* example) {
  row.read = [=](std::string_view text, Asked& asked) -> Problem {
    const auto value = parse_time(text);
    if (!value || value->value < 0)
      return SpaceProblem{fmt::format("'{}' is not a time; try {}", text, example)};
    if (without_unit(text) && value->value > 0)
      return SpaceProblem{fmt::format("'{}' has no unit; try {}", text, example)};
    asked.run.*member = value;
    return std::nullopt;
  };
  row.spell = [=](const Asked& asked) {
    return asked.run.*member ? fmt::format("{} s", (asked.run.*member)->value) : "";
  };
  return row;
}

// An amount of each device, each node or all: "50000h", "6000h/node", "2TB/s/all".
AskedField amount(AskedField row, std::optional<Amount> RunTerms::* member, UnitKind kind, const char* unit,
                  const char* example) {
  row.read = [=](std::string_view text, Asked& asked) -> Problem {
    Amount out;
    std::string_view number = text;
    for (const auto& [suffix, of] : kOf) {
      if (!text.ends_with(suffix)) continue;
      out.of = of;
      number.remove_suffix(suffix.size());
    }
    const auto value = parse_quantity(number, kind);
    if (!value || !(*value > 0))
      return SpaceProblem{fmt::format("'{}' is not {} above 0; try {}", text,
                                      kind == UnitKind::time ? "a time" : "a bandwidth", example)};
    if (without_unit(number)) return SpaceProblem{fmt::format("'{}' has no unit; try {}", text, example)};
    out.value = *value;
    asked.run.*member = out;
    return std::nullopt;
  };
  row.spell = [=](const Asked& asked) -> std::string {
    if (!(asked.run.*member)) return "";
    const Amount& own = *(asked.run.*member);
    return fmt::format("{} {}{}", own.value, unit, kOf[static_cast<std::size_t>(own.of)].first);
  };
  return row;
}

AskedField checkpoint(AskedField row) {
  row.read = [](std::string_view text, Asked& asked) -> Problem {
    const auto bytes = parse_bytes(text);
    if (!bytes || without_unit(text))
      return SpaceProblem{fmt::format("'{}' is not a size; try '1 TB'", text)};
    asked.run.checkpoint = bytes;
    return std::nullopt;
  };
  row.spell = [](const Asked& asked) {
    return asked.run.checkpoint ? fmt::format("{} B", asked.run.checkpoint->value) : "";
  };
  return row;
}

}  // namespace

std::vector<AskedField> run_fields() {
  constexpr AskedSection kRun = AskedSection::run;
  return {
      price({"price", "P/h",
             "the price of one device for one hour, in any currency, such as 2.5/h, or for each kind of "
             "accelerator: h100-sxm=2.5,b200=5",
             kRun, ""}),
      power({"power", "W",
             "the power of one device with its share of the server and the cooling, such as 1.2kW (default: "
             "the most that its board draws)",
             kRun, ""}),
      electricity({"electricity", "P/kWh", "the price of electricity, which is added to the cost", kRun, ""}),
      amount({"mtbf", "TIME",
              "the mean time between failures of one device, such as 50000h, of one node (6000h/node) or of "
              "the whole run (3h/all)",
              kRun, ""},
             &RunTerms::mtbf, UnitKind::time, "s", "50000h"),
      checkpoint({"checkpoint-size", "SIZE",
                  "the size of a checkpoint (default: the weights and the optimizer's states)", kRun, ""}),
      amount(
          {"checkpoint-bandwidth", "RATE",
           "the bandwidth at which checkpoints are written: of each device (125MB/s, the default), of each "
           "node (1GB/s/node) or of the whole storage (2TB/s/all)",
           kRun, ""},
          &RunTerms::bandwidth, UnitKind::bandwidth, "B/s", "125MB/s or 2TB/s/all"),
      time({"restart", "TIME", "the time from a failure until the run goes on (default 10min)", kRun, ""},
           &RunTerms::restart, "10min"),
      time({"repair", "TIME", "the time until a node that failed is back (default 24h)", kRun, ""},
           &RunTerms::repair, "24h")};
}

}  // namespace nest::question
