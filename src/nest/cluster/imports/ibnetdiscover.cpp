#include "nest/cluster/imports/ibnetdiscover.hpp"

#include <array>
#include <cctype>
#include <cmath>
#include <unordered_map>
#include <utility>

#include "nest/base/error.hpp"
#include "nest/cluster/imports/ib_fabric.hpp"
#include "nest/cluster/imports/text_lines.hpp"

namespace nest::cluster {
namespace {

struct Speed {
  std::string_view name;
  double lane = 0;  // Gb/s
};
constexpr std::array kSpeeds{Speed{"SDR", 2.5},  Speed{"DDR", 5},   Speed{"QDR", 10},
                             Speed{"FDR10", 10}, Speed{"FDR", 14},  Speed{"EDR", 25},
                             Speed{"HDR", 50},   Speed{"NDR", 100}, Speed{"XDR", 200}};
constexpr double kGigabit = 1e9 / 8;

// "S-2c5eab0300c26280" in quotes.
std::optional<std::string_view> quoted(std::string_view text) {
  const std::size_t begin = text.find('"');
  const std::size_t end = begin == std::string_view::npos ? begin : text.find('"', begin + 1);
  if (end == std::string_view::npos) return std::nullopt;
  return text.substr(begin + 1, end - begin - 1);
}

// The name of a host in what its adapter calls itself, "node001 mlx5_0"; none where nobody named it.
std::optional<std::string> host_in(std::string_view description) {
  const std::vector<std::string_view> words = words_of(description);
  if (words.empty()) return std::nullopt;
  const bool vendor = holds(description, "Mellanox Technologies") ||
                      holds(description, "NVIDIA Corporation") ||
                      (words.front().starts_with("MT") && words.front().size() > 2 &&
                       std::isdigit(static_cast<unsigned char>(words.front()[2])) != 0);
  if (vendor) return std::nullopt;
  return std::string(words.front());
}

bool is_aggregation(std::string_view description) {
  return holds(description, "Aggregation Node") || holds(description, "SHArP") || holds(description, "SHARP");
}

class Reading {
 public:
  explicit Reading(const ImportFile& file) : file_(file) {}

  IbFabric read() {
    for (const TextLine& line : lines_of(file_.text)) {
      const std::string_view text = trimmed(line.text);
      if (text.starts_with("Switch")) {
        begin_switch(line, text);
      } else if (text.starts_with("Ca") || text.starts_with("Rt") || text.starts_with("Np")) {
        in_switch_ = false;
      } else if (text.starts_with('[') && in_switch_) {
        port(line, text);
      }
    }
    return std::move(fabric_);
  }

 private:
  void begin_switch(const TextLine& line, std::string_view text) {
    const auto id = quoted(text);
    if (!id || !id->starts_with("S-"))
      fail_line(file_.name, line.number, "a switch without its id",
                "a line is like: Switch 65 \"S-2c5eab0300b87b40\" # \"leaf01\"");
    in_switch_ = true;
    current_ = switch_of(*id);
    fabric_.switches[current_].line = line.number;
    const std::size_t mark = text.find('#');
    if (const auto name = mark == std::string_view::npos ? std::nullopt : quoted(text.substr(mark)))
      fabric_.switches[current_].name = *name;
  }

  std::size_t switch_of(std::string_view id) {
    const auto [at, fresh] = switches_.try_emplace(std::string(id), fabric_.switches.size());
    if (fresh) fabric_.switches.push_back({std::string(id), "", 0, {}, {}});
    return at->second;
  }

  void port(const TextLine& line, std::string_view text) {
    const auto id = quoted(text);
    if (!id) fail_line(file_.name, line.number, "a port without what it leads to");
    const std::size_t mark = text.find('#');
    const std::string_view remark = mark == std::string_view::npos ? std::string_view() : text.substr(mark);
    const auto rate = words_of(remark).empty() ? std::nullopt : infiniband_rate(words_of(remark).back());
    if (!rate)
      fail_line(file_.name, line.number, "the width and speed of the link are missing",
                "a line ends like 'lid 647 4xNDR'");
    if (id->starts_with("S-")) {
      const std::size_t to = switch_of(*id);  // which may be new, and moves the others
      fabric_.switches[current_].links.push_back({to, rate->value});
      return;
    }
    const std::string_view description = quoted(remark).value_or(std::string_view());
    if (is_aggregation(description)) {
      fabric_.reduces = true;
      return;
    }
    const auto name = host_in(description);
    fabric_.switches[current_].hosts.push_back(
        {name.value_or(""), std::string(*id), rate->value, line.number});
  }

  const ImportFile& file_;
  IbFabric fabric_;
  std::unordered_map<std::string, std::size_t> switches_;
  std::size_t current_ = 0;
  bool in_switch_ = false;
};

}  // namespace

std::optional<BytesPerSecond> infiniband_rate(std::string_view text) {
  const std::size_t x = text.find('x');
  if (x == std::string_view::npos || x == 0) return std::nullopt;
  const auto width = digits_of(text.substr(0, x));
  if (!width || *width < 1 || *width > 16) return std::nullopt;
  for (const Speed& speed : kSpeeds) {
    if (text.substr(x + 1) == speed.name)
      return BytesPerSecond{static_cast<double>(*width) * speed.lane * kGigabit};
  }
  return std::nullopt;
}

bool is_ibnetdiscover(std::string_view text) {
  const std::string_view head = text.substr(0, 1 << 16);
  return holds(head, "switchguid=") || (holds(head, "\"S-") && holds(head, "\"H-")) || holds(head, "caguid=");
}

ImportFacts read_ibnetdiscover(const ImportFile& file) {
  const IbFabric fabric = Reading(file).read();
  if (fabric.switches.empty())
    throw InputError(file.name, "", "no switch is described",
                     "ibnetdiscover lists every switch with its ports");
  ImportFacts facts = facts_of(fabric, file.name);
  facts.sources.push_back(own_name(file.name) + " (ibnetdiscover)");
  return facts;
}

}  // namespace nest::cluster
