#include "nest/validate/collectives/collective_runs.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

#include "nest/estimate/collectives/collective.hpp"

namespace nest::validate {
namespace {

GroupShape shape_of(const CollectiveCase& c) {
  const DeviceTree& tree = c.cluster->tree();
  std::vector<DeviceId> ids;
  // As many from each node: the first devices of every one.
  const std::int32_t nodes = tree.levels() > 1 ? tree.domains(LevelId{0}) : 1;
  ids.reserve(static_cast<std::size_t>(c.devices));
  for (std::int32_t i = 0; i < c.devices; ++i) {
    ids.emplace_back(tree.first_device(LevelId{0}, i % nodes).value + i / nodes);
  }
  return group_shape(*c.cluster, ids);
}

CollectiveResult check(const CollectiveRow& row, const CollectiveCheckOptions& options) {
  CollectiveResult out{.id = row.id, .source = row.source, .stratum = row.collective + ", " + row.hardware};
  const CollectiveCaseOr found = collective_case(row);
  if (row.message_bytes) out.message = round_up_bytes(*row.message_bytes);
  out.usable = options.all || !row.message_bytes || out.message >= kScoredMessage;
  if (!found.found) {
    out.why_skipped = found.why_not;
    return out;
  }
  const CollectiveCase& c = *found.found;
  out.kind = c.kind;
  out.members = c.devices;
  out.message = c.message;
  out.measured = c.measured;
  const GroupShape shape = shape_of(c);
  const FabricConstants constants =
      options.constants ? options.constants(c) : fabric_constants(*c.cluster, c.fabrics);
  out.predicted = collective_time(c.kind, c.message, shape, CollectiveModel(*c.cluster, constants));
  out.ideal =
      collective_time(c.kind, c.message, shape, CollectiveModel(*c.cluster, ideal_constants(*c.cluster)));
  return out;
}

ErrorSummary constant_model(const std::vector<CollectiveResult>& rows) {
  std::vector<double> ratios;
  for (const CollectiveResult& r : rows) {
    if (r.scored()) ratios.push_back(r.measured.value / r.ideal.value);
  }
  const double share = median_of(ratios);
  std::vector<double> errors;
  errors.reserve(ratios.size());
  for (const double ratio : ratios) errors.push_back(share / ratio - 1);
  return summarize_errors("constant", errors);
}

void compare_pairs(CollectiveRuns& runs) {
  double lost = 0;
  for (std::size_t i = 0; i < runs.rows.size(); ++i) {
    const CollectiveResult& a = runs.rows[i];
    for (std::size_t k = i + 1; k < runs.rows.size(); ++k) {
      const CollectiveResult& b = runs.rows[k];
      if (!a.scored() || !b.scored() || a.kind == CollectiveKind::none || a.kind != b.kind ||
          a.message != b.message || a.measured == b.measured)
        continue;
      ++runs.pairs;
      if ((a.measured < b.measured) == (a.predicted < b.predicted)) {
        ++runs.right;
      } else {
        const auto [fast, slow] = std::minmax(a.measured.value, b.measured.value);
        lost += slow / fast - 1;
      }
    }
  }
  if (runs.pairs > 0) runs.regret = lost / static_cast<double>(runs.pairs);
}

std::string_view name_of(CollectiveKind kind) {
  static constexpr std::array<std::string_view, 7> kNames{
      "none", "all-reduce", "reduce-scatter", "all-gather", "all-to-all", "broadcast", "send"};
  return kNames[static_cast<std::size_t>(kind)];
}

// In the order of their keys.
template <class Key, class Name>
void add_strata(CollectiveRuns& runs, const std::map<Key, std::vector<double>>& errors, const Name& name) {
  for (const auto& [key, list] : errors) runs.strata.push_back(summarize_errors(name(key), list));
}

void add_strata(CollectiveRuns& runs) {
  std::map<std::string, std::vector<double>> by_hardware;
  std::map<std::int32_t, std::vector<double>> by_members;
  std::map<std::string_view, std::vector<double>> by_kind;
  for (const CollectiveResult& r : runs.rows) {
    if (!r.scored()) continue;
    by_hardware[r.stratum].push_back(r.error());
    if (r.message <= kStratumMessage) continue;
    by_members[r.members].push_back(r.error());
    by_kind[name_of(r.kind)].push_back(r.error());
  }
  add_strata(runs, by_hardware, [](const std::string& name) { return name; });
  add_strata(runs, by_members, [](std::int32_t n) { return std::to_string(n) + " members above 16 MB"; });
  add_strata(runs, by_kind, [](std::string_view kind) { return std::string(kind) + " above 16 MB"; });
}

Value row_value(const CollectiveResult& r) {
  Value out = Value::object();
  out.set("id", r.id)
      .set("collective", r.stratum)
      .set("message_bytes", r.message.value)
      .set("usable", r.usable);
  if (!r.why_skipped.empty()) return std::move(out.set("skipped", r.why_skipped));
  out.set("measured_s", r.measured.value).set("predicted_s", r.predicted.value).set("error", r.error());
  return out;
}

}  // namespace

CollectiveRuns check_collectives(std::span<const CollectiveRow> rows, const CollectiveCheckOptions& options) {
  std::vector<CollectiveResult> results;
  results.reserve(rows.size());
  for (const CollectiveRow& row : rows) results.push_back(check(row, options));
  return score_collectives(std::move(results));
}

CollectiveRuns score_collectives(std::vector<CollectiveResult> results) {
  CollectiveRuns out;
  out.rows = std::move(results);
  std::vector<double> errors;
  for (const CollectiveResult& r : out.rows) {
    if (r.scored()) errors.push_back(r.error());
  }
  out.all = summarize_errors("all", errors);
  out.constant = constant_model(out.rows);
  add_strata(out);
  compare_pairs(out);
  return out;
}

Value to_value(const CollectiveRuns& runs) {
  std::int64_t usable = 0;
  for (const CollectiveResult& r : runs.rows) usable += r.usable ? 1 : 0;
  Value out = Value::object();
  out.set("rows", static_cast<std::int64_t>(runs.rows.size())).set("usable", usable);
  out.set("skipped", usable - runs.all.rows);
  const auto error = [&](double e) {
    return runs.all.rows > 0 ? Value(e) : Value();
  };  // nothing scored: no figure
  out.set("median_abs_error", error(runs.all.median)).set("p90_abs_error", error(runs.all.p90));
  Value constant = Value::object();
  constant.set("what", "one share of the ideal rate for every row");
  constant.set("median_abs_error", error(runs.constant.median))
      .set("p90_abs_error", error(runs.constant.p90));
  out.set("constant_model", std::move(constant));
  Value strata = Value::array();
  for (const ErrorSummary& s : runs.strata) strata.push(to_value(s));
  out.set("strata", std::move(strata));
  Value order = Value::object();
  order.set("pairs", runs.pairs).set("right", runs.right).set("regret", runs.regret);
  out.set("order", std::move(order));
  Value details = Value::array();
  for (const CollectiveResult& r : runs.rows) details.push(row_value(r));
  out.set("details", std::move(details));
  return out;
}

}  // namespace nest::validate
