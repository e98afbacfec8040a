#include "nest/frameworks/chakra/chakra_network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "nest/base/document/value.hpp"

namespace nest::frameworks {
namespace {

// The simulator's GB of links is 2^30 bytes, that of memory 10^9.
constexpr double kLinkGigabyte = 1 << 30;
constexpr double kGigabyte = 1e9;
constexpr double kTera = 1e12;
constexpr double kNanosecond = 1e-9;
// More places than this for each device, and the simulator would spend its time on nothing.
constexpr std::int64_t kMostPlaces = 4;

std::int32_t most_children(const DeviceTree& tree, LevelId level) {
  std::int32_t most = 1;
  for (std::int32_t d = 0; d < tree.domains(level); ++d) most = std::max(most, tree.children(level, d));
  return most;
}

class Maker {
 public:
  explicit Maker(const Cluster& cluster) : cluster_(cluster), tree_(cluster.tree()) {}

  ChakraNetwork make() {
    for (std::int32_t l = 0; l < tree_.levels(); ++l) {
      sizes_.push_back(most_children(tree_, LevelId(l)));
      places_ *= sizes_.back();
    }
    if (places_ > kMostPlaces * cluster_.devices() + kMostPlaces) {
      one_switch();
      return std::move(out_);
    }
    for (std::int32_t l = 0; l < tree_.levels(); ++l) add(LevelId(l));
    if (out_.dimensions.empty()) add_switch(cluster_.levels().front(), 1);
    out_.npus = static_cast<std::int32_t>(places_);
    place();
    if (places_ > cluster_.devices()) {
      out_.lost.push_back(fmt::format(
          "the simulator's dimensions are even: {} of its {} NPUs stand for devices that the cluster lacks",
          places_ - cluster_.devices(), places_));
    }
    if (out_.dimensions.size() > 1) {
      out_.lost.emplace_back(
          "network.yml: a message between devices that differ in several levels is charged at the innermost "
          "of them, so that rings that span nodes look faster than they are; network_flat.yml errs on the "
          "other side");
    }
    return std::move(out_);
  }

 private:
  void add_switch(const Level& level, std::int32_t npus) {
    out_.dimensions.push_back({"Switch", npus, BytesPerSecond{level.bandwidth.value / level.oversubscription},
                               Seconds{level.latency.value / 2}});
  }

  void add(LevelId id) {
    const Level& level = cluster_.level(id);
    const std::int32_t size = sizes_[id.index()];
    if (size == 1) return;
    if (level.oversubscription > 1) {
      out_.lost.push_back(
          fmt::format("level {}: every link is {}x oversubscribed all the time, also when few devices talk",
                      level.name, level.oversubscription));
    }
    if (level.kind == LevelKind::switched) {
      add_switch(level, size);
      return;
    }
    const BytesPerSecond link{level.bandwidth.value / level.oversubscription / level.links(size)};
    if (level.kind == LevelKind::fully_connected) {
      out_.dimensions.push_back({"FullyConnected", size, link, level.latency});
    } else if (level.kind == LevelKind::ring) {
      out_.dimensions.push_back({"Ring", size, link, level.latency});
    } else {
      add_grid(level, link);
    }
  }

  void add_grid(const Level& level, BytesPerSecond link) {
    bool open = false;
    for (std::size_t i = 0; i < level.dims.size(); ++i) {
      if (level.dims[i] == 1) continue;
      out_.dimensions.push_back({"Ring", level.dims[i], link, level.latency});
      open = open || (level.dims[i] > 2 &&
                      (level.kind == LevelKind::mesh || (i < level.wrap.size() && !level.wrap[i])));
    }
    if (open) out_.lost.push_back(fmt::format("level {}: its open rows are closed into rings", level.name));
  }

  void place() {
    for (std::int32_t d = 0; d < cluster_.devices(); ++d) {
      const std::vector<std::int32_t> at = tree_.coordinates(DeviceId(d));
      std::int32_t npu = 0;
      for (std::size_t l = at.size(); l-- > 0;) npu = npu * sizes_[l] + at[l];
      out_.npu_of.push_back(npu);
    }
  }

  void one_switch() {
    const auto slowest = std::min_element(
        cluster_.levels().begin(), cluster_.levels().end(), [](const Level& a, const Level& b) {
          return a.bandwidth.value / a.oversubscription < b.bandwidth.value / b.oversubscription;
        });
    add_switch(*slowest, cluster_.devices());
    out_.npus = cluster_.devices();
    for (std::int32_t d = 0; d < cluster_.devices(); ++d) out_.npu_of.push_back(d);
    out_.lost.push_back(
        fmt::format("the cluster's levels are too uneven for the simulator's dimensions: one switch at the "
                    "bandwidth of {}",
                    slowest->name));
  }

  const Cluster& cluster_;
  const DeviceTree& tree_;
  std::vector<std::int32_t> sizes_;  // by level: children of the fullest domain
  std::int64_t places_ = 1;
  ChakraNetwork out_;
};

template <class Get>
std::string row(const std::vector<ChakraDimension>& dimensions, std::string_view key, Get get) {
  std::string text;
  for (const ChakraDimension& d : dimensions) {
    if (!text.empty()) text += ", ";
    text += get(d);
  }
  return fmt::format("{}: [ {} ]", key, text);
}

std::string number(double value) {
  return fmt::format("{:.6g}", value);
}

}  // namespace

ChakraNetwork chakra_network(const Cluster& cluster) {
  return Maker(cluster).make();
}

std::vector<ChakraDimension> flat_network(const ChakraNetwork& network) {
  ChakraDimension flat{"Switch", network.npus, network.dimensions.front().bandwidth, Seconds{}};
  for (const ChakraDimension& d : network.dimensions) {
    flat.bandwidth = std::min(flat.bandwidth, d.bandwidth);
    const Seconds through = d.topology == "Switch" ? d.hop : Seconds{d.hop.value / 2};
    flat.hop = std::max(flat.hop, through);
  }
  return {flat};
}

std::string network_text(const std::vector<ChakraDimension>& dimensions) {
  return row(dimensions, "topology", [](const auto& d) { return d.topology; }) + "\n" +
         row(dimensions, "npus_count", [](const auto& d) { return std::to_string(d.npus); }) + "\n" +
         row(dimensions, "bandwidth",
             [](const auto& d) { return number(d.bandwidth.value / kLinkGigabyte); }) +
         "  # GiB/s\n" +
         row(dimensions, "latency", [](const auto& d) { return number(d.hop.value / kNanosecond); }) +
         "  # ns\n";
}

FlopsPerSecond peak_of(const Cluster& cluster, Precision precision) {
  const Accelerator& accelerator = cluster.accelerator();
  const MathType type = precision == Precision::fp8    ? MathType::fp8
                        : precision == Precision::fp16 ? MathType::fp16
                                                       : MathType::bf16;
  if (const auto peak = accelerator.peak(type)) return *peak;
  FlopsPerSecond best{1};
  for (const auto& [any, peak] : accelerator.peaks) best = std::max(best, peak);
  return best;
}

BytesPerSecond memory_rate_of(const Cluster& cluster) {
  return cluster.accelerator().memory_bandwidth;
}

std::string system_text(const Cluster& cluster, Precision precision, std::size_t dimensions) {
  const auto all = [&](const char* name) {
    Value list = Value::array();
    for (std::size_t i = 0; i < dimensions; ++i) list.push(name);
    return list;
  };
  Value out = Value::object();
  out.set("scheduling-policy", "FIFO")
      .set("endpoint-delay", 10)
      .set("active-chunks-per-dimension", 1)
      .set("preferred-dataset-splits", 1)  // more would pay every step's latency as often
      .set("all-reduce-implementation", all("ring"))
      .set("all-gather-implementation", all("ring"))
      .set("reduce-scatter-implementation", all("ring"))
      .set("all-to-all-implementation", all("ring"))
      .set("collective-optimization", "localBWAware")
      .set("local-mem-bw", memory_rate_of(cluster).value / kGigabyte)
      .set("roofline-enabled", 0)
      .set("peak-perf", peak_of(cluster, precision).value / kTera)
      .set("boost-mode", 0)
      .set("trace-enabled", 0)
      .set("replay-only", 0);
  return to_json(out) + "\n";
}

}  // namespace nest::frameworks
