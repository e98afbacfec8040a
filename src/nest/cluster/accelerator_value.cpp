// Accelerators written out: back to the file format, and as JSON for people and programs.
#include "nest/cluster/accelerator.hpp"

namespace nest::cluster {
namespace {

Value peaks_value(const Accelerator& a) {
  Value out = Value::object();
  for (const auto& [type, rate] : a.peaks) out.set(std::string(to_string(type)), rate.value);
  return out;
}

Value shares_value(const std::map<MathType, double>& shares) {
  Value out = Value::object();
  for (const auto& [type, share] : shares) out.set(std::string(to_string(type)), share);
  return out;
}

Value flash_value(const Accelerator& a) {
  Value out = Value::object();
  out.set("1", a.flash_time[0]).set("2", a.flash_time[1]);
  return out;
}

// Every key, also where it is as without one: the base may say otherwise.
Value scale_up_value(const ScaleUp& links) {
  Value out = Value::object();
  out.set("fabric", links.fabric).set("reduction", links.reduction);
  out.set("point_to_point", links.point_to_point).set("domain", links.domain).set("torus", links.torus);
  out.set("wraps_from", links.wraps_from);
  return out;
}

const Accelerator* catalogued_base(const Accelerator& a) {
  for (const Accelerator& known : accelerators()) {
    if (known.name == (a.base.empty() ? a.name : a.base)) return &known;
  }
  return nullptr;
}

}  // namespace

Value accelerator_file_value(const Accelerator& a) {
  static const Accelerator kBlank;
  const Accelerator* base = catalogued_base(a);
  if (base != nullptr && a == *base) return a.name;
  if (a.base.empty()) base = nullptr;
  Value out = Value::object();
  if (base != nullptr) out.set("base", a.base);
  if (base == nullptr || a.name != base->name) out.set("name", a.name);
  const auto differs = [&](auto member) { return base == nullptr || a.*member != base->*member; };
  if (differs(&Accelerator::memory)) out.set("memory", a.memory.value);
  if (differs(&Accelerator::memory_source) && !a.memory_source.empty())
    out.set("memory_source", a.memory_source);
  if (differs(&Accelerator::memory_bandwidth)) out.set("memory_bandwidth", a.memory_bandwidth.value);
  if (differs(&Accelerator::scale_up_bandwidth) && a.scale_up_bandwidth) {
    out.set("scale_up_bandwidth", a.scale_up_bandwidth->value);
  }
  if (differs(&Accelerator::nic_bandwidth) && a.nic_bandwidth)
    out.set("nic_bandwidth", a.nic_bandwidth->value);
  if (differs(&Accelerator::peaks)) out.set("peak", peaks_value(a));
  if (differs(&Accelerator::matmul_fraction) && !a.matmul_fraction.empty()) {
    out.set("matmul_fraction", shares_value(a.matmul_fraction));
  }
  if (differs(&Accelerator::power_clock) && !a.power_clock.empty())
    out.set("power_clock", shares_value(a.power_clock));
  if (differs(&Accelerator::tile) && a.tile) out.set("tile", a.tile->value);
  if (differs(&Accelerator::memory_fraction) && a.memory_fraction)
    out.set("memory_fraction", *a.memory_fraction);
  if (differs(&Accelerator::multiprocessors) && a.multiprocessors)
    out.set("multiprocessors", *a.multiprocessors);
  if (differs(&Accelerator::launch) && a.launch) out.set("launch", a.launch->value);
  if (differs(&Accelerator::host_link) && a.host_link) out.set("host_link", a.host_link->value);
  if (differs(&Accelerator::host_memory) && a.host_memory) out.set("host_memory", a.host_memory->value);
  if (differs(&Accelerator::host_update) && a.host_update) out.set("host_update", *a.host_update);
  if (differs(&Accelerator::power) && a.power) out.set("power", a.power->value);
  if (differs(&Accelerator::price_per_hour) && a.price_per_hour) out.set("price_per_hour", *a.price_per_hour);
  const Accelerator& other = base != nullptr ? *base : kBlank;
  if (a.flash_time != other.flash_time) out.set("flash_time", flash_value(a));
  if (a.profile != other.profile) out.set("profile", a.profile);
  if (a.scale_up != other.scale_up) out.set("scale_up", scale_up_value(a.scale_up));
  if (a.aws_fabric != other.aws_fabric) out.set("aws_fabric", a.aws_fabric);
  if (a.software != other.software) out.set("software", a.software);
  const auto set_fit = [&](const char* key, const std::optional<MatmulFit>& fit,
                           const std::optional<MatmulFit>& same) {
    if (!fit || fit == same) return;
    Value value = Value::object();
    value.set("project", fit->project).set("without", fit->without);
    out.set(key, std::move(value));
  };
  set_fit("matmul_fit", a.matmul_fit, other.matmul_fit);
  set_fit("power_fit", a.power_fit, other.power_fit);
  if (differs(&Accelerator::source) && !a.source.empty()) out.set("source", a.source);
  if (differs(&Accelerator::date) && !a.date.empty()) out.set("date", a.date);
  if (differs(&Accelerator::note) && !a.note.empty()) out.set("note", a.note);
  return out;
}

Value accelerator_summary(const Accelerator& a) {
  Value out = Value::object();
  Value assumed = Value::array();
  out.set("name", a.name);
  if (!a.base.empty()) out.set("base", a.base);
  out.set("peak_flops_per_s", peaks_value(a)).set("memory_bytes", a.memory.value);
  out.set("memory_source", a.memory_source).set("memory_bandwidth_bytes_per_s", a.memory_bandwidth.value);
  if (a.scale_up_bandwidth) out.set("scale_up_bandwidth_bytes_per_s", a.scale_up_bandwidth->value);
  if (a.nic_bandwidth) out.set("nic_bandwidth_bytes_per_s", a.nic_bandwidth->value);
  Value fractions = Value::object();
  for (const auto& [type, rate] : a.peaks) {
    const Share share = a.matmul_share(type);
    fractions.set(std::string(to_string(type)), share.value);
    if (share.is_default) assumed.push("matmul_fraction." + std::string(to_string(type)));
  }
  out.set("matmul_fraction", std::move(fractions)).set("memory_fraction", a.memory_share().value);
  if (a.memory_share().is_default) assumed.push("memory_fraction");
  out.set("multiprocessors", a.multiprocessor_count());
  if (!a.multiprocessors) assumed.push("multiprocessors");
  if (a.launch) out.set("launch_s", a.launch->value);
  out.set("flash_time", flash_value(a));
  const HostShare host = a.host();
  out.set("host_link_bytes_per_s", host.link.value).set("host_memory_bytes", host.memory.value);
  out.set("host_update_parameters_per_s", host.update);
  if (host.default_link) assumed.push("host_link");
  if (host.default_memory) assumed.push("host_memory");
  if (host.default_update) assumed.push("host_update");
  if (!a.profile.empty()) out.set("profile", a.profile);
  if (!a.scale_up.fabric.empty()) out.set("scale_up_fabric", a.scale_up.fabric);
  if (a.power) out.set("power_w", a.power->value);
  if (a.price_per_hour) out.set("price_per_hour", *a.price_per_hour);
  out.set("assumed", std::move(assumed)).set("source", a.source).set("date", a.date);
  if (!a.note.empty()) out.set("note", a.note);
  return out;
}

}  // namespace nest::cluster
