// nest report: a plan as one HTML file with drawings.
#include "command.hpp"
#include "nest/report/page/report_data.hpp"
#include "nest/report/page/report_page.hpp"
#include "plan_options.hpp"

namespace nest::cli {
namespace {

constexpr const char* kDefaultFile = "report.html";

// What to type to get the same report again.
std::string spell_command(const Arguments& arguments) {
  const auto quoted = [](const std::string& word) {
    const bool plain = word.find_first_of(" \t\"'\\$`&|;<>()*?#!~") == std::string::npos && !word.empty();
    if (plain) return word;
    std::string out = "'";
    for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return out + "'";
  };
  std::string out = "nest report " + quoted(arguments.positionals.front());
  for (const auto& [option, value] : arguments.values) {
    if (option != "--json") out += " " + option + " " + quoted(value);
  }
  return out;
}

int run_report(const Arguments& given, Terminal& terminal) {
  Arguments arguments = given;
  const std::string& file = arguments.positionals.front();
  const bool json = arguments.has("--json");
  ReportOptions options;
  options.price.pipeline_model = read_pipeline_model(arguments);
  options.title = arguments.text("--title").value_or("");
  options.command = spell_command(arguments);
  if (!json && !arguments.has("-o")) arguments.values["-o"] = kDefaultFile;
  check_output(arguments, "-o");

  const Value data = report_value(read_plan_document(file, arguments), options);
  if (const Value* reason = data.find("reason");
      reason->as_string() != nullptr && !reason->as_string()->empty()) {
    terminal.note("nest: warning: infeasible: " + *reason->as_string());
  }
  write_output(arguments, "-o", [&] { return report_page(data); }, terminal);
  if (json) terminal.json(data);
  return kOk;
}

}  // namespace

std::vector<Command> report_commands() {
  return {
      {"report",
       "PLAN.json",
       1,
       1,
       "write an HTML report of a plan: placement, timeline, memory, traffic",
       "Writes one HTML file that a browser can open without a network connection. It shows where every "
       "stage, copy and rank is, the simulated step, the memory of each stage against the capacity, where "
       "the time goes, the traffic at each level of the network, what would change the step, the "
       "alternatives in the plan file, and all inputs. A plan that is incomplete or has no price is "
       "completed and priced first. If a plan does not fit, the report shows where.",
       with_plan_file_options({{"-o", "FILE", "the file to write (default report.html)"},
                               {"--title", "TEXT", "the title (default: the model on the cluster)"},
                               pipeline_model_option(),
                               {"--json", "",
                                "print the data of the report as JSON (docs/formats/report.md); write the "
                                "HTML file only with -o"}}),
       {{"nest report plan.json -o report.html", "write a report to open in a browser"},
        {"nest report plan.json --json", "print the data of the report"}},
       run_report},
  };
}

}  // namespace nest::cli
