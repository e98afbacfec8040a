#include "nest/cluster/cluster_file.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "nest/base/document/file_kind.hpp"
#include "nest/base/error.hpp"
#include "nest/base/plain_text.hpp"
#include "nest/cluster/leave_out.hpp"
#include "nest/cluster/name_list.hpp"

namespace nest::cluster {
namespace {

void set_if(Value& out, const std::string& key, const std::string& text) {
  if (!text.empty()) out.set(key, text);
}

Value level_summary(const Cluster& cluster, LevelId id) {
  const DeviceTree& tree = cluster.tree();
  const Level& level = cluster.level(id);
  Value out = Value::object();
  out.set("name", level.name).set("kind", to_string(level.kind));
  if (level.fan_out.uniform()) {
    out.set("size", level.fan_out.size);
  } else {
    Value sizes = Value::array();
    for (const std::int32_t n : level.fan_out.sizes) sizes.push(n);
    out.set("sizes", std::move(sizes));
  }
  if (level.is_grid()) {
    Value dims = Value::array();
    Value wrap = Value::array();
    for (const std::int32_t n : level.dims) dims.push(n);
    for (const bool w : level.wrap) wrap.push(w);
    out.set("dims", std::move(dims)).set("wrap", std::move(wrap));
  }
  out.set("domains", tree.domains(id));
  if (tree.regular(id)) {
    out.set("devices_per_domain", tree.devices_in(id, 0));
  } else {
    std::int32_t least = tree.devices_in(id, 0);
    std::int32_t most = least;
    for (std::int32_t d = 1; d < tree.domains(id); ++d) {
      least = std::min(least, tree.devices_in(id, d));
      most = std::max(most, tree.devices_in(id, d));
    }
    Value range = Value::array();
    range.push(least).push(most);
    out.set("devices_per_domain", std::move(range));
  }
  out.set("bandwidth_bytes_per_s", level.bandwidth.value).set("latency_s", level.latency.value);
  out.set("oversubscription", level.oversubscription);
  if (level.background > 0) out.set("background", level.background);
  if (level.in_network_reduction) out.set("in_network_reduction", true);
  if (!level.fabric.empty()) out.set("fabric", level.fabric);
  out.set("bisection_bytes_per_s", bisection(cluster, id).value);
  return out;
}

std::vector<std::string> read_device_names(Reader& r) {
  std::vector<std::string> names;
  const Value* list = r.find("devices");
  if (list == nullptr) return names;
  if (list->as_array() == nullptr) r.fail_at("devices", "a list with the name of every device is expected");
  for (const Value& name : *list->as_array()) {
    if (name.as_string() == nullptr || name.as_string()->empty())
      r.fail_at("devices", "the name of a device is a text");
    if (!has_ranges(*name.as_string())) {
      names.push_back(*name.as_string());
      continue;
    }
    NameList some = expand_ranges(*name.as_string(), static_cast<std::size_t>(kMostDevices) - names.size());
    if (!some.problem.empty()) r.fail_at("devices", some.problem);
    std::move(some.names.begin(), some.names.end(), std::back_inserter(names));
  }
  return names;
}

std::vector<std::string> read_absent(Reader& r) {
  std::vector<std::string> entries;
  const Value* list = r.find("absent");
  if (list == nullptr) return entries;
  if (list->as_array() == nullptr)
    r.fail_at("absent", "a list of devices, hosts and domains is expected, such as [node 17, 12]");
  for (const Value& entry : *list->as_array()) {
    if (const std::int64_t* id = entry.as_int()) {
      entries.push_back(std::to_string(*id));
    } else if (entry.as_string() != nullptr && !has_control(*entry.as_string())) {
      entries.push_back(*entry.as_string());
    } else {
      r.fail_at("absent", "the name of a device, a host or a domain is expected");
    }
  }
  return entries;
}

Value texts_value(const std::vector<std::string>& texts) {
  Value list = Value::array();
  for (const std::string& text : texts) list.push(text);
  return list;
}

}  // namespace

Cluster read_cluster(const Document& document) {
  return read_cluster(Reader(document));
}

Cluster read_cluster(Reader r) {
  if (r.path().empty() && r.value().find("levels") == nullptr) {
    const FileKind kind = kind_of(r.document());
    if (kind != FileKind::unknown && kind != FileKind::cluster)
      r.fail("this is not a cluster file", looks_like(r.document()));
  }
  ClusterParts parts;
  parts.name = r.text("name");
  if (parts.name.empty()) r.fail_at("name", "the name is empty");
  parts.accelerator = read_accelerator(r, "accelerator");
  std::vector<Reader> entries = r.objects("levels");
  for (Reader& entry : entries) parts.levels.push_back(read_level(entry));
  parts.source = r.prose_or("source", "");
  parts.date = r.text_or("date", "");
  parts.note = r.prose_or("note", "");
  std::vector<std::string> names = read_device_names(r);
  std::vector<std::string> absent = read_absent(r);
  if (r.has("slow"))
    r.fail_at("slow", "parts that are slower than others cannot be planned with yet",
              "leave them out with 'absent'");
  r.done();
  if (const auto found = check_levels(parts.levels)) {
    const auto& [level, problem] = *found;
    if (entries.empty()) r.fail_at("levels", problem.what, problem.hint);
    entries[level.index()].fail_at(problem.key, problem.what, problem.hint);
  }
  if (!names.empty()) {
    const std::string problem = check_device_names(names, Cluster(parts).devices());
    if (!problem.empty()) r.fail_at("devices", problem);
  }
  parts.device_names = std::move(names);
  try {
    return leave_out(std::move(parts), std::move(absent));
  } catch (const InputError& error) {
    r.fail_at("absent", error.problem(), error.hint());
  }
}

Value cluster_file_value(const Cluster& cluster) {
  const ClusterParts& parts = cluster.parts();
  Value out = Value::object();
  out.set("name", parts.name);
  set_if(out, "source", parts.source);
  set_if(out, "date", parts.date);
  set_if(out, "note", parts.note);
  out.set("accelerator", accelerator_file_value(parts.accelerator));
  Value levels = Value::array();
  const Absences& absences = parts.absences;
  const bool missing = !absences.entries.empty();
  for (std::size_t l = 0; l < parts.levels.size(); ++l) {
    Level level = parts.levels[l];
    if (missing) {
      level.fan_out = absences.whole[l].fan_out;
      level.own_links = absences.whole[l].own_links;
    }
    levels.push(level_file_value(level));
  }
  out.set("levels", std::move(levels));
  if (missing) out.set("absent", texts_value(absences.entries));
  const std::vector<std::string>& names = missing ? absences.names : parts.device_names;
  if (!names.empty()) out.set("devices", texts_value(shorten_names(names)));
  return out;
}

Value cluster_summary(const Cluster& cluster) {
  const ClusterParts& parts = cluster.parts();
  Value out = Value::object();
  out.set("name", parts.name).set("devices", cluster.devices());
  out.set("accelerator", accelerator_summary(parts.accelerator));
  Value levels = Value::array();
  for (std::int32_t l = 0; l < cluster.tree().levels(); ++l) levels.push(level_summary(cluster, LevelId{l}));
  out.set("levels", std::move(levels)).set("bisection_bytes_per_s", bisection(cluster).value);
  if (!parts.absences.entries.empty()) out.set("absent", texts_value(parts.absences.entries));
  out.set("source", parts.source);
  set_if(out, "date", parts.date);
  set_if(out, "note", parts.note);
  return out;
}

}  // namespace nest::cluster
