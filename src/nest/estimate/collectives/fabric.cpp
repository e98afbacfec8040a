#include "nest/estimate/collectives/fabric.hpp"

#include <algorithm>

#include "nest/base/closest.hpp"
#include "nest/base/document/document.hpp"
#include "nest/base/document/reader.hpp"
#include "nest/base/error.hpp"

namespace nest::estimate {
namespace {

struct FabricFile {
  Seconds launch;
  Seconds message;
  std::vector<Fabric> fabrics;
};

double share(Reader& r, const std::string& key, double fallback) {
  const double value = r.number_or(key, fallback);
  if (!(value > 0 && value <= 1)) r.fail_at(key, "a share above 0 and up to 1 is expected");
  return value;
}

// Up to 1: with more, a group would take less time than a smaller one.
double own_part(Reader& r, const std::string& key) {
  const double value = r.number_or(key, 0);
  if (!(value >= 0 && value <= 1)) r.fail_at(key, "a share from 0 to 1 is expected");
  return value;
}

Fabric read_fabric(Reader r, const std::string& name) {
  Fabric f{.name = name};
  f.efficiency = share(r, "efficiency", 1);
  f.ring_own = own_part(r, "ring_own");
  f.exchange_efficiency = share(r, "exchange_efficiency", f.efficiency);
  f.exchange_own = own_part(r, "exchange_own");
  f.reduction_efficiency = share(r, "reduction_efficiency", f.efficiency);
  f.reduction_by_peers = r.boolean_or("reduction_by_peers", false);
  if (r.has("reduction_step")) f.reduction_step = r.time("reduction_step");
  f.quick_share = share(r, "quick_share", 1);
  f.wide_step = r.time("wide_step");
  f.quick_step =
      r.has("quick_step") ? r.time("quick_step") : f.wide_step;  // without one there is one protocol
  f.trees = r.boolean_or("trees", false);
  f.source = r.text("source");
  r.done();
  if (!r.has("reduction_step")) f.reduction_step = f.wide_step;
  return f;
}

FabricFile read_fabric_file(const Document& document) {
  Reader r(document);
  FabricFile out;
  static_cast<void>(r.text("date"));
  Reader library = r.object("library");
  out.launch = library.time("launch");
  out.message = library.time("message");
  library.done();
  Reader fabrics = r.object("fabrics");
  for (const std::string& name : fabrics.keys())
    out.fabrics.push_back(read_fabric(fabrics.object(name), name));
  r.done();
  return out;
}

const FabricFile& file() {
  static const FabricFile kFile =
      read_fabric_file(parse_document("data/fabrics.yaml", std::string(fabric_files().front().text)));
  return kFile;
}

std::string scale_up_fabric(const Accelerator& accelerator, const Level& level) {
  // A node far below the links of its accelerator has them unused: cards in slots.
  const bool gpu_links =
      !accelerator.scale_up_bandwidth || level.bandwidth.value >= accelerator.scale_up_bandwidth->value / 4;
  if (!gpu_links) return "pcie";
  if (!accelerator.scale_up.fabric.empty()) return accelerator.scale_up.fabric;
  return accelerator.scale_up_bandwidth ? "scale-up" : "pcie";
}

}  // namespace

FabricConstants ideal_constants(const Cluster& cluster, bool at_once) {
  FabricConstants out{.at_once = at_once};
  out.levels.assign(
      cluster.levels().size(),
      Fabric{.name = "ideal", .trees = true, .source = "the level's own bandwidth and latency"});
  return out;
}

FabricConstants fabric_constants(const Cluster& cluster, std::span<const std::string> fabrics) {
  if (fabrics.size() != cluster.levels().size()) {
    throw InputError(cluster.name(), "levels", "one fabric for each level is expected");
  }
  FabricConstants out{.library = true, .launch = file().launch, .message = file().message};
  for (const std::string& name : fabrics) out.levels.push_back(fabric(name));
  return out;
}

FabricConstants fabric_constants(const Cluster& cluster) {
  const Accelerator& accelerator = cluster.accelerator();
  std::vector<std::string> names;
  for (std::size_t l = 0; l < cluster.levels().size(); ++l) {
    const Level& level = cluster.levels()[l];
    const bool links =
        accelerator.scale_up_bandwidth && level.bandwidth.value >= accelerator.scale_up_bandwidth->value / 2;
    if (!level.fabric.empty()) {
      names.push_back(level.fabric);
    } else if (l == 0 || links || level.hops_through_children()) {
      names.push_back(scale_up_fabric(accelerator, level));
    } else {
      names.emplace_back("infiniband");
    }
  }
  return fabric_constants(cluster, names);
}

FabricConstants fabric_constants(const Cluster& cluster, const Recipe& recipe) {
  return recipe.ideal_network ? ideal_constants(cluster, recipe.levels_at_once) : fabric_constants(cluster);
}

std::vector<std::string> fabric_names() {
  std::vector<std::string> out;
  for (const Fabric& f : file().fabrics) out.push_back(f.name);
  return out;
}

const Fabric& fabric(std::string_view name) {
  const auto& all = file().fabrics;
  const auto found = std::find_if(all.begin(), all.end(), [&](const Fabric& f) { return f.name == name; });
  if (found != all.end()) return *found;
  throw InputError("", "", "unknown fabric '" + std::string(name) + "'", did_you_mean(name, fabric_names()));
}

}  // namespace nest::estimate
