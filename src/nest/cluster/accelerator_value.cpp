// Accelerators written out: back to the file format, and as JSON for people and programs.
#include "nest/cluster/accelerator.hpp"

namespace nest::cluster {
namespace {

Value peaks_value(const Accelerator& a) {
  Value out = Value::object();
  for (const auto& [type, rate] : a.peaks) out.set(std::string(to_string(type)), rate.value);
  return out;
}

Value fractions_value(const Accelerator& a) {
  Value out = Value::object();
  for (const auto& [type, share] : a.matmul_fraction) out.set(std::string(to_string(type)), share);
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
    out.set("matmul_fraction", fractions_value(a));
  }
  if (differs(&Accelerator::memory_fraction) && a.memory_fraction)
    out.set("memory_fraction", *a.memory_fraction);
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
  out.set("assumed", std::move(assumed)).set("source", a.source).set("date", a.date);
  if (!a.note.empty()) out.set("note", a.note);
  return out;
}

}  // namespace nest::cluster
