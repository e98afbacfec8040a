#include "nest/cluster/accelerator.hpp"

#include <algorithm>
#include <array>

#include "nest/base/closest.hpp"
#include "nest/base/document/document.hpp"
#include "nest/base/error.hpp"
#include "nest/cluster/embedded_files.hpp"

namespace nest::cluster {
namespace {

constexpr std::array<MathType, 7> kMathTypes{MathType::fp32, MathType::tf32, MathType::bf16,
                                             MathType::fp16, MathType::fp8,  MathType::fp8_block,
                                             MathType::fp4};

BytesPerSecond positive_bandwidth(Reader& r, const std::string& key) {
  const BytesPerSecond rate = r.bandwidth(key);
  if (rate.value <= 0) r.fail_at(key, "the bandwidth must be above 0");
  return rate;
}

Bytes positive_memory(Reader& r, const std::string& key) {
  const Bytes memory = r.bytes(key);
  if (memory.value <= 0) r.fail_at(key, "the memory must be above 0");
  return memory;
}

// Parameters a second.
double positive_rate(Reader& r, const std::string& key) {
  const double rate = r.number(key);
  if (!(rate > 0)) r.fail_at(key, "the number of parameters in a second must be above 0");
  return rate;
}

double fraction(Reader& r, const std::string& key) {
  const double share = r.number(key);
  if (!(share > 0 && share <= 1)) r.fail_at(key, "a share of the peak is above 0 and at most 1");
  return share;
}

std::vector<std::string> math_names() {
  std::vector<std::string> names;
  names.reserve(kMathTypes.size());
  for (const MathType type : kMathTypes) names.emplace_back(to_string(type));
  return names;
}

MathType math_type(Reader& r, const std::string& key) {
  for (const MathType type : kMathTypes) {
    if (to_string(type) == key) return type;
  }
  std::string known;
  for (const std::string& name : math_names()) known += (known.empty() ? "known here: " : ", ") + name;
  const std::string guess = did_you_mean(key, math_names());
  r.fail_at(key, "unknown arithmetic '" + key + "'", guess.empty() ? known : guess);
}

void read_peaks(Reader& r, Accelerator& a) {
  if (!r.has("peak")) return;
  Reader peaks = r.object("peak");
  for (const std::string& key : peaks.keys()) {
    const MathType type = math_type(peaks, key);
    const FlopsPerSecond rate = peaks.compute_rate(key);
    if (rate.value <= 0) peaks.fail_at(key, "the peak must be above 0");
    a.peaks[type] = rate;
  }
}

// One number for every arithmetic, or one for each: {bf16: 0.8, fp8: 0.7}.
void read_shares(Reader& r, const char* key, const Accelerator& a, std::map<MathType, double>& out) {
  const Value* given = r.find(key);
  if (given == nullptr) return;
  if (given->as_object() == nullptr) {
    const double share = fraction(r, key);
    for (const auto& [type, peak] : a.peaks) out[type] = share;
    return;
  }
  Reader shares = r.object(key);
  for (const std::string& type : shares.keys()) out[math_type(shares, type)] = fraction(shares, type);
}

void read_scale_up(Reader r, ScaleUp& links) {
  constexpr std::int64_t kMostDevices = 1 << 20;
  links.fabric = r.text_or("fabric", links.fabric);
  links.reduction = r.boolean_or("reduction", links.reduction);
  links.point_to_point = r.boolean_or("point_to_point", links.point_to_point);
  links.domain = r.whole_or("domain", links.domain, {0, kMostDevices});
  links.torus = r.whole_or("torus", links.torus, {0, 3});
  links.wraps_from = r.whole_or("wraps_from", links.wraps_from, {0, kMostDevices});
  r.done();
}

// {1: 3.3, 2: 1.65}
void read_flash_time(Reader r, std::array<double, 2>& times) {
  for (const std::string& key : r.keys()) {
    if (key != "1" && key != "2") r.fail_at(key, "generation 1 or 2 is expected");
    const double time = r.number(key);
    if (!(time >= 1)) r.fail_at(key, "older attention kernels take at least as long as the newest");
    times[key == "1" ? 0 : 1] = time;
  }
  r.done();
}

void read_kernel_figures(Reader& r, Accelerator& a) {
  constexpr std::int64_t kMostMultiprocessors = 1 << 20;
  if (r.has("multiprocessors"))
    a.multiprocessors = r.whole_or("multiprocessors", 1, {1, kMostMultiprocessors});
  if (r.has("launch")) {
    a.launch = r.time("launch");
    if (a.launch->value < 0) r.fail_at("launch", "a time is not below 0");
  }
  if (auto times = r.object_if("flash_time")) read_flash_time(*times, a.flash_time);
  a.profile = r.text_or("profile", a.profile);
  if (auto links = r.object_if("scale_up")) read_scale_up(*links, a.scale_up);
  a.aws_fabric = r.text_or("aws_fabric", a.aws_fabric);
  a.software = r.text_or("software", a.software);
  if (r.has("tile")) {
    a.tile = r.time("tile");
    if (a.tile->value < 0) r.fail_at("tile", "a time is not below 0");
  }
  const auto read_fit = [&](const char* key, std::optional<MatmulFit>& out) {
    auto fit = r.object_if(key);
    if (!fit) return;
    out = MatmulFit{fit->text("project"), fraction(*fit, "without")};
    fit->done();
  };
  read_fit("matmul_fit", a.matmul_fit);
  read_fit("power_fit", a.power_fit);
}

// Every key that an accelerator may have besides name and base, on top of what `a` holds already.
void read_figures(Reader& r, Accelerator& a) {
  if (r.has("memory")) {
    a.memory = positive_memory(r, "memory");
    a.memory_source = "given";
  }
  a.memory_source = r.prose_or("memory_source", a.memory_source);
  if (r.has("memory_bandwidth")) a.memory_bandwidth = positive_bandwidth(r, "memory_bandwidth");
  if (r.has("scale_up_bandwidth")) a.scale_up_bandwidth = positive_bandwidth(r, "scale_up_bandwidth");
  if (r.has("nic_bandwidth")) a.nic_bandwidth = positive_bandwidth(r, "nic_bandwidth");
  read_peaks(r, a);
  read_shares(r, "matmul_fraction", a, a.matmul_fraction);
  read_shares(r, "power_clock", a, a.power_clock);
  if (r.has("memory_fraction")) a.memory_fraction = fraction(r, "memory_fraction");
  read_kernel_figures(r, a);
  if (r.has("host_link")) a.host_link = positive_bandwidth(r, "host_link");
  if (r.has("host_memory")) a.host_memory = positive_memory(r, "host_memory");
  if (r.has("host_update")) a.host_update = positive_rate(r, "host_update");
  if (r.has("power")) {
    a.power = r.power("power");
    if (a.power->value <= 0) r.fail_at("power", "the power must be above 0");
  }
  if (r.has("price_per_hour")) {
    a.price_per_hour = r.number("price_per_hour");
    if (!(*a.price_per_hour > 0)) r.fail_at("price_per_hour", "the price must be above 0");
  }
  a.source = r.prose_or("source", a.source);
  a.date = r.text_or("date", a.date);
  a.note = r.prose_or("note", a.note);
  r.done();
}

void demand_figures(Reader& r, const Accelerator& a) {
  if (a.peaks.empty()) r.fail("the key 'peak' is missing", "it holds a compute rate for each arithmetic");
  if (a.memory.value == 0) r.fail("the key 'memory' is missing", "it holds a size in bytes");
  if (a.memory_bandwidth.value <= 0) r.fail("the key 'memory_bandwidth' is missing", "it holds a bandwidth");
}

struct Catalogue {
  AcceleratorDefaults defaults;
  std::vector<Accelerator> rows;
};

Catalogue read_catalogue() {
  const EmbeddedFile& file = accelerator_files().front();
  const Document document = parse_document("data/accelerators.yaml", std::string(file.text));
  Reader r(document);
  Catalogue out;
  const std::string date = r.text("date");
  Reader defaults = r.object("defaults");
  out.defaults.matmul_fraction = fraction(defaults, "matmul_fraction");
  out.defaults.memory_fraction = fraction(defaults, "memory_fraction");
  out.defaults.power_clock = fraction(defaults, "power_clock");
  out.defaults.multiprocessors = defaults.whole_or("multiprocessors", 1, {1, 1 << 20});
  out.defaults.launch = defaults.time("launch");
  out.defaults.host_link = positive_bandwidth(defaults, "host_link");
  out.defaults.host_both_ways = fraction(defaults, "host_both_ways");
  out.defaults.host_memory = positive_memory(defaults, "host_memory");
  out.defaults.host_update = positive_rate(defaults, "host_update");
  defaults.done();
  Reader rows = r.object("accelerators");
  for (const std::string& name : rows.keys()) {
    Reader row = rows.object(name);
    Accelerator a;
    a.name = name;
    a.date = date;
    read_figures(row, a);
    demand_figures(row, a);
    out.rows.push_back(std::move(a));
  }
  r.done();
  return out;
}

const Catalogue& catalogue() {
  static const Catalogue kCatalogue = read_catalogue();
  return kCatalogue;
}

const Accelerator* catalogued(std::string_view name) {
  const auto& rows = catalogue().rows;
  const auto it =
      std::find_if(rows.begin(), rows.end(), [&](const Accelerator& a) { return a.name == name; });
  return it == rows.end() ? nullptr : &*it;
}

// "h100" is the start of several names and one letter from "v100": the start says more.
std::string guess_of(std::string_view name) {
  for (const Accelerator& a : catalogue().rows) {
    if (!name.empty() && a.name.starts_with(std::string(name) + "-")) return "did you mean '" + a.name + "'?";
  }
  const std::string guess = did_you_mean(name, accelerator_names());
  return guess.empty() ? "'nest clusters --accelerators' lists the known ones" : guess;
}

const Accelerator& named(Reader& r, const std::string& key, const std::string& name) {
  if (const Accelerator* a = catalogued(name)) return *a;
  r.fail_at(key, "unknown accelerator '" + name + "'", guess_of(name));
}

}  // namespace

std::string_view to_string(MathType type) {
  static constexpr std::array<std::string_view, 7> kNames{"fp32", "tf32",      "bf16", "fp16",
                                                          "fp8",  "fp8_block", "fp4"};
  return kNames[static_cast<std::size_t>(type)];
}

std::span<const MathType> math_types() {
  return kMathTypes;
}

std::optional<FlopsPerSecond> Accelerator::peak(MathType type) const {
  const auto it = peaks.find(type);
  if (it != peaks.end()) return it->second;
  return type == MathType::fp8_block ? peak(MathType::fp8) : std::nullopt;
}

Share Accelerator::matmul_share(MathType type) const {
  const auto it = matmul_fraction.find(type);
  if (it != matmul_fraction.end()) return {it->second, false};
  return {accelerator_defaults().matmul_fraction, true};
}

Share Accelerator::memory_share() const {
  if (memory_fraction) return {*memory_fraction, false};
  return {accelerator_defaults().memory_fraction, true};
}

Share Accelerator::power_share(MathType type) const {
  const bool low = type == MathType::fp8_block || type == MathType::fp4;
  for (const MathType other : {type, low ? MathType::fp8 : type, MathType::bf16}) {
    const auto it = power_clock.find(other);
    if (it != power_clock.end()) return {it->second, false};
  }
  return {accelerator_defaults().power_clock, true};
}

std::int64_t Accelerator::multiprocessor_count() const {
  return multiprocessors.value_or(accelerator_defaults().multiprocessors);
}

HostShare Accelerator::host() const {
  const AcceleratorDefaults& d = accelerator_defaults();
  HostShare share{.link = host_link.value_or(d.host_link),
                  .memory = host_memory.value_or(d.host_memory),
                  .update = host_update.value_or(d.host_update),
                  .default_link = !host_link,
                  .default_memory = !host_memory,
                  .default_update = !host_update};
  share.both.value = d.host_both_ways * share.link.value;
  return share;
}

const AcceleratorDefaults& accelerator_defaults() {
  return catalogue().defaults;
}

std::span<const Accelerator> accelerators() {
  return catalogue().rows;
}

std::vector<std::string> accelerator_names() {
  std::vector<std::string> names;
  for (const Accelerator& a : catalogue().rows) names.push_back(a.name);
  return names;
}

const Accelerator& find_accelerator(std::string_view name) {
  if (const Accelerator* a = catalogued(name)) return *a;
  throw InputError("", "", "unknown accelerator '" + std::string(name) + "'", guess_of(name));
}

Accelerator read_accelerator(Reader& file, const std::string& key) {
  const Value* given = file.find(key);
  if (given == nullptr || given->as_object() == nullptr) return named(file, key, file.text(key));
  Reader r = file.object(key);
  Accelerator a;
  if (r.has("base")) {
    a = named(r, "base", r.text("base"));
    a.base = a.name;
    a.name = r.text_or("name", a.name);
    if (a.name.empty()) r.fail_at("name", "the name is empty");
    read_figures(r, a);
    return a;
  }
  a.name = r.text("name");
  if (a.name.empty()) r.fail_at("name", "the name is empty");
  read_figures(r, a);
  demand_figures(r, a);
  return a;
}

}  // namespace nest::cluster
