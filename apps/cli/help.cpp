#include "help.hpp"

#include <algorithm>

#include "nest/api/nest.hpp"
#include "nest/base/drawing/table.hpp"

namespace nest::cli {
namespace {

// The five commands a newcomer needs first, with one example each.
const std::vector<Example>& first_steps() {
  static const std::vector<Example> kSteps{
      {"nest plan --model llama3.1-70b", "find the best plan on 1,024 H100"},
      {"nest models", "list the models that are known by name"},
      {"nest models show llama3.1-70b", "show the layers of a model and the operators of one layer"},
      {"nest estimate --model llama3.1-8b --accelerator h200", "estimate what each layer costs one device"},
      {"nest clusters show h100-spine-leaf --devices 512",
       "show the network levels of a cluster and their bandwidths"},
  };
  return kSteps;
}

std::string options_text(const Command& command) {
  std::string out;
  std::vector<Option> options = command.options;
  options.push_back({"--help", "", "this text"});
  std::size_t width = 0;
  const auto left = [](const Option& o) { return o.name + (o.argument.empty() ? "" : " " + o.argument); };
  for (const Option& o : options) width = std::max(width, left(o).size());
  for (const Option& o : options) {
    const std::string name = left(o);
    const std::size_t indent = 2 + width + 2;
    out += "  " + name + std::string(width - name.size() + 2, ' ') + wrap(o.text, kTextWidth, indent);
    out += '\n';
  }
  return out;
}

std::string usage(const Command& command) {
  return "nest " + command.name + (command.arguments.empty() ? "" : " " + command.arguments) +
         (command.options.empty() ? "" : " [options]");
}

int run_completion(const Arguments& arguments, Terminal& terminal) {
  if (arguments.positionals.front() != "bash") {
    throw UsageError("completion: only bash is known, not '" + arguments.positionals.front() + "'");
  }
  terminal.out(bash_completion());
  return kOk;
}

int run_help(const Arguments& arguments, Terminal& terminal) {
  if (arguments.has("--markdown")) {
    terminal.out(manual_reference());
    return kOk;
  }
  std::string name;
  for (const std::string& word : arguments.positionals) name += (name.empty() ? "" : " ") + word;
  if (name.empty()) {
    terminal.out(overview(terminal));
    return kOk;
  }
  for (const Command& c : commands()) {
    if (c.name != name) continue;
    terminal.out(help_of(c, terminal));
    return kOk;
  }
  throw UsageError("help: there is no command '" + name + "'; 'nest' lists them");
}

}  // namespace

std::string overview(const Terminal& terminal) {
  std::string out = terminal.heading("nest " + std::string(version())) +
                    ": plans the training of large models on clusters of accelerators\n\n";
  out += terminal.heading("First steps") + "\n";
  std::size_t width = 0;
  for (const Example& e : first_steps()) width = std::max(width, e.command.size());
  for (const Example& e : first_steps()) {
    out += "  " + e.command + std::string(width - e.command.size() + 2, ' ') + e.what + "\n";
  }
  out += "\n" + terminal.heading("All commands") + "\n";
  width = 0;
  for (const Command& c : commands()) width = std::max(width, c.name.size());
  for (const Command& c : commands()) {
    out += "  " + c.name + std::string(width - c.name.size() + 2, ' ') + c.summary + "\n";
  }
  out +=
      "\nRun 'nest COMMAND --help' for the options of a command. Commands that print results accept "
      "--json.\n";
  return out;
}

std::string help_of(const Command& command, const Terminal& terminal) {
  std::string out = "usage: " + usage(command) + "\n\n" + wrap(command.details, kTextWidth, 0) + "\n\n";
  if (!command.sample.empty()) out += "An input\n\n" + command.sample + "\n";
  out += terminal.heading("Options") + "\n" + options_text(command);
  if (!command.examples.empty()) out += "\n" + terminal.heading("Examples") + "\n";
  for (const Example& e : command.examples) out += "  " + e.command + "\n      " + e.what + "\n";
  return out;
}

std::string manual_reference() {
  std::string out;
  for (const Command& c : commands()) {
    out += "### `nest " + c.name + "`\n\n" + c.details + "\n\n" +
           (c.sample.empty() ? "" : "An input:\n\n```\n" + c.sample + "```\n\n") + "```\n" + usage(c) +
           "\n\n" + options_text(c) + "```\n\n";
    for (const Example& e : c.examples) out += "- `" + e.command + "`: " + e.what + "\n";
    if (!c.examples.empty()) out += '\n';
  }
  return out;
}

std::vector<Command> help_commands() {
  return {
      {"completion",
       "bash",
       1,
       1,
       "print a completion script for bash",
       "Prints a script with which bash completes the commands and options of nest and the names of models "
       "and clusters.",
       {},
       {{"source <(nest completion bash)", "turn completion on in this shell"}},
       run_completion},
      {"help",
       "[COMMAND]",
       0,
       2,
       "show the help of a command, or list all commands",
       "Prints the same text as 'nest COMMAND --help'. Without a command it prints what 'nest' alone prints.",
       {{"--markdown", "", "print the reference of all commands, as in the manual"}},
       {{"nest help models show", "show the options and examples of a command"}},
       run_help},
  };
}

}  // namespace nest::cli
