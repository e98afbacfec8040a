// The only file that sees CLI11: words after a command's name, checked against the command's table.
#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <sstream>
#include <string_view>

#include "command.hpp"
#include "nest/base/closest.hpp"
#include "nest/base/numbers.hpp"

namespace nest::cli {
namespace {

std::string help_hint(const Command& command) {
  return "see 'nest " + command.name + " --help'";
}

[[noreturn]] void refuse_argument(const Command& command, const std::string& extra) {
  throw UsageError(command.name + ": '" + extra + "' is one argument too many; " + help_hint(command));
}

// What other tools call our options.
struct Foreign {
  std::string_view flag;
  std::string_view ours;
};
constexpr std::array<Foreign, 23> kForeign{{{"--tp", "--tensor"},
                                            {"--tensor-model-parallel-size", "--tensor"},
                                            {"--tensor-parallel", "--tensor"},
                                            {"--pp", "--pipeline"},
                                            {"--pipeline-model-parallel-size", "--pipeline"},
                                            {"--dp", "--data"},
                                            {"--ep", "--expert"},
                                            {"--cp", "--context"},
                                            {"--gpus", "--devices"},
                                            {"--num-gpus", "--devices"},
                                            {"--ngpus", "--devices"},
                                            {"--world-size", "--devices"},
                                            {"--nodes", "--devices"},
                                            {"--nnodes", "--devices"},
                                            {"--num-nodes", "--devices"},
                                            {"--gbs", "--global-batch"},
                                            {"--batch-size", "--global-batch"},
                                            {"--global-batch-size", "--global-batch"},
                                            {"--mbs", "--micro-batch"},
                                            {"--micro-batch-size", "--micro-batch"},
                                            {"--seq-length", "--sequence"},
                                            {"--seq-len", "--sequence"},
                                            {"--dtype", "--precision"}}};

[[noreturn]] void refuse_extra(const Command& command, const std::vector<std::string>& extras) {
  const std::string& extra = extras.front();
  if (!extra.starts_with('-') || extra == "-") {
    refuse_argument(command, extra);
  }
  const std::string flag = extra.substr(0, extra.find('='));
  std::vector<std::string> known{"--help"};
  for (const Option& o : command.options) known.push_back(o.name);
  const auto* const foreign =
      std::find_if(kForeign.begin(), kForeign.end(), [&](const Foreign& f) { return f.flag == flag; });
  const bool meant =
      foreign != kForeign.end() && std::find(known.begin(), known.end(), foreign->ours) != known.end();
  const std::string guess =
      meant ? "did you mean '" + std::string(foreign->ours) + "'?" : did_you_mean(flag, known);
  throw UsageError(command.name + ": unknown option '" + flag + "'; " +
                   (guess.empty() ? help_hint(command) : guess));
}

void refuse_repeats(const Command& command, const std::vector<std::string>& words) {
  for (const Option& o : command.options) {
    if (o.repeats) continue;
    const auto is_option = [&](const std::string& w) { return w == o.name || w.starts_with(o.name + "="); };
    if (std::count_if(words.begin(), words.end(), is_option) > 1) {
      throw UsageError(command.name + ": " + o.name + " is given twice");
    }
  }
}

// The first of "BANDWIDTH.csv LATENCY.csv" that was not given.
std::string missing_argument(const Command& command, std::size_t given) {
  std::istringstream names(command.arguments);
  std::string name;
  for (std::size_t i = 0; i <= given; ++i) names >> name;
  return name;
}

}  // namespace

std::optional<std::string> Arguments::text(std::string_view option) const {
  const auto it = values.find(option);
  if (it == values.end()) return std::nullopt;
  return it->second;
}

std::optional<std::int64_t> Arguments::whole(std::string_view option) const {
  const std::optional<std::string> typed = text(option);
  if (!typed) return std::nullopt;
  const std::optional<std::int64_t> value = parse_whole(*typed);
  if (!value) throw UsageError(std::string(option) + ": a whole number is expected, not '" + *typed + "'");
  return value;
}

std::optional<std::int64_t> Arguments::length(std::string_view option) const {
  const std::optional<std::string> typed = text(option);
  const auto tokens = typed ? parse_length(*typed) : std::nullopt;
  return tokens ? tokens : whole(option);
}

Arguments parse(const Command& command, const std::vector<std::string>& words) {
  refuse_repeats(command, words);
  CLI::App app;
  app.set_help_flag("");
  Arguments out;
  std::map<std::string, std::string> typed;
  std::map<std::string, bool> flags;
  for (const Option& o : command.options) {
    if (o.argument.empty()) {
      app.add_flag(o.name, flags[o.name])->disable_flag_override();
    } else {
      CLI::Option* option = app.add_option(o.name, typed[o.name]);
      if (o.repeats)
        option->join();  // with new lines
      else
        option->take_last();
    }
  }
  app.add_flag("--help,-h", flags["--help"]);
  if (command.most_positionals > 0) {
    // More are taken than allowed, so that the complaint can name the first one too many.
    app.add_option("arguments", out.positionals)->expected(0, static_cast<int>(words.size()) + 1);
  }
  try {
    std::vector<std::string> reversed(words.rbegin(), words.rend());
    app.parse(reversed);
  } catch (const CLI::ExtrasError&) {
    refuse_extra(command, app.remaining());
  } catch (const CLI::ArgumentMismatch& e) {
    const std::string name = std::string(e.what()).substr(0, std::string_view(e.what()).find(':'));
    if (const std::size_t said = name.find(" was given"); said != std::string::npos) {
      throw UsageError(command.name + ": --" + name.substr(0, said) + " takes no value; " +
                       help_hint(command));
    }
    const auto option = std::find_if(command.options.begin(), command.options.end(),
                                     [&](const Option& o) { return o.name == name; });
    const std::string value = option == command.options.end() ? "" : " (" + option->argument + ")";
    throw UsageError(command.name + ": " + name + " needs a value" + value + "; " + help_hint(command));
  } catch (const CLI::ParseError& e) {
    throw UsageError(command.name + ": " + e.what() + "; " + help_hint(command));
  }
  for (const auto& [name, set] : flags) {
    if (set) out.values[name] = "";
  }
  for (const Option& o : command.options) {
    if (!o.argument.empty() && app.count(o.name) > 0) out.values[o.name] = typed[o.name];
  }
  if (out.positionals.size() > command.most_positionals) {
    refuse_argument(command, out.positionals[command.most_positionals]);
  }
  if (!out.has("--help") && out.positionals.size() < command.least_positionals) {
    throw UsageError(command.name + ": " + missing_argument(command, out.positionals.size()) +
                     " is missing; " + help_hint(command));
  }
  for (std::string& word : out.positionals) {
    if (word == "-") word = "/dev/stdin";
  }
  return out;
}

}  // namespace nest::cli
