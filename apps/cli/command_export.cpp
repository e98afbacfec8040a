// nest export: a plan as files that make a framework or a launcher run it.
#include <fmt/format.h>

#include <string>
#include <utility>

#include "command.hpp"
#include "nest/base/drawing/table.hpp"
#include "nest/base/error.hpp"
#include "nest/base/files.hpp"
#include "nest/frameworks/common/export_folder.hpp"
#include "nest/frameworks/exporters.hpp"
#include "nest/price/price.hpp"
#include "plan_options.hpp"

namespace nest::cli {
namespace {

std::vector<std::string> read_hosts(const std::string& file) {
  std::vector<std::string> hosts;
  std::string line;
  int number = 0;
  for (const char c : read_file(file) + "\n") {
    if (c != '\n') {
      line += c;
      continue;
    }
    ++number;
    const std::size_t begin = line.find_first_not_of(" \t\r");
    if (begin != std::string::npos && line[begin] != '#') {
      const std::string name = line.substr(begin, line.find_last_not_of(" \t\r") - begin + 1);
      if (name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_:") !=
          std::string::npos)
        throw InputError(file, fmt::format("line {}", number),
                         "a file with one host name per line is expected");
      hosts.push_back(name);
    }
    line.clear();
  }
  if (hosts.empty()) throw InputError(file, "", "no host names");
  return hosts;
}

ExportTarget target_of(const Arguments& arguments) {
  const auto name = arguments.text("--to");
  if (!name) throw UsageError("--to is missing; 'nest export --list' shows the targets");
  try {
    return read_target(*name);
  } catch (const InputError& error) {
    throw UsageError(std::string("--to: ") + error.what());
  }
}

int list_targets(const Arguments& arguments, Terminal& terminal) {
  if (arguments.has("--json")) {
    Value out = Value::object();
    out.set("targets", exporters_value());
    terminal.json(out);
    return kOk;
  }
  Table table({{"target"}, {"for"}, {"writes"}});
  Table releases({{"target@release"}, {"released"}, {"tried"}, {"how it was tried"}});
  for (const Exporter& e : exporters()) {
    table.add({std::string(e.name), std::string(e.title), std::string(e.text)});
    const ReleaseTable* own = e.releases();
    if (own == nullptr) continue;
    for (const Release& r : own->releases)
      releases.add({fmt::format("{}@{}{}", e.name, r.name, r.name == own->usual_name ? " (usual)" : ""),
                    std::string(r.released), std::string(r.tried), std::string(r.how)});
  }
  terminal.out(table.str() + "\n" + releases.str());
  return kOk;
}

Value list_of(const std::vector<std::string>& lines) {
  Value list = Value::array();
  for (const std::string& line : lines) list.push(line);
  return list;
}

ExportQuestion read_export_question(const Arguments& arguments, Terminal& terminal) {
  const std::string& file = arguments.positionals.front();
  OpenPlan open = open_complete_plan(file, arguments, terminal);
  Pricer pricer(open.inputs);
  ExportQuestion question{std::move(open.plan), std::move(open.inputs), {}, 0};
  const PricedPlan priced = pricer.price(question.plan);
  if (priced.status == PriceStatus::invalid) throw InputError(file, "", priced.reason);
  if (priced.status == PriceStatus::infeasible)
    terminal.note("nest: warning: " + file + " does not fit: " + priced.reason);
  question.plan = with_results(pricer.place(std::move(question.plan)), priced);
  if (const auto hosts = arguments.text("--hosts")) question.hosts = read_hosts(*hosts);
  question.devices_per_host = arguments.whole("--devices-per-host").value_or(0);
  if (question.devices_per_host < 0)
    throw UsageError("--devices-per-host: a number of at least 1 is expected");
  return question;
}

int run_export(const Arguments& arguments, Terminal& terminal) {
  if (arguments.has("--list")) return list_targets(arguments, terminal);
  if (arguments.positionals.empty()) throw UsageError("'export' needs PLAN.json; see 'nest export --help'");
  const ExportTarget to = target_of(arguments);
  const Exporter& target = *to.exporter;
  ExportQuestion question = read_export_question(arguments, terminal);
  question.release = to.release;
  ExportFolder folder(arguments.text("--out").value_or(fmt::format("./{}-launch", target.name)),
                      arguments.has("--force"));
  const ExportResult result = target.write(question, [&](const ExportFile& file) { folder.write(file); });
  if (!result.rule.empty()) {
    throw InputError(
        arguments.positionals.front(), "",
        fmt::format("{} cannot run this plan ({}): {}", target.title, result.rule, result.sentence));
  }
  folder.finish();
  if (arguments.has("--json")) {
    Value files = Value::array();
    for (const auto& file : folder.files()) {
      Value one = Value::object();
      one.set("name", file.name).set("bytes", file.bytes);
      files.push(std::move(one));
    }
    Value out = Value::object();
    out.set("target", target.name).set("folder", folder.target()).set("files", std::move(files));
    Value releases = Value::array();
    for (const Release* release : result.releases) releases.push(release->name);
    out.set("releases", std::move(releases));
    out.set("lost", list_of(result.lost)).set("next", list_of(result.next));
    terminal.json(out);
    return kOk;
  }
  const std::string releases = spell_releases(result.releases);
  terminal.out(fmt::format("{}: {} files for {}\n", folder.target(), folder.files().size(),
                           releases.empty() ? target.title : releases));
  if (!result.lost.empty()) {
    terminal.out("\n" + terminal.heading("Lost in translation") + "\n");
    for (const std::string& sentence : result.lost) terminal.out("  " + wrap(sentence, kTextWidth, 2) + "\n");
  }
  terminal.out("\n" + terminal.heading("Next") + "\n");
  for (const std::string& sentence : result.next) terminal.out("  " + sentence + "\n");
  return kOk;
}

}  // namespace

std::vector<Command> export_commands() {
  return {
      {"export",
       "PLAN.json",
       0,
       1,
       "write the files with which a framework runs a plan",
       "Writes a folder with the arguments of a framework and with the files that place every rank on its "
       "device. All rules of the target are checked first: a plan that breaks one is refused with the name "
       "of the rule. What the target cannot express is listed under \"Lost in translation\", on the screen "
       "and in NOTES.md. Either all files are written or none.",
       with_plan_file_options(
           {{"--to", "NAME[@RELEASE]", "the target, and a release of it; --list shows all"},
            {"--out", "DIR", "the folder to write to (default ./NAME-launch)"},
            {"--force", "", "replace the folder if it contains an earlier export"},
            {"--hosts", "FILE",
             "a file with the names of the hosts, one per line, in the order of the devices (default: "
             "node000, "
             "node001, ..)"},
            {"--devices-per-host", "N",
             "the number of devices in a host (default: the innermost level is a host)"},
            {"--list", "", "the targets and their releases"},
            json_option()}),
       {{"nest export plan.json --to megatron", "writes ./megatron-launch"},
        {"nest export plan.json --to placement --hosts hosts.txt --out ranks",
         "write the rank map for real hosts"},
        {"nest export plan.json --to megatron@core_v0.16", "write for an older release"},
        {"nest export plan.json --to slurm", "write a script for sbatch that starts any program"},
        {"nest export --list", "all targets and releases"}},
       run_export},
  };
}

}  // namespace nest::cli
