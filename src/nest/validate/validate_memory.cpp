#include "nest/validate/validate_memory.hpp"

#include <algorithm>
#include <functional>
#include <map>

#include "nest/price/uncertainty.hpp"
#include "nest/validate/validation_value.hpp"

namespace nest::validate {
namespace {

// What out-of-memory rows must state, for a plan that is denser than the run's would blame the wrong thing.
std::string incomplete(const RunRow& row) {
  if (!row.zero) return "the ZeRO stage is not stated";
  return "";
}

MemoryResult check(const RunRow& row, const RunPredictor& predict, const ValidationOptions& options) {
  MemoryResult out{.row = row, .usable = options.all || row.is_usable()};
  if (!out.usable) return out;
  const MemoryFigureOr figure = memory_figure(row);
  const RunCase prepared = prepared_case(row, options);
  if (!figure.figure) {
    out.why_skipped = figure.why_not;
  } else if (!prepared.run) {
    out.why_skipped = prepared.why_not;
  } else {
    out.why_skipped = incomplete(row);
  }
  if (!out.why_skipped.empty()) return out;
  const RunPrediction prediction = predict(*prepared.run);
  out.why_skipped = prediction.why_not;
  if (out.why_skipped.empty() && prediction.stages.empty()) out.why_skipped = "no memory was predicted";
  if (!out.why_skipped.empty()) return out;
  out.kind = figure.figure->kind;
  out.measured = figure.figure->bytes;
  out.predicted = predicted_bytes(out.kind, *prepared.run, prediction);
  const Plan& plan = prepared.run->plan;
  if (const auto traits = traits_of(prepared.run->inputs, plan.training, plan.parallelism.devices())) {
    const Spread& spread = *memory_spread(*traits);
    const auto predicted = static_cast<double>(out.predicted.value);
    out.low = round_up_bytes(spread.low() * predicted);
    out.high = round_up_bytes(spread.high() * predicted);
  }
  out.fixed_part = static_bytes(out.kind, prediction);
  // What the allocator keeps and what lies outside it counts too: that is how runs end.
  const Bytes device = predicted_bytes(MemoryKind::device, *prepared.run, prediction);
  out.fits = prediction.fits && device <= prediction.stages.front().capacity;
  return out;
}

using Choice = std::function<bool(const MemoryResult&)>;

ErrorSummary summary_of(const std::string& name, const std::vector<MemoryResult>& rows,
                        const Choice& choice) {
  std::vector<double> errors;
  for (const MemoryResult& r : rows) {
    if (choice(r)) errors.push_back(r.error());
  }
  return summarize_errors(name, errors);
}

std::vector<ErrorSummary> strata_of(const std::vector<MemoryResult>& rows) {
  const auto of_kind = [&](const std::string& name, std::initializer_list<MemoryKind> kinds) {
    return summary_of(name, rows, [&](const MemoryResult& r) {
      return r.scored() && std::find(kinds.begin(), kinds.end(), r.kind) != kinds.end();
    });
  };
  std::vector<ErrorSummary> out{of_kind("allocated", {MemoryKind::allocated}),
                                of_kind("reserved and device", {MemoryKind::reserved, MemoryKind::device}),
                                of_kind("reserved", {MemoryKind::reserved}),
                                of_kind("device", {MemoryKind::device}),
                                of_kind("computed", {MemoryKind::computed})};
  std::map<std::string, std::vector<double>> sources;
  for (const MemoryResult& r : rows) {
    if (r.scored() && r.kind != MemoryKind::out_of_memory) sources[r.row.project()].push_back(r.error());
  }
  for (const auto& [name, errors] : sources) out.push_back(summarize_errors("source " + name, errors));
  return out;
}

ErrorSummary constant_model(const std::vector<MemoryResult>& rows) {
  const auto ratio = [](const MemoryResult& r) {
    return static_cast<double>(r.measured.value) / static_cast<double>(r.fixed_part.value);
  };
  std::map<MemoryKind, std::vector<double>> ratios;
  for (const MemoryResult& r : rows) {
    if (r.has_error() && r.fixed_part.value > 0) ratios[r.kind].push_back(ratio(r));
  }
  std::vector<double> errors;
  for (const MemoryResult& r : rows) {
    if (r.has_error() && r.fixed_part.value > 0) errors.push_back(median_of(ratios[r.kind]) / ratio(r) - 1);
  }
  return summarize_errors("constant", errors);
}

OrderSummary order_of_memory(const std::vector<MemoryResult>& rows) {
  std::vector<OrderedItem> items;
  for (const MemoryResult& r : rows) {
    if (!r.has_error()) continue;
    items.push_back({r.row.source + "|" + r.row.accelerator + "|" + r.row.model,
                     static_cast<double>(r.measured.value), static_cast<double>(r.predicted.value)});
  }
  return order_of(items);
}

Value row_value(const MemoryResult& r) {
  Value out = Value::object();
  out.set("id", r.row.id).set("source", r.row.project()).set("usable", r.usable);
  if (!r.why_skipped.empty()) return std::move(out.set("skipped", r.why_skipped));
  if (!r.usable) return out;
  out.set("kind", name_of(r.kind)).set("predicted_bytes", r.predicted.value).set("fits", r.fits);
  if (r.kind != MemoryKind::out_of_memory)
    out.set("measured_bytes", r.measured.value).set("error", r.error());
  return out;
}

Value share(std::int64_t rows, std::int64_t right) {
  Value out = Value::object();
  out.set("rows", rows).set("right", right);
  return out;
}

}  // namespace

MemoryValidation validate_memory(std::span<const RunRow> rows, const RunPredictor& predict,
                                 const ValidationOptions& options) {
  MemoryValidation out;
  for (const RunRow& row : rows) out.rows.push_back(check(row, predict, options));
  for (const MemoryResult& r : out.rows) {
    if (!r.scored() || r.kind == MemoryKind::computed) continue;
    const bool ran = r.kind != MemoryKind::out_of_memory;
    ++(ran ? out.ran : out.out_of_memory);
    if (r.has_error())
      out.coverage.add(r.low <= r.measured && r.measured <= r.high, memory_sources().has(r.row.project()));
    if (r.fits == ran) ++(ran ? out.ran_fit : out.out_of_memory_right);
  }
  out.all =
      summary_of("figures read off devices", out.rows, [](const MemoryResult& r) { return r.has_error(); });
  out.constant = constant_model(out.rows);
  out.strata = strata_of(out.rows);
  out.order = order_of_memory(out.rows);
  return out;
}

Value to_value(const MemoryValidation& validation) {
  Value out =
      head_value(head_of(validation.rows), validation.all,
                 "parameters, gradients and optimizer states times one number for each kind of figure",
                 validation.constant);
  out.set("strata", strata_value(validation.strata)).set("order", to_value(validation.order));
  out.set("coverage", to_value(validation.coverage, memory_sources()));
  out.set("ran", share(validation.ran, validation.ran_fit));
  out.set("out_of_memory", share(validation.out_of_memory, validation.out_of_memory_right));
  Value details = Value::array();
  for (const MemoryResult& r : validation.rows) details.push(row_value(r));
  out.set("details", std::move(details));
  return out;
}

}  // namespace nest::validate
