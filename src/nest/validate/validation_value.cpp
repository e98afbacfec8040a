#include "nest/validate/validation_value.hpp"

#include <fmt/format.h>

#include <utility>

#include "nest/base/numbers.hpp"
#include "nest/price/uncertainty.hpp"

namespace nest::validate {
namespace {

void set_figures(Value& out, const ErrorSummary& s) {
  const auto figure = [&](double e) { return s.rows > 0 ? Value(e) : Value(); };
  out.set("median_abs_error", figure(s.median)).set("p90_abs_error", figure(s.p90));
}

}  // namespace

Value model_value(const std::string& what, const ErrorSummary& errors) {
  Value out = Value::object();
  out.set("what", what);
  set_figures(out, errors);
  return out;
}

Value strata_value(const std::vector<ErrorSummary>& strata) {
  Value list = Value::array();
  for (const ErrorSummary& s : strata) list.push(to_value(s));
  return list;
}

Value head_value(const ValidationHead& head, const ErrorSummary& all, const std::string& constant_what,
                 const ErrorSummary& constant) {
  Value out = Value::object();
  out.set("rows", head.rows).set("usable", head.usable).set("skipped", head.usable - head.scored);
  set_figures(out, all);
  out.set("over", all.name + ": " + std::to_string(all.rows));
  out.set("constant_model", model_value(constant_what, constant));
  return out;
}

Value to_value(const CoverageSummary& coverage, const SpreadSources& sources) {
  Value out = Value::object();
  out.set("interval", kCoverage).set("rows", coverage.rows).set("inside", coverage.inside);
  out.set("share", coverage.share()).set("own_rows", coverage.own);
  if (coverage.own > 0) {
    Value left_out = Value::object();
    left_out.set("rows", sources.rows).set("inside", sources.inside).set("share", sources.share());
    out.set("left_out", std::move(left_out));
  }
  return out;
}

std::string spell(const CoverageSummary& coverage, const SpreadSources& sources, const std::string& what) {
  std::string out = fmt::format("{} intervals contain {} of {} {}", format_percent(kCoverage, 0),
                                format_percent(coverage.share()), coverage.rows, what);
  if (coverage.own == 0) return out + ", none of them from a source that the intervals were made from";
  return out + fmt::format(
                   ", {} from sources that the intervals were made from; intervals made without a run's own "
                   "source contain {} of {}",
                   coverage.own == coverage.rows ? "all of them" : fmt::format("{} of them", coverage.own),
                   format_percent(sources.share()), sources.rows);
}

}  // namespace nest::validate
