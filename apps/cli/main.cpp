// The program: finds the command, runs it, and turns what went wrong into one sentence and an exit code.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <new>

#include "command.hpp"
#include "help.hpp"
#include "nest/api/nest.hpp"
#include "nest/base/closest.hpp"
#include "nest/base/files.hpp"

namespace nest::cli {
namespace {

struct Found {
  const Command* command;
  std::size_t words;  // of the name
};

bool is_known_thing(const std::string& group, const std::string& word) {
  const std::vector<std::string> names = group == "models"     ? zoo_names()
                                         : group == "clusters" ? cluster_names()
                                                               : recipe_names();
  return looks_like_file(word) || std::find(names.begin(), names.end(), word) != names.end();
}

Found find_command(const std::vector<std::string>& words) {
  const std::string two = words.size() > 1 ? words[0] + " " + words[1] : "";
  const Command* one = nullptr;
  for (const Command& c : commands()) {
    if (c.name == two) return {&c, 2};
    if (c.name == words[0]) one = &c;
  }
  if (one == nullptr) {
    std::vector<std::string> known;
    for (const Command& c : commands()) known.push_back(c.name.substr(0, c.name.find(' ')));
    std::vector<std::string> seconds;  // of commands that are two words
    for (const Command& c : commands()) {
      if (c.name.starts_with(words[0] + " ")) seconds.push_back(c.name);
    }
    if (!seconds.empty()) {
      const std::string close = did_you_mean(two, seconds);
      throw UsageError(fmt::format("'nest {}' is one of: {}{}", words[0], fmt::join(seconds, ", "),
                                   close.empty() ? "" : "; " + close));
    }
    const std::string guess = did_you_mean(words[0], known);
    throw UsageError("there is no command '" + words[0] + "'; " +
                     (guess.empty() ? "'nest' lists them" : guess));
  }
  const bool stray_word = words.size() > 1 && !words[1].starts_with('-') && one->most_positionals == 0;
  if (stray_word) {
    std::vector<std::string> known;
    for (const Command& c : commands()) {
      if (c.name.starts_with(words[0] + " ")) known.push_back(c.name.substr(words[0].size() + 1));
    }
    std::string guess = did_you_mean(words[1], known);
    const bool shows = !known.empty();
    if (guess.empty() && shows && is_known_thing(words[0], words[1])) {
      guess = "did you mean 'nest " + words[0] + " show " + words[1] + "'?";
    }
    throw UsageError("'" + words[0] + "' has no '" + words[1] + "'; " +
                     (guess.empty() ? "see 'nest " + words[0] + " --help'" : guess));
  }
  return {one, 1};
}

// A first word that is no command by itself.
bool is_group(const std::string& word) {
  const auto starts = [&](const Command& c) { return c.name.starts_with(word + " "); };
  const auto same = [&](const Command& c) { return c.name == word; };
  return std::any_of(commands().begin(), commands().end(), starts) &&
         std::none_of(commands().begin(), commands().end(), same);
}

std::string help_of_group(const std::string& word) {
  Table table({{""}, {""}});
  for (const Command& c : commands()) {
    if (c.name.starts_with(word + " ")) table.add({"  nest " + c.name, c.summary});
  }
  return "usage: nest " + word + " KIND ..\n" + table.str() + "\nRun 'nest " + word +
         " KIND --help' for the options of one of them.\n";
}

int run(const std::vector<std::string>& words, Terminal& terminal) {
  if (words.empty() || words[0] == "--help" || words[0] == "-h") {
    terminal.out(overview(terminal));
    return kOk;
  }
  if (words[0] == "--version" || words[0] == "-V" || words[0] == "version") {
    terminal.out("nest " + std::string(version()) + "\n");
    return kOk;
  }
  if (words.size() == 2 && (words[1] == "--help" || words[1] == "-h") && is_group(words[0])) {
    terminal.out(help_of_group(words[0]));
    return kOk;
  }
  const Found found = find_command(words);
  const std::vector<std::string> rest(words.begin() + static_cast<std::ptrdiff_t>(found.words), words.end());
  const Arguments arguments = parse(*found.command, rest);
  if (arguments.has("--help")) {
    terminal.out(help_of(*found.command, terminal));
    return kOk;
  }
  return found.command->run(arguments, terminal);
}

int guarded(const std::vector<std::string>& words, Terminal& terminal) {
  try {
    const int code = run(words, terminal);
    if (!terminal.flush()) {
      terminal.note("nest: standard output could not be written");
      return kBadInput;
    }
    return code;
  } catch (const UsageError& e) {
    terminal.note(std::string("nest: ") + e.what());
    return kUsage;
  } catch (const InputError& e) {
    terminal.note(std::string("nest: ") + e.what());
    return kBadInput;
  } catch (const std::bad_alloc&) {
    terminal.note("nest: out of memory");
    return kBadInput;
  }
}

}  // namespace
}  // namespace nest::cli

int main(int argc, char** argv) {
  nest::cli::Terminal terminal;
  const std::vector<std::string> words(argv + 1, argv + argc);
  return nest::cli::guarded(words, terminal);
}
