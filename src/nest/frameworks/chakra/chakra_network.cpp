#include "nest/frameworks/chakra/chakra_network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "nest/base/document/value.hpp"
#include "nest/estimate/kernels/precision_math.hpp"

namespace nest::frameworks {
namespace {

// The simulator's GB of links is 2^30 bytes, that of memory 10^9.
constexpr double kLinkGigabyte = 1 << 30;
constexpr double kGigabyte = 1e9;
constexpr double kNoDelay = 1e9;  // GB/s of memory
constexpr double kTera = 1e12;
constexpr double kNanosecond = 1e-9;
// More places than this for each device, and the simulator would spend its time on nothing.
constexpr std::int64_t kMostPlaces = 4;

std::int32_t most_children(const DeviceTree& tree, LevelId level) {
  std::int32_t most = 1;
  for (std::int32_t d = 0; d < tree.domains(level); ++d) most = std::max(most, tree.children(level, d));
  return most;
}

// The most even pair of sides, both above 1; one NPU more where the number has none.
std::pair<std::int32_t, std::int32_t> two_sides(std::int32_t npus) {
  npus = std::max(npus, 4);
  std::int32_t inner = 1;
  for (std::int32_t side = 2; side * side <= npus; ++side) {
    if (npus % side == 0) inner = side;
  }
  return inner > 1 ? std::pair{inner, npus / inner} : two_sides(npus + 1);
}

class Maker {
 public:
  Maker(const Cluster& cluster, const FabricConstants& constants)
      : cluster_(cluster), constants_(constants), tree_(cluster.tree()) {}

  ChakraNetwork make() {
    for (std::int32_t l = 0; l < tree_.levels(); ++l) {
      sizes_.push_back(most_children(tree_, LevelId(l)));
      places_ *= sizes_.back();
    }
    if (places_ > kMostPlaces * cluster_.devices() + kMostPlaces) {
      one_switch();
      finish();
      return std::move(out_);
    }
    for (std::int32_t l = 0; l < tree_.levels(); ++l) add(LevelId(l));
    if (out_.dimensions.empty()) add_switch(LevelId(0), 1);
    out_.npus = static_cast<std::int32_t>(places_);
    place();
    finish();
    if (places_ > cluster_.devices()) {
      out_.lost.push_back(fmt::format(
          "the simulator's dimensions are even: {} of its {} NPUs stand for devices that the cluster lacks",
          places_ - cluster_.devices(), places_));
    }
    if (out_.levels.size() > 1) {
      out_.lost.emplace_back(
          "network.yml: a message between devices that differ in several levels is charged at the innermost "
          "of them, so that messages between nodes look faster than they are; network_flat.yml errs on the "
          "other side");
    }
    return std::move(out_);
  }

 private:
  [[nodiscard]] BytesPerSecond rate(LevelId id) const {
    const Level& level = cluster_.level(id);
    return BytesPerSecond{level.rate().value / level.oversubscription *
                          constants_.levels[id.index()].efficiency};
  }
  [[nodiscard]] Seconds step(LevelId id) const {
    return cluster_.level(id).latency + constants_.levels[id.index()].wide_step;
  }

  void add_dimension(ChakraDimension dimension, BytesPerSecond member) {
    out_.levels.push_back({dimension.npus, member});
    out_.dimensions.push_back(std::move(dimension));
  }
  void add_switch(LevelId id, std::int32_t npus) {
    add_dimension({"Switch", npus, rate(id), Seconds{step(id).value / 2}}, rate(id));
  }

  // A dimension by itself becomes two of the same links, whose sizes multiply to at least as many NPUs.
  void finish() {
    if (out_.dimensions.size() > 1) return;
    const auto [inner, outer] = two_sides(out_.npus);
    out_.npus = inner * outer;
    out_.levels.front().npus = out_.npus;
    out_.dimensions.front().npus = inner;
    out_.dimensions.push_back(out_.dimensions.front());
    out_.dimensions.back().npus = outer;
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
      add_switch(id, size);
      return;
    }
    const BytesPerSecond link{rate(id).value / level.links(size)};
    if (level.kind == LevelKind::fully_connected) {
      add_dimension({"FullyConnected", size, link, step(id)}, rate(id));
    } else if (level.kind == LevelKind::ring) {
      add_dimension({"Ring", size, link, step(id)}, link);
    } else {
      add_grid(id, link);
    }
  }

  void add_grid(LevelId id, BytesPerSecond link) {
    const Level& level = cluster_.level(id);
    bool open = false;
    for (std::size_t i = 0; i < level.dims.size(); ++i) {
      if (level.dims[i] == 1) continue;
      add_dimension({"Ring", level.dims[i], link, step(id)}, link);
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
    LevelId slowest(0);
    for (std::int32_t l = 1; l < tree_.levels(); ++l) {
      if (rate(LevelId(l)) < rate(slowest)) slowest = LevelId(l);
    }
    add_switch(slowest, cluster_.devices());
    out_.npus = cluster_.devices();
    for (std::int32_t d = 0; d < cluster_.devices(); ++d) out_.npu_of.push_back(d);
    out_.lost.push_back(
        fmt::format("the cluster's levels are too uneven for the simulator's dimensions: one switch at the "
                    "bandwidth of {}",
                    cluster_.level(slowest).name));
  }

  const Cluster& cluster_;
  const FabricConstants& constants_;
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

ChakraNetwork chakra_network(const Cluster& cluster, const FabricConstants& constants) {
  return Maker(cluster, constants).make();
}

std::vector<ChakraDimension> flat_network(const ChakraNetwork& network) {
  ChakraDimension flat{"Switch", network.npus, network.dimensions.front().bandwidth, Seconds{}};
  for (const ChakraDimension& d : network.dimensions) {
    flat.bandwidth = std::min(flat.bandwidth, d.bandwidth);
    const Seconds through = d.topology == "Switch" ? d.hop : Seconds{d.hop.value / 2};
    flat.hop = std::max(flat.hop, through);
  }
  const auto [inner, outer] = two_sides(network.npus);
  std::vector<ChakraDimension> out{flat, flat};
  out[0].npus = inner;
  out[1].npus = outer;
  return out;
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

BytesPerSecond memory_rate_of(const Cluster& cluster) {
  return cluster.accelerator().memory_bandwidth;
}

std::string system_text(const Cluster& cluster, Precision precision, const ChakraSystem& system) {
  const auto all = [&](const char* name, std::size_t count) {
    Value list = Value::array();
    for (std::size_t i = 0; i < count; ++i) list.push(name);
    return list;
  };
  const char* ring = system.one_level ? "oneRing" : "ring";
  const char* direct = system.one_level && !system.group_all_to_all ? "oneDirect1" : "direct1";
  // Reductions read and write local memory beside the transfer in truth, after it in the simulator.
  const double memory = system.roofline ? memory_rate_of(cluster).value / kGigabyte : kNoDelay;
  Value out = Value::object();
  out.set("scheduling-policy", "FIFO")
      .set("endpoint-delay", 10)
      .set("active-chunks-per-dimension", 1)
      .set("preferred-dataset-splits", 1)  // more would pay every step's latency as often
      .set("all-reduce-implementation", all(ring, system.dimensions))
      .set("all-gather-implementation", all(ring, system.dimensions))
      .set("reduce-scatter-implementation", all(ring, system.dimensions))
      .set("all-to-all-implementation", all(direct, system.group_all_to_all ? 1 : system.dimensions))
      .set("collective-optimization", "localBWAware")
      .set("local-mem-bw", memory)
      .set("roofline-enabled", system.roofline ? 1 : 0)
      .set("peak-perf", peak_of(cluster.accelerator(), precision).value / kTera)
      .set("boost-mode", 0)
      .set("trace-enabled", 0)
      .set("replay-only", 0);
  return to_json(out) + "\n";
}

}  // namespace nest::frameworks
