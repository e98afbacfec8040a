#include "nest/plan/calibration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "nest/base/document/file_kind.hpp"
#include "nest/base/plain_text.hpp"
#include "nest/estimate/collectives/fabric.hpp"

namespace nest::plan {
namespace {

constexpr double kMost = 100;  // beyond it, up or down, a unit is wrong
constexpr double kMostFragmentation = 1;

double checked(Reader& r, const std::string& key, double value) {
  if (!(value >= 1 / kMost && value <= kMost))
    r.fail_at(key, "a multiple of the shipped constant lies between 0.01 and 100");
  return value;
}

// A plain number, or {value, low, high}.
Multiple read_multiple(Reader& r, const std::string& key) {
  if (!r.has(key)) return {};
  if (r.find(key)->as_object() == nullptr) {
    const double value = checked(r, key, r.number(key));
    return {value, value, value};
  }
  Reader group = r.object(key);
  Multiple out;
  out.value = checked(group, "value", group.number("value"));
  out.low = checked(group, "low", group.number_or("low", out.value));
  out.high = checked(group, "high", group.number_or("high", out.value));
  if (out.low > out.value) group.fail_at("low", "the lower end is above the value");
  if (out.high < out.value) group.fail_at("high", "the upper end is below the value");
  group.done();
  return out;
}

std::vector<std::string> read_sentences(Reader& r, const std::string& key) {
  std::vector<std::string> out;
  if (!r.has(key)) return out;
  const Value::Array* list = r.find(key)->as_array();
  if (list == nullptr) r.fail_at(key, "a list of sentences is expected");
  for (const Value& one : *list) {
    if (one.as_string() == nullptr) r.fail_at(key, "a list of sentences is expected");
    out.push_back(printable(*one.as_string()));
  }
  return out;
}

Value multiple_value(const Multiple& m) {
  if (m.low == m.value && m.high == m.value) return m.value;
  Value v = Value::object();
  v.set("value", m.value).set("low", m.low).set("high", m.high);
  return v;
}

void set_moved(Value& out, const char* key, const Multiple& m) {
  if (!(m == Multiple{})) out.set(key, multiple_value(m));
}

void set_sentences(Value& out, const char* key, const std::vector<std::string>& sentences) {
  if (sentences.empty()) return;
  Value list = Value::array();
  for (const std::string& sentence : sentences) list.push(sentence);
  out.set(key, std::move(list));
}

const LevelMultiples* find(const Calibration& c, const std::string& level) {
  const auto at = std::find_if(c.levels.begin(), c.levels.end(),
                               [&](const LevelMultiples& l) { return l.name == level; });
  return at == c.levels.end() ? nullptr : &*at;
}

bool same_run(const Calibration& c, const Recipe& recipe, const Cluster& cluster) {
  return (c.framework.empty() || c.framework == recipe.framework) &&
         (c.accelerator.empty() || c.accelerator == cluster.device_name());
}

Multiple over(const Multiple& m) {
  return {1 / m.value, 1 / m.high, 1 / m.low};
}

}  // namespace

Calibration read_calibration(Reader r) {
  static constexpr const char* kOwn = "learnt_from";
  const FileKind kind = kind_of(r.document());
  if (r.path().empty() && r.value().find(kOwn) == nullptr && kind != FileKind::unknown &&
      kind != FileKind::calibration)
    r.fail("this is not a calibration", looks_like(r.document()));
  Calibration c;
  c.name = r.text_or("name", "");
  c.framework = r.text_or("framework", "");
  c.accelerator = r.text_or("accelerator", "");
  for (const CalibrationKey& k : kCalibrationKeys) c.*k.member = read_multiple(r, k.key);
  if (auto levels = r.object_if("levels")) {
    for (const std::string& name : levels->keys()) {
      Reader level = levels->object(name);
      c.levels.push_back({name, read_multiple(level, "bandwidth"), read_multiple(level, "latency")});
      level.done();
    }
  }
  c.learnt_from = read_sentences(r, kOwn);
  c.unknown = read_sentences(r, "unknown");
  r.done();
  return c;
}

Calibration load_calibration(const std::string& file) {
  Calibration c = read_calibration(Reader(read_document(file)));
  if (c.name.empty()) c.name = printable(std::filesystem::path(file).filename().string());
  return c;
}

Value to_value(const Calibration& c) {
  Value v = Value::object();
  if (!c.name.empty()) v.set("name", c.name);
  if (!c.framework.empty()) v.set("framework", c.framework);
  if (!c.accelerator.empty()) v.set("accelerator", c.accelerator);
  for (const CalibrationKey& k : kCalibrationKeys) set_moved(v, k.key, c.*k.member);
  if (!c.levels.empty()) {
    Value levels = Value::object();
    for (const LevelMultiples& l : c.levels) {
      Value level = Value::object();
      set_moved(level, "bandwidth", l.bandwidth);
      set_moved(level, "latency", l.latency);
      levels.set(l.name, std::move(level));
    }
    v.set("levels", std::move(levels));
  }
  set_sentences(v, "learnt_from", c.learnt_from);
  set_sentences(v, "unknown", c.unknown);
  return v;
}

void apply_calibration(const Calibration& c, Recipe& recipe, Cluster& cluster) {
  const bool same = same_run(c, recipe, cluster);
  if (same) {
    recipe.kernel_time *= c.kernel_time.value;
    recipe.host_time *= c.host_time.value;
    recipe.zero_time *= c.zero_time.value;
  }
  // The allocator's whole, of which the fragments are what is left: no less than the tensors that are counted.
  if (same && c.memory.moved())
    recipe.fragmentation =
        std::clamp((1 + recipe.fragmentation) * c.memory.value - 1, 0.0, kMostFragmentation);
  ClusterParts parts = cluster.parts();
  const FabricConstants fabrics = fabric_constants(cluster);
  bool changed = false;
  for (std::size_t i = 0; i < parts.levels.size(); ++i) {
    Level& level = parts.levels[i];
    const LevelMultiples* own = find(c, level.name);
    const double network = same ? c.network_time.value : 1;
    const double bandwidth = (own != nullptr ? own->bandwidth.value : 1) / network;
    const double latency = (own != nullptr ? own->latency.value : 1) * network;
    if (bandwidth == 1 && latency == 1) continue;
    changed = true;
    level.bandwidth = bandwidth * level.bandwidth;
    level.latency = latency * level.latency;
    // What a link is made of is guessed by its bandwidth: it must not become another one.
    level.fabric = fabrics.levels[i].name;
  }
  if (changed) cluster = Cluster(std::move(parts));
}

Calibration inverse(const Calibration& c) {
  Calibration out{.framework = c.framework, .accelerator = c.accelerator};
  for (const CalibrationKey& k : kCalibrationKeys) out.*k.member = over(c.*k.member);
  for (const LevelMultiples& l : c.levels) out.levels.push_back({l.name, over(l.bandwidth), over(l.latency)});
  return out;
}

std::string spell_calibration(const Calibration& c) {
  std::vector<std::string> parts;
  for (const CalibrationKey& k : kCalibrationKeys) {
    if ((c.*k.member).moved()) parts.push_back(fmt::format("{} {:.3g}", k.key, (c.*k.member).value));
  }
  for (const LevelMultiples& l : c.levels) {
    if (l.bandwidth.moved()) parts.push_back(fmt::format("{} bandwidth {:.3g}", l.name, l.bandwidth.value));
    if (l.latency.moved()) parts.push_back(fmt::format("{} latency {:.3g}", l.name, l.latency.value));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

Warnings calibration_warnings(const Calibration& c, const Recipe& recipe, const Cluster& cluster) {
  Warnings out;
  const bool constants = std::any_of(kCalibrationKeys.begin(), kCalibrationKeys.end(),
                                     [&](const CalibrationKey& k) { return (c.*k.member).moved(); });
  if (constants && !same_run(c, recipe, cluster)) {
    out.push_back(
        fmt::format("the calibration was learnt with {} on {}: constants of {} on {} stay as shipped",
                    c.framework, c.accelerator, recipe.framework, cluster.device_name()));
  }
  for (const LevelMultiples& l : c.levels) {
    const auto& levels = cluster.levels();
    if (std::none_of(levels.begin(), levels.end(), [&](const Level& at) { return at.name == l.name; }))
      out.push_back(fmt::format("the calibration has constants of level '{}', which {} does not have", l.name,
                                cluster.name()));
  }
  return out;
}

}  // namespace nest::plan
