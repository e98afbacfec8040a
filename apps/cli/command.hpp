// The table of commands: name, arguments, options, texts and the function that runs it. Help, the manual's
// reference, bash completion and the parser all come from this table; adding a command is one file and one
// row in commands.cpp.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "terminal.hpp"

#include "nest/base/rooms.hpp"

namespace nest::cli {

// Exit codes of the contract.
inline constexpr int kOk = 0;
inline constexpr int kBadInput = 1;
inline constexpr int kUsage = 2;
inline constexpr int kInfeasible = 3;  // there is no such plan
inline constexpr int kLimit = 4;       // stopped at a limit without one
inline constexpr int kBug = 5;  // search and price disagree: there is no plan, and this is to be mended

// A command line that cannot be understood: one sentence and a hint, exit code 2.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Option {
  std::string name;      // "--micro-batch"
  std::string argument;  // "N"; empty for a flag
  std::string text;
  bool repeats = false;  // may be given more than once: the values come with new lines between them
};

struct Example {
  std::string command;
  std::string what;
};

// What the user typed for one command, after the parser has checked it against the command's table.
class Arguments {
 public:
  std::vector<std::string> positionals;
  std::map<std::string, std::string, std::less<>> values;

  [[nodiscard]] bool has(std::string_view option) const { return values.find(option) != values.end(); }
  [[nodiscard]] std::optional<std::string> text(std::string_view option) const;
  // A whole number, with commas or underscores between digits allowed; anything else is a UsageError.
  [[nodiscard]] std::optional<std::int64_t> whole(std::string_view option) const;
  // The same of tokens: 128K is 131,072.
  [[nodiscard]] std::optional<std::int64_t> length(std::string_view option) const;
};

struct Command {
  std::string name;       // "models show"
  std::string arguments;  // "NAME|FILE"
  std::size_t least_positionals = 0;
  std::size_t most_positionals = 0;
  std::string summary;  // one line
  std::string details;  // a paragraph for --help
  std::vector<Option> options;
  std::vector<Example> examples;
  std::function<int(const Arguments&, Terminal&)> run;
  std::string sample = {};  // an input as it looks, for --help; empty: none
};

// All commands, in the order of the help.
[[nodiscard]] std::span<const Command> commands();

// Checks the words after the command's name against its table.
[[nodiscard]] Arguments parse(const Command& command, const std::vector<std::string>& words);

[[nodiscard]] std::vector<Command> plan_commands();            // command_plan.cpp
[[nodiscard]] std::vector<Command> compare_commands();         // command_compare.cpp
[[nodiscard]] std::vector<Command> sweep_commands();           // command_sweep.cpp
[[nodiscard]] std::vector<Command> size_commands();            // command_size.cpp
[[nodiscard]] std::vector<Command> reproduce_commands();       // command_reproduce.cpp
[[nodiscard]] std::vector<Command> model_commands();           // command_models.cpp
[[nodiscard]] std::vector<Command> cluster_commands();         // command_clusters.cpp
[[nodiscard]] std::vector<Command> recipe_commands();          // command_recipes.cpp
[[nodiscard]] std::vector<Command> estimate_commands();        // command_estimate.cpp
[[nodiscard]] std::vector<Command> evaluate_commands();        // command_evaluate.cpp
[[nodiscard]] std::vector<Command> explain_commands();         // command_explain.cpp
[[nodiscard]] std::vector<Command> simulate_commands();        // command_simulate.cpp
[[nodiscard]] std::vector<Command> validate_commands();        // command_validate.cpp
[[nodiscard]] std::vector<Command> calibrate_commands();       // command_calibrate.cpp
[[nodiscard]] std::vector<Command> export_commands();          // command_export.cpp
[[nodiscard]] std::vector<Command> import_commands();          // command_import.cpp
[[nodiscard]] std::vector<Command> import_cluster_commands();  // command_import_cluster.cpp
[[nodiscard]] std::vector<Command> lint_commands();            // command_lint.cpp
[[nodiscard]] std::vector<Command> check_commands();           // command_check.cpp
[[nodiscard]] std::vector<Command> serve_commands();           // command_serve.cpp
[[nodiscard]] std::vector<Command> report_commands();          // command_report.cpp
[[nodiscard]] std::vector<Command> help_commands();            // help.cpp

// Options that many commands share, so that they read the same everywhere.
[[nodiscard]] Option json_option();
[[nodiscard]] Option svg_option();
[[nodiscard]] Option names_option();

// What --names prints: one name a line, or a list with --json.
int print_names(const std::vector<std::string>& names, const Arguments& arguments, Terminal& terminal);
// Whether the file that an option names can be written, before any work is done for it.
void check_output(const Arguments& arguments, std::string_view option);
// Writes a file that an option names, and says so; does nothing without the option.
void write_output(const Arguments& arguments, std::string_view option,
                  const std::function<std::string()>& make, Terminal& terminal);

}  // namespace nest::cli
