#include "show_cluster.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "nest/base/drawing/table.hpp"
#include "nest/base/numbers.hpp"

namespace nest::cli {
namespace {

using Align = Table::Align;

LevelId level_id(std::size_t i) {
  return LevelId(static_cast<std::int32_t>(i));
}

std::string devices_per_domain(const Cluster& cluster, LevelId level) {
  const DeviceTree& tree = cluster.tree();
  std::int32_t least = tree.devices_in(level, 0);
  std::int32_t most = least;
  if (!tree.regular(level)) {
    for (std::int32_t d = 0; d < tree.domains(level); ++d) {
      least = std::min(least, tree.devices_in(level, d));
      most = std::max(most, tree.devices_in(level, d));
    }
  }
  return least == most ? format_digits(least) : format_digits(least) + " to " + format_digits(most);
}

std::string place(const Cluster& cluster, DeviceId device) {
  const std::vector<std::int32_t> coordinates = cluster.tree().coordinates(device);
  std::string out;
  for (std::size_t i = coordinates.size(); i-- > 0;) {
    // A child of level i is a domain of the level below it, or a device.
    const std::string what = i == 0 ? "device" : cluster.levels()[i - 1].name;
    out += (out.empty() ? "" : ", ") + what + " " + std::to_string(coordinates[i]);
  }
  return out;
}

Value members_value(const LevelMembers& members) {
  Value out = Value::array();
  for (const MemberCount& m : members) {
    Value v = Value::object();
    v.set("members", m.members).set("domains", m.domains);
    out.push(std::move(v));
  }
  return out;
}

}  // namespace

std::string spell_size(const Level& level) {
  if (!level.dims.empty()) {
    std::string out;
    for (const std::int32_t d : level.dims) out += (out.empty() ? "" : "x") + std::to_string(d);
    return out;
  }
  if (level.fan_out.uniform()) return std::to_string(level.fan_out.size);
  const auto [least, most] = std::minmax_element(level.fan_out.sizes.begin(), level.fan_out.sizes.end());
  if (*least == *most) return std::to_string(*least);
  return fmt::format("{} to {}", *least, *most);
}

std::string cluster_text(const Cluster& cluster, const Terminal& terminal) {
  const Accelerator& a = cluster.accelerator();
  std::string out =
      terminal.heading(cluster.name()) + ": " + format_digits(cluster.devices()) + " x " + a.name + "\n";
  const auto line = [&](const char* what, const std::string& text) {
    out += fmt::format("  {:<13}{}\n", what, text);
  };
  std::string peaks;
  for (const auto& [type, rate] : a.peaks)
    peaks += fmt::format("{}{} {}", peaks.empty() ? "" : ", ", to_string(type), format(rate));
  line("accelerator", wrap(fmt::format("{} memory at {}; dense peak {}", format_memory(a.memory),
                                       format(a.memory_bandwidth), peaks),
                           kTextWidth, 15));
  line("bisection", format(bisection(cluster)));
  const std::vector<std::string>& absent = cluster.parts().absences.entries;
  if (!absent.empty()) line("absent", wrap(fmt::format("{}", fmt::join(absent, ", ")), kTextWidth, 15));
  if (!cluster.parts().note.empty()) line("note", wrap(cluster.parts().note, kTextWidth, 15));
  if (!cluster.parts().source.empty()) line("source", wrap(cluster.parts().source, kTextWidth, 15));
  out += '\n';
  Table table({{"level"},
               {"kind"},
               {"size", Align::right},
               {"domains", Align::right},
               {"devices", Align::right},
               {"per device", Align::right},
               {"latency", Align::right},
               {"oversub.", Align::right},
               {"bisection", Align::right}});
  for (std::size_t i = 0; i < cluster.levels().size(); ++i) {
    const Level& level = cluster.levels()[i];
    const BytesPerSecond cut = bisection(cluster, level_id(i));
    table.add({level.name, std::string(to_string(level.kind)), spell_size(level),
               format_digits(cluster.tree().domains(level_id(i))), devices_per_domain(cluster, level_id(i)),
               format(level.bandwidth), format(level.latency), fmt::format("{:g}:1", level.oversubscription),
               cut.value > 0 ? format(cut) : "-"});
  }
  out += table.str();
  for (const Level& level : cluster.levels()) {
    if (level.background > 0)
      out += fmt::format("other jobs take {} of the bandwidth of '{}'\n", format_percent(level.background),
                         level.name);
    if (level.in_network_reduction) out += "the switches of '" + level.name + "' reduce in the network\n";
  }
  return out;
}

std::string answers_text(const Cluster& cluster, const ClusterQuestions& questions) {
  std::string out;
  for (const DeviceId d : questions.devices)
    out += fmt::format("device {}: {}\n", d.value, place(cluster, d));
  if (questions.pair.size() == 2) {
    const DeviceId a = questions.pair[0];
    const DeviceId b = questions.pair[1];
    const Level& level = cluster.level(*cluster.tree().meet(a, b));
    out += fmt::format("devices {} and {} meet at level '{}': {}, {}\n", a.value, b.value, level.name,
                       format(pair_bandwidth(cluster, a, b)), format(pair_latency(cluster, a, b)));
  }
  if (!questions.group.empty()) {
    out += fmt::format("group of {} devices:\n",
                       format_digits(static_cast<std::int64_t>(questions.group.size())));
    const std::vector<LevelMembers> members = cluster.tree().members(questions.group);
    for (std::size_t i = 0; i < members.size(); ++i) {
      std::string counts;
      for (const MemberCount& m : members[i]) {
        counts +=
            fmt::format("{}{} member{} in {} domain{}", counts.empty() ? "" : "; ", format_digits(m.members),
                        m.members == 1 ? "" : "s", format_digits(m.domains), m.domains == 1 ? "" : "s");
      }
      out += fmt::format("  {}: {}\n", cluster.levels()[i].name, counts);
    }
  }
  return out.empty() ? out : "\n" + out;
}

void add_answers(Value& out, const Cluster& cluster, const ClusterQuestions& questions) {
  if (!questions.devices.empty()) {
    Value list = Value::array();
    for (const DeviceId d : questions.devices) {
      Value coordinates = Value::array();
      for (const std::int32_t c : cluster.tree().coordinates(d)) coordinates.push(c);
      Value v = Value::object();
      v.set("device", d.value).set("coordinates", std::move(coordinates));
      list.push(std::move(v));
    }
    out.set("device_coordinates", std::move(list));
  }
  if (questions.pair.size() == 2) {
    const DeviceId a = questions.pair[0];
    const DeviceId b = questions.pair[1];
    const LevelId level = *cluster.tree().meet(a, b);
    Value v = Value::object();
    v.set("devices", Value::array().push(a.value).push(b.value)).set("level", level.value);
    v.set("level_name", cluster.level(level).name)
        .set("bandwidth_bytes_per_s", pair_bandwidth(cluster, a, b).value);
    v.set("latency_s", pair_latency(cluster, a, b).value);
    out.set("pair", std::move(v));
  }
  if (!questions.group.empty()) {
    Value levels = Value::array();
    for (const LevelMembers& m : cluster.tree().members(questions.group)) levels.push(members_value(m));
    Value v = Value::object();
    v.set("devices", questions.group.size()).set("levels", std::move(levels));
    out.set("group", std::move(v));
  }
}

}  // namespace nest::cli
