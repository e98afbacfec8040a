#include "nest/report/sweep/sweep_findings.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "nest/report/answer/sizing_text.hpp"

namespace nest::report {
namespace {

constexpr double kEnough = 0.99;  // of the best throughput

std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

std::string number_or_nothing(const std::optional<double>& number) {
  return number ? fmt::format("{}", *number) : "";
}

// The ends of the intervals and the probability of fitting, as far as they are known.
std::string certainty(const Prediction& sure) {
  const std::string step = sure.interval.coverage > 0
                               ? fmt::format("{},{}", sure.interval.low.value, sure.interval.high.value)
                               : ",";
  const std::string memory =
      sure.memory ? fmt::format("{},{}", sure.memory->low.value, sure.memory->high.value) : ",";
  return fmt::format("{},{},{}", step, memory, number_or_nothing(sure.fits_probability));
}

// " (zero 1, sequence 4096)": the values of all axes from `first` on.
std::string where(const Sweep& sweep, const SweepRow& row, std::size_t first) {
  std::string out;
  const std::vector<FieldValue> fields = sweep.at(row.point);
  for (std::size_t i = first; i < fields.size(); ++i)
    out += fmt::format("{}{} {}", out.empty() ? "" : ", ", fields[i].first, fields[i].second);
  return out;
}

// A line of points along the first axis, cheapest first.
std::string finding(const Sweep& sweep, const std::vector<const SweepRow*>& line) {
  const SweepAxis& axis = sweep.axes.front();
  const auto text = [&](const SweepRow* row) { return sweep.at(row->point)[0].second; };
  const auto faster = [](const auto* a, const auto* b) { return a->tokens_per_s < b->tokens_per_s; };
  const SweepRow* best = *std::max_element(line.begin(), line.end(), faster);
  const SweepRow* enough = *std::find_if(line.begin(), line.end(), [&](const auto* row) {
    return row->tokens_per_s >= kEnough * best->tokens_per_s;
  });
  const std::string others = where(sweep, *best, 1);
  const std::string field = axis.field + (others.empty() ? "" : " (" + others + ")");
  const Dearer pays = dearer(axis);
  if (pays == Dearer::neither) return fmt::format("{}: {} has the most tokens/s", field, text(best));
  const char* direction = pays == Dearer::more ? "more" : "less";
  if (enough == line.back())
    return fmt::format("{}: {} still helps at {}", field, direction, text(line.back()));
  return fmt::format("{}: {} gives 99 % of the best throughput; {} than that hardly helps", field,
                     text(enough), direction);
}

}  // namespace

std::string sweep_csv(const Sweep& sweep, const std::vector<SweepRow>& rows) {
  std::string out;
  for (const SweepAxis& axis : sweep.axes) out += quoted(axis.field) + ",";
  out +=
      "status,step_s,tokens_per_s,mfu,memory_share,devices,plan,pareto,search_s,reason,rented_devices,"
      "cost_per_trillion_tokens,goodput,step_low_s,step_high_s,memory_low_bytes,memory_high_bytes,"
      "fits_probability\n";
  const std::vector<std::size_t> front = pareto_front(sweep, rows);
  for (const SweepRow& row : rows) {
    for (const auto& [field, value] : sweep.at(row.point)) out += quoted(value) + ",";
    const bool best = std::find(front.begin(), front.end(), row.point) != front.end();
    if (row.has_plan())
      out += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", row.status, row.step_s,
                         row.tokens_per_s, row.mfu, row.memory_share, row.devices, quoted(row.plan),
                         best ? 1 : 0, row.search_s, quoted(row.reason), row.rented,
                         number_or_nothing(row.cost), number_or_nothing(row.goodput), certainty(row.sure));
    else
      out += fmt::format("{},,,,,,,0,{},{},,,,,,,,\n", row.status, row.search_s, quoted(row.reason));
  }
  return out;
}

std::vector<std::size_t> pareto_front(const Sweep& sweep, const std::vector<SweepRow>& rows) {
  // What each point costs, smaller being cheaper, field by field.
  const bool priced =
      std::all_of(rows.begin(), rows.end(), [](const SweepRow& row) { return !row.has_plan() || row.cost; });
  const auto costs = [&](const SweepRow& row) {
    std::vector<double> list;
    if (priced) list.push_back(*row.cost);
    const std::vector<FieldValue> fields = sweep.at(row.point);
    for (std::size_t i = 0; i < fields.size(); ++i) {
      const Dearer pays = dearer(sweep.axes[i]);
      if (pays == Dearer::neither) continue;
      const double number = *sweep_number(fields[i].second);
      list.push_back(pays == Dearer::less ? -number : number);
    }
    return list;
  };
  std::vector<std::size_t> front;
  for (const SweepRow& row : rows) {
    if (!row.has_plan()) continue;
    const std::vector<double> mine = costs(row);
    const bool beaten = std::any_of(rows.begin(), rows.end(), [&](const SweepRow& other) {
      if (!other.has_plan() || other.tokens_per_s < row.tokens_per_s) return false;
      const std::vector<double> theirs = costs(other);
      bool cheaper = other.tokens_per_s > row.tokens_per_s;
      for (std::size_t i = 0; i < mine.size(); ++i) {
        if (theirs[i] > mine[i]) return false;
        cheaper = cheaper || theirs[i] < mine[i];
      }
      return cheaper;
    });
    if (!beaten) front.push_back(row.point);
  }
  return front;
}

std::vector<std::string> sweep_findings(const Sweep& sweep, const std::vector<SweepRow>& rows) {
  std::vector<std::string> out;
  if (sweep.axes.empty()) return out;
  const SweepAxis& axis = sweep.axes.front();
  const std::size_t others = sweep.points() / axis.values.size();
  const bool sized = is_numeric(axis) && axis.values.size() >= 3;
  for (std::size_t k = 0; k < others && sized; ++k) {
    std::vector<const SweepRow*> line;
    for (const SweepRow& row : rows) {
      if (row.point % others == k && row.has_plan()) line.push_back(&row);
    }
    if (line.size() < 3) continue;
    const auto value = [&](const SweepRow* row) { return *sweep_number(sweep.at(row->point)[0].second); };
    std::sort(line.begin(), line.end(), [&](const auto* a, const auto* b) { return value(a) < value(b); });
    if (dearer(axis) == Dearer::less) std::reverse(line.begin(), line.end());
    out.push_back(finding(sweep, line));
  }
  const SweepRow* cheapest = nullptr;
  for (const SweepRow& row : rows) {
    if (row.cost && (cheapest == nullptr || *row.cost < *cheapest->cost)) cheapest = &row;
  }
  if (cheapest != nullptr && rows.size() > 1)
    out.push_back(fmt::format("a trillion tokens cost least with {}: {}", where(sweep, *cheapest, 0),
                              format_money(*cheapest->cost)));
  return out;
}

}  // namespace nest::report
