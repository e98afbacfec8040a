#include "validate_text.hpp"

#include <fmt/format.h>

#include <map>
#include <vector>

#include "nest/base/drawing/table.hpp"
#include "nest/base/numbers.hpp"

namespace nest::cli {
namespace {

using Align = Table::Align;

// Reasons with the rows that they keep out.
class Skipped {
 public:
  void add(const std::string& why, const std::string& id) { rows_[why].push_back(id); }

  [[nodiscard]] std::string str() const {
    if (rows_.empty()) return "";
    std::string out = "\nskipped:\n";
    for (const auto& [why, ids] : rows_) {
      std::string list;
      for (const std::string& id : ids) list += (list.empty() ? "" : ", ") + id;
      out += fmt::format("  {}\n", wrap(fmt::format("{} ({}): {}", why, ids.size(), list), kTextWidth, 4));
    }
    return out;
  }

 private:
  std::map<std::string, std::vector<std::string>> rows_;
};

class Summaries {
 public:
  Summaries()
      : table_({{"stratum"},
                {"rows", Align::right},
                {"median", Align::right},
                {"90th percentile", Align::right},
                {"signed median", Align::right}}) {}

  void add(const std::string& name, const ErrorSummary& s) {
    const bool any = s.rows > 0;
    table_.add({name, std::to_string(s.rows), any ? format_percent(s.median) : "-",
                any ? format_percent(s.p90) : "-", any ? format_signed_percent(s.signed_median) : "-"});
  }
  [[nodiscard]] std::string str() const { return table_.str(); }

 private:
  Table table_;
};

std::string order_text(const OrderSummary& order, const std::string& what) {
  if (order.pairs == 0) return "";
  return fmt::format(
      "{} of {} pairs of {} are ordered correctly; the predicted best is {} worse than the measured best\n",
      order.right, order.pairs, what, format_percent(order.regret));
}

}  // namespace

std::string validation_text(const CollectiveRuns& runs, const Terminal& terminal) {
  Table table({{"row"},
               {"collective and hardware"},
               {"message", Align::right},
               {"measured", Align::right},
               {"predicted", Align::right},
               {"error", Align::right}});
  Skipped skipped;
  for (const CollectiveResult& r : runs.rows) {
    if (!r.why_skipped.empty()) {
      skipped.add(r.why_skipped, r.id);
    } else if (r.scored()) {
      table.add({r.id, r.stratum, format(r.message), format(r.measured), format(r.predicted),
                 format_signed_percent(r.error())});
    }
  }
  Summaries summaries;
  summaries.add("all scored rows", runs.all);
  summaries.add("one constant share for all", runs.constant);
  for (const ErrorSummary& s : runs.strata) summaries.add(s.name, s);
  std::string out = table.str() + skipped.str() + "\n" + terminal.heading("Errors") +
                    " (of the measured time)\n" + summaries.str();
  if (runs.pairs > 0) {
    out += fmt::format("of {} pairs of rows with the same collective and size, {} are ordered correctly\n",
                       runs.pairs, runs.right);
  }
  return out;
}

// What fits a column: "TFLOP/s" for tflops_per_gpu.
std::string short_metric(const std::string& metric) {
  if (metric == "tflops_per_gpu") return "TFLOP/s";
  if (metric == "tokens_per_s_per_gpu") return "tokens/s";
  return metric == "iteration_s" ? "s" : metric;
}

std::string validation_text(const RunValidation& runs, const Terminal& terminal) {
  Table table({{"row"},
               {"accelerator"},
               {"metric"},
               {"measured", Align::right},
               {"predicted", Align::right},
               {"error", Align::right},
               {""}});
  Skipped skipped;
  for (const RunResult& r : runs.rows) {
    if (!r.why_skipped.empty()) {
      skipped.add(r.why_skipped, r.row.id);
    } else if (r.scored()) {
      table.add({r.row.id, r.row.accelerator, short_metric(r.row.metric),
                 fmt::format("{:.4g}", *r.row.measured), fmt::format("{:.4g}", r.predicted_metric),
                 format_signed_percent(r.error()), r.prediction.fits ? "" : "* " + r.would_fit});
    }
  }
  Summaries summaries;
  summaries.add(runs.headline.name, runs.headline);
  summaries.add("constant model", runs.constant);
  summaries.add("without constants fitted to the row's own source", runs.unseen);
  for (const ErrorSummary& s : runs.strata) summaries.add(s.name, s);
  const bool unfit = runs.said_to_fit() < runs.scored();
  const std::string note = fmt::format(
      "* predicted not to fit in memory, although it ran (it would with what is named); {} of {} runs are "
      "predicted to fit\n",
      runs.said_to_fit(), runs.scored());
  return table.str() + (unfit ? note : "") + skipped.str() + "\n" + terminal.heading("Errors") +
         " (of the measured time)\n" + summaries.str() + order_text(runs.order, "one sweep") +
         (runs.coverage.rows > 0
              ? wrap(spell(runs.coverage, time_sources(), "measured steps"), kTextWidth, 0) + "\n"
              : "");
}

std::string validation_text(const MemoryValidation& memory, const Terminal& terminal) {
  Table table({{"row"},
               {"kind"},
               {"measured", Align::right},
               {"predicted", Align::right},
               {"error", Align::right},
               {"fits"}});
  Skipped skipped;
  for (const MemoryResult& r : memory.rows) {
    if (!r.why_skipped.empty()) {
      skipped.add(r.why_skipped, r.row.id);
    } else if (r.scored()) {
      const bool ran = r.kind != MemoryKind::out_of_memory;
      table.add({r.row.id, std::string(name_of(r.kind)), ran ? format_memory(r.measured) : "-",
                 format_memory(r.predicted), ran ? format_signed_percent(r.error()) : "-",
                 r.fits ? "yes" : "no"});
    }
  }
  Summaries summaries;
  summaries.add(memory.all.name, memory.all);
  summaries.add("constant model", memory.constant);
  for (const ErrorSummary& s : memory.strata) summaries.add(s.name, s);
  std::string out =
      table.str() + skipped.str() + "\n" + terminal.heading("Errors") + " (of the measured bytes)\n" +
      summaries.str() + order_text(memory.order, "one source and model") +
      (memory.coverage.rows > 0
           ? wrap(spell(memory.coverage, memory_sources(), "figures read off devices"), kTextWidth, 0) + "\n"
           : "");
  out += fmt::format(
      "of {} rows that ran, {} are predicted to fit; of {} that ran out of memory, {} are predicted not to "
      "fit\n",
      memory.ran, memory.ran_fit, memory.out_of_memory, memory.out_of_memory_right);
  return out;
}

}  // namespace nest::cli
