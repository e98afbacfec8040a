#include "nest/cluster/imports/astra_sim.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "nest/base/document/document.hpp"
#include "nest/base/document/reader.hpp"
#include "nest/cluster/imports/json_facts.hpp"

namespace nest::cluster {
namespace {

constexpr double kGigabyte = 1 << 30;
constexpr double kNanoseconds = 1e9;
constexpr std::size_t kMostDimensions = 8;
constexpr double kMostRate = 1e9;      // GB/s
constexpr double kMostLatency = 1e12;  // ns

struct Kind {
  std::string_view name;
  LevelKind kind = LevelKind::switched;
};
constexpr std::array kKinds{Kind{"Ring", LevelKind::ring}, Kind{"FullyConnected", LevelKind::fully_connected},
                            Kind{"Switch", LevelKind::switched}};

std::vector<LevelKind> read_kinds(Reader& r) {
  std::vector<LevelKind> out;
  const Value* list = r.find("topology");
  if (list == nullptr || list->as_array() == nullptr)
    r.fail_at("topology", "a list of Ring, FullyConnected and Switch is expected");
  for (const Value& item : *list->as_array()) {
    const std::string word = text_of(&item);
    const auto* const known =
        std::find_if(kKinds.begin(), kKinds.end(), [&](const Kind& k) { return k.name == word; });
    if (known == kKinds.end())
      r.fail_at("topology", "'" + word + "' is none of Ring, FullyConnected and Switch");
    out.push_back(known->kind);
  }
  if (out.empty() || out.size() > kMostDimensions) r.fail_at("topology", "1 to 8 dimensions are expected");
  return out;
}

std::vector<double> figures(Reader& r, const std::string& key, std::size_t count, double least, double most) {
  std::vector<double> out = r.numbers(key);
  if (out.size() != count)
    r.fail_at(key, "'topology' has " + std::to_string(count) +
                       (count == 1 ? " dimension, '" : " dimensions, '") + key + "' has " +
                       std::to_string(out.size()));
  for (const double figure : out) {
    if (!(figure >= least && figure <= most)) r.fail_at(key, "a number is out of range");
  }
  return out;
}

}  // namespace

bool is_astra_sim(std::string_view text) {
  return has_key(text, "npus_count");
}

ImportFacts read_astra_sim(const ImportFile& file) {
  const Document document = parse_document(file.name, file.text);
  Reader r(document);
  const std::vector<LevelKind> kinds = read_kinds(r);
  const std::vector<std::int64_t> sizes = r.wholes("npus_count", {1, 1 << 20});
  if (sizes.size() != kinds.size())
    r.fail_at("npus_count", "'topology' has " + std::to_string(kinds.size()) +
                                " dimensions, 'npus_count' has " + std::to_string(sizes.size()));
  const std::vector<double> rates = figures(r, "bandwidth", kinds.size(), 1e-9, kMostRate);
  const std::vector<double> latencies = figures(r, "latency", kinds.size(), 0, kMostLatency);
  r.done();
  NodeFacts node;
  node.source = own_name(file.name);
  node.whole_cluster = true;
  std::int64_t npus = 1;
  for (std::size_t d = 0; d < kinds.size(); ++d) {
    npus *= sizes[d];
    if (npus > kMostDevices) r.fail_at("npus_count", "more than " + format_digits(kMostDevices) + " NPUs");
    Level level{.name = "dimension" + std::to_string(d), .kind = kinds[d]};
    level.fan_out.size = static_cast<std::int32_t>(sizes[d]);
    // A level's bandwidth is that of all links of a device; a message over a switch passes two links.
    level.bandwidth = BytesPerSecond{rates[d] * kGigabyte * level.links(level.fan_out.size)};
    level.latency = Seconds{latencies[d] * (kinds[d] == LevelKind::switched ? 2 : 1) / kNanoseconds};
    node.levels.push_back(std::move(level));
  }
  node.devices = static_cast<std::int32_t>(npus);
  ImportFacts facts;
  facts.notes.known.push_back(count_of(npus, "NPU") + " in " +
                              count_of(static_cast<std::int64_t>(kinds.size()), "dimension") + " (" +
                              own_name(file.name) + "), with GB of 2^30 bytes");
  facts.node = std::move(node);
  facts.count = 1;
  facts.sources.push_back(own_name(file.name) + " (ASTRA-sim)");
  return facts;
}

}  // namespace nest::cluster
