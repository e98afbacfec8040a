// nest validate: our predictions against published measurements.
#include <fmt/format.h>

#include "command.hpp"
#include "nest/base/files.hpp"
#include "nest/base/table.hpp"
#include "nest/estimate/collective_rows.hpp"
#include "nest/estimate/collective_runs.hpp"

namespace nest::cli {
namespace {

using Align = Table::Align;

std::string percent(double share) {
  return fmt::format("{:.1f} %", 100 * share);
}

std::string rows_text(const CollectiveRuns& runs) {
  Table table({{"row"},
               {"collective and hardware"},
               {"message", Align::right},
               {"measured", Align::right},
               {"predicted", Align::right},
               {"error", Align::right}});
  std::string skipped;
  for (const CollectiveResult& r : runs.rows) {
    if (!r.why_skipped.empty()) {
      skipped += "  " + r.id + ": " + wrap(r.why_skipped, kTextWidth, 4 + r.id.size()) + "\n";
    } else if (r.scored()) {
      table.add({r.id, r.stratum, format(r.message), format(r.measured), format(r.predicted),
                 fmt::format("{:+.1f} %", 100 * r.error())});
    }
  }
  return table.str() + (skipped.empty() ? "" : "\nskipped:\n" + skipped);
}

std::string summary_text(const CollectiveRuns& runs, const Terminal& terminal) {
  Table table(
      {{"stratum"}, {"rows", Align::right}, {"median", Align::right}, {"90th percentile", Align::right}});
  const auto add = [&](const std::string& name, const ErrorSummary& s) {
    table.add({name, std::to_string(s.rows), s.rows > 0 ? percent(s.median) : "-",
               s.rows > 0 ? percent(s.p90) : "-"});
  };
  add("all scored rows", runs.all);
  add("one constant share for all", runs.constant);
  for (const ErrorSummary& s : runs.strata) add(s.name, s);
  std::string out = "\n" + terminal.heading("Errors") + " (of the measured time)\n" + table.str();
  if (runs.pairs > 0) {
    out += fmt::format("of {} pairs of rows with the same collective and size, {} are ordered rightly\n",
                       runs.pairs, runs.right);
  }
  return out;
}

int run_validate(const Arguments& arguments, Terminal& terminal) {
  const std::optional<std::string> file = arguments.text("--collectives");
  if (!file) throw UsageError("validate: --collectives FILE is missing; see 'nest validate --help'");
  const std::vector<CollectiveRow> rows = read_collective_rows(*file, read_file(*file));
  const CollectiveRuns runs = check_collectives(rows, {.all = arguments.has("--all")});
  if (runs.all.rows == 0) terminal.warn({*file + ": no row can be scored"});
  if (arguments.has("--json")) {
    terminal.json(to_value(runs));
  } else {
    terminal.out(rows_text(runs) + summary_text(runs, terminal));
  }
  return kOk;
}

}  // namespace

std::vector<Command> validate_commands() {
  return {
      {"validate",
       "",
       0,
       0,
       "predictions against published measurements",
       "Predicts each row of a table of measured collectives (nccl-tests and the like) and says how far off "
       "the "
       "prediction is: row by row, per stratum, and beside a model with one constant. Rows below 1 MB are "
       "scored only "
       "with --all.",
       {{"--collectives", "FILE", "a CSV file of measured collectives"},
        {"--all", "", "score small messages too"},
        json_option()},
       {{"nest validate --collectives collectives.csv", "errors per row and stratum"}},
       run_validate},
  };
}

}  // namespace nest::cli
