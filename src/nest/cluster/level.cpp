#include "nest/cluster/level.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <optional>

#include "nest/base/document/mismatch.hpp"
#include "nest/base/numbers.hpp"

namespace nest::cluster {
namespace {

constexpr std::array<LevelKind, 5> kKinds{LevelKind::switched, LevelKind::ring, LevelKind::mesh,
                                          LevelKind::torus, LevelKind::fully_connected};
constexpr std::size_t kMostDims = 6;

LevelKind read_kind(Reader& r) {
  static const std::vector<std::string> kNames{"switch", "ring", "mesh", "torus", "fully_connected"};
  if (!r.has("kind")) return LevelKind::switched;
  const std::string word = r.choice("kind", kNames);
  const auto it = std::find(kNames.begin(), kNames.end(), word);
  return kKinds[static_cast<std::size_t>(it - kNames.begin())];
}

std::int32_t distance(std::int32_t a, std::int32_t b, std::int32_t size, bool wraps) {
  const std::int32_t straight = std::abs(a - b);
  return wraps ? std::min(straight, size - straight) : straight;
}

std::int32_t narrow(std::int64_t n) {
  return static_cast<std::int32_t>(n);
}

// mesh and torus: dims say the size; a size that is given as well must agree.
void read_grid(Reader& r, Level& level) {
  const std::string kind(to_string(level.kind));
  if (r.has("sizes"))
    r.fail_at("sizes", "a " + kind + " has the same 'dims' in every domain; 'sizes' is for the others");
  std::int64_t product = 1;
  for (const std::int64_t n : r.wholes("dims", {1, kMostDevices})) {
    level.dims.push_back(narrow(n));
    product = std::min(product * n, 2 * kMostDevices);
  }
  if (level.dims.empty() || level.dims.size() > kMostDims)
    r.fail_at("dims", "1 to 6 dimensions are expected");
  if (product > kMostDevices)
    r.fail_at("dims", "the dimensions make more than " + format_digits(kMostDevices) + " devices");
  if (r.has("size") && r.whole("size") != product) {
    r.fail_at("size", "the size is " + std::to_string(r.whole("size")) + ", but 'dims' make " +
                          std::to_string(product));
  }
  level.fan_out.size = narrow(product);
  if (level.kind == LevelKind::mesh) {
    if (r.has("wrap")) r.fail_at("wrap", "a mesh has no wrap-around links", "use kind: torus");
    level.wrap.assign(level.dims.size(), false);
    return;
  }
  level.wrap.assign(level.dims.size(), true);
  if (!r.has("wrap")) return;
  level.wrap = r.booleans("wrap");
  if (level.wrap.size() != level.dims.size()) {
    r.fail_at("wrap", "'wrap' has " + std::to_string(level.wrap.size()) +
                          (level.wrap.size() == 1 ? " entry, 'dims' " : " entries, 'dims' ") +
                          std::to_string(level.dims.size()));
  }
}

void read_fan_out(Reader& r, Level& level) {
  for (const std::string key : {"dims", "wrap"}) {
    if (r.has(key)) {
      r.fail_at(
          key, "'" + key + "' is for meshes and tori; this level is a " + std::string(to_string(level.kind)));
    }
  }
  if (r.has("size") && r.has("sizes")) r.fail_at("sizes", "either 'size' or 'sizes' is expected, not both");
  if (!r.has("sizes")) {
    level.fan_out.size = narrow(r.whole("size", {1, kMostDevices}));
    return;
  }
  for (const std::int64_t n : r.wholes("sizes", {1, kMostDevices})) level.fan_out.sizes.push_back(narrow(n));
  if (level.fan_out.sizes.empty()) r.fail_at("sizes", "at least one number is expected");
}

// 4, or "4:1" as people write it.
double read_oversubscription(Reader& r) {
  const Value* given = r.find("oversubscription");
  const std::string* text = given == nullptr ? nullptr : given->as_string();
  const std::size_t colon = text == nullptr ? std::string::npos : text->find(':');
  if (colon == std::string::npos) return r.number_or("oversubscription", 1);
  const std::string_view ratio = *text;
  const std::optional<double> down = number_in<double>(ratio.substr(0, colon));
  const std::optional<double> up = number_in<double>(ratio.substr(colon + 1));
  if (!down || !up || !(*down > 0) || !(*up > 0) || !std::isfinite(*down / *up))
    r.fail_at("oversubscription", "'" + *text + "' is not a ratio", "write it like '4:1' or 4");
  return *down / *up;
}

// 0.2, or "20 %".
double read_background(Reader& r) {
  const Value* given = r.find("background");
  const std::string* text = given == nullptr ? nullptr : given->as_string();
  if (text == nullptr) return r.number_or("background", 0);
  const std::optional<double> share = parse_share(*text);
  if (!share) r.fail_at("background", "'" + *text + "' is not a share", "write it like '20 %' or 0.2");
  return *share;
}

}  // namespace

std::string_view to_string(LevelKind kind) {
  static constexpr std::array<std::string_view, 5> kNames{"switch", "ring", "mesh", "torus",
                                                          "fully_connected"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::int32_t Level::links(std::int32_t children) const {
  if (kind == LevelKind::switched) return 1;
  if (kind == LevelKind::fully_connected) return own_links > 0 ? own_links : std::max(1, children - 1);
  if (kind == LevelKind::ring) return children > 1 ? 2 : 1;
  const auto used = std::count_if(dims.begin(), dims.end(), [](std::int32_t n) { return n > 1; });
  return std::max(1, 2 * static_cast<std::int32_t>(used));
}

std::int32_t Level::hops(std::int32_t from_child, std::int32_t to_child, std::int32_t children) const {
  if (kind == LevelKind::ring) return distance(from_child, to_child, children, true);
  if (!is_grid()) return 1;
  std::int32_t total = 0;
  for (std::size_t d = 0; d < dims.size(); ++d) {
    total += distance(from_child % dims[d], to_child % dims[d], dims[d], wrap[d]);
    from_child /= dims[d];
    to_child /= dims[d];
  }
  return total;
}

std::optional<LevelProblem> check_level(const Level& level) {
  if (level.name.empty()) return LevelProblem{"name", "the name is empty", ""};
  if (!(level.bandwidth.value > 0)) return LevelProblem{"bandwidth", "the bandwidth must be above 0", ""};
  if (!(level.latency.value >= 0)) return LevelProblem{"latency", "the latency is negative", ""};
  if (!(level.oversubscription >= 1)) {
    return LevelProblem{"oversubscription", "oversubscription is at least 1",
                        "4 means that a child's uplink carries a quarter of what its devices can send"};
  }
  const std::int32_t most = most_children(level.fan_out);
  if (level.own_links != 0 && (level.kind != LevelKind::fully_connected || level.own_links < most - 1)) {
    const std::string needed = std::to_string(most - 1);
    return LevelProblem{"links",
                        level.kind == LevelKind::fully_connected
                            ? "a device has a link to each of " + needed + " others"
                            : "'links' is for fully_connected levels",
                        level.kind == LevelKind::fully_connected ? "'links' is at least " + needed : ""};
  }
  if (!(level.background >= 0 && level.background < 1)) {
    return LevelProblem{"background", "other jobs take a share from 0 to below 1",
                        "0.2 means that a fifth of the bandwidth is theirs"};
  }
  if (level.oversubscription > 1 && level.hops_through_children()) {
    return LevelProblem{
        "oversubscription", "oversubscription is for switch and fully_connected levels",
        "the links of a " + std::string(to_string(level.kind)) + " already say what it carries"};
  }
  return std::nullopt;
}

Level read_level(Reader& r) {
  Level level;
  level.name = r.text("name");
  level.kind = read_kind(r);
  if (level.is_grid()) {
    read_grid(r, level);
  } else {
    read_fan_out(r, level);
  }
  level.bandwidth = r.bandwidth("bandwidth");
  level.latency = r.time("latency");
  level.oversubscription = read_oversubscription(r);
  level.background = read_background(r);
  level.own_links = narrow(r.whole_or("links", 0, {1, kMostDevices}));
  level.in_network_reduction = r.boolean_or("in_network_reduction", false);
  level.fabric = r.text_or("fabric", "");
  r.done();
  if (const auto problem = check_level(level)) r.fail_at(problem->key, problem->what, problem->hint);
  return level;
}

Value level_file_value(const Level& level) {
  Value out = Value::object();
  out.set("name", level.name).set("kind", to_string(level.kind));
  const auto list = [](const auto& items) {
    Value v = Value::array();
    for (const auto item : items) v.push(item);
    return v;
  };
  if (level.is_grid()) {
    out.set("dims", list(level.dims));
    if (level.kind == LevelKind::torus) {
      Value wrap = Value::array();
      for (const bool w : level.wrap) wrap.push(w);
      out.set("wrap", std::move(wrap));
    }
  } else if (level.fan_out.uniform()) {
    out.set("size", level.fan_out.size);
  } else {
    out.set("sizes", list(level.fan_out.sizes));
  }
  out.set("bandwidth", level.bandwidth.value).set("latency", level.latency.value);
  if (level.oversubscription != 1) out.set("oversubscription", level.oversubscription);
  if (level.background > 0) out.set("background", level.background);
  if (level.own_links > 0) out.set("links", level.own_links);
  if (level.in_network_reduction) out.set("in_network_reduction", true);
  if (!level.fabric.empty()) out.set("fabric", level.fabric);
  return out;
}

}  // namespace nest::cluster
