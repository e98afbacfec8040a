#include <iterator>

#include "command.hpp"
#include "nest/base/files.hpp"

namespace nest::cli {

std::span<const Command> commands() {
  static const std::vector<Command> kAll = [] {
    std::vector<Command> list;
    for (std::vector<Command> part : {plan_commands(),     compare_commands(),   sweep_commands(),
                                      size_commands(),     reproduce_commands(), model_commands(),
                                      cluster_commands(),  recipe_commands(),    estimate_commands(),
                                      evaluate_commands(), explain_commands(),   simulate_commands(),
                                      validate_commands(), calibrate_commands(), report_commands(),
                                      export_commands(),   import_commands(),    import_cluster_commands(),
                                      lint_commands(),     check_commands(),     serve_commands(),
                                      help_commands()}) {
      list.insert(list.end(), std::make_move_iterator(part.begin()), std::make_move_iterator(part.end()));
    }
    return list;
  }();
  return kAll;
}

Option json_option() {
  return {"--json", "", "print JSON instead of text"};
}
Option svg_option() {
  return {"--svg", "FILE", "also write a drawing to an SVG file"};
}

Option names_option() {
  return {"--names", "", "print only the names, one per line"};
}

int print_names(const std::vector<std::string>& names, const Arguments& arguments, Terminal& terminal) {
  if (!arguments.has("--json")) {
    for (const std::string& name : names) terminal.out(name + "\n");
    return kOk;
  }
  Value list = Value::array();
  for (const std::string& name : names) list.push(name);
  Value out = Value::object();
  out.set("names", std::move(list));
  terminal.json(out);
  return kOk;
}

void check_output(const Arguments& arguments, std::string_view option) {
  const std::optional<std::string> file = arguments.text(option);
  if (!file) return;
  if (*file == "-")
    throw UsageError(std::string(option) + ": give the name of a file; standard output takes --json");
  for (const auto& [other, value] : arguments.values) {
    if (other != option && value == *file) {
      throw UsageError(std::string(option) + " and " + other + " name the same file");
    }
  }
  for (const std::string& input : arguments.positionals) {
    if (input == *file) throw UsageError(std::string(option) + " names the file that is read");
  }
  check_target(*file);
}

void write_output(const Arguments& arguments, std::string_view option,
                  const std::function<std::string()>& make, Terminal& terminal) {
  const std::optional<std::string> file = arguments.text(option);
  if (!file) return;
  check_output(arguments, option);
  write_file(*file, make());
  terminal.note("nest: wrote " + *file);
}

}  // namespace nest::cli
