// nest import: clusters from what schedulers, drivers and cloud providers print, and levels from what was measured.
#include <fmt/format.h>

#include <utility>

#include "command.hpp"
#include "nest/base/drawing/table.hpp"
#include "nest/base/files.hpp"
#include "nest/base/numbers.hpp"
#include "nest/cluster/catalog.hpp"
#include "nest/cluster/cluster_file.hpp"
#include "nest/cluster/cluster_text.hpp"
#include "nest/cluster/drawing.hpp"
#include "nest/cluster/imports/importers.hpp"
#include "nest/validate/calibrate/measured_cluster.hpp"
#include "show_cluster.hpp"

namespace nest::cli {
namespace {

ImportFile file_at(const std::string& path) {
  return {path, read_file(path)};
}

// One value a line: an option that may be given several times.
std::vector<ImportFile> files_of(const Arguments& arguments, std::string_view option) {
  std::vector<ImportFile> out;
  const std::string all = arguments.text(option).value_or("");
  for (std::size_t at = 0; at < all.size();) {
    const std::size_t end = std::min(all.find('\n', at), all.size());
    out.push_back(file_at(all.substr(at, end - at)));
    at = end + 1;
  }
  return out;
}

std::string section(const std::string& title, const std::vector<std::string>& sentences,
                    const Terminal& terminal) {
  if (sentences.empty()) return "";
  std::string out = "\n" + terminal.heading(title) + "\n";
  for (const std::string& sentence : sentences) out += "  " + wrap(sentence, kTextWidth, 4) + "\n";
  return out;
}

Value texts(const std::vector<std::string>& list) {
  Value out = Value::array();
  for (const std::string& text : list) out.push(text);
  return out;
}

void write_cluster(const Cluster& cluster, const std::string& command, const Arguments& arguments,
                   Terminal& terminal) {
  write_output(
      arguments, "-o",
      [&] { return "# Made by 'nest " + command + "'; docs/formats/cluster.md\n" + cluster_yaml(cluster); },
      terminal);
  write_output(arguments, "--svg", [&] { return cluster_svg(cluster); }, terminal);
}

int import_from(const ClusterImporter& importer, const Arguments& arguments, Terminal& terminal) {
  check_output(arguments, "-o");
  ClusterImport question;
  question.kind = importer.name;
  for (const std::string& word : arguments.positionals)
    question.files.push_back(open_import(&importer, word));
  question.nodes = files_of(arguments, "--nodes");
  question.inside = files_of(arguments, "--node");
  question.options.name = arguments.text("--name").value_or("");
  question.options.accelerator = arguments.text("--accelerator").value_or("");
  question.options.count = arguments.whole("--count");
  question.options.only = arguments.text("--only").value_or("");
  question.options.with_drained = arguments.has("--with-drained");
  const ImportedCluster read = import_cluster(question);
  write_cluster(read.cluster, fmt::format("import {}", importer.name), arguments, terminal);
  if (arguments.has("--json")) {
    terminal.json(to_value(read));
    return kOk;
  }
  terminal.out(cluster_text(read.cluster, terminal) + section("Read", read.notes.known, terminal) +
               section("Assumed, as no file says it", read.notes.assumed, terminal) +
               section("Left out", read.notes.left_out, terminal));
  return kOk;
}

std::string rows_text(const std::vector<MeasuredFigure>& rows) {
  if (rows.empty()) return "";
  Table table({{"measured in"},
               {"size"},
               {"measured", Table::Align::right},
               {"before", Table::Align::right},
               {"now", Table::Align::right}});
  for (const MeasuredFigure& row : rows)
    table.add({row.name, row.what, format(Seconds{row.measured}), format(Seconds{row.predicted}),
               format(Seconds{row.calibrated})});
  return "\n" + table.str();
}

// Both kinds read both formats: a file says which it is.
template <const char* Kind>
int import_measured(const Arguments& arguments, Terminal& terminal) {
  check_output(arguments, "-o");
  std::vector<MeasuredFile> files;
  files.reserve(arguments.positionals.size());
  for (const std::string& word : arguments.positionals) files.push_back({word, read_file(word)});
  MeasuredOptions options{.level = arguments.text("--level").value_or(""), .links = {}};
  if (const auto links = arguments.text("--links")) {
    options.links = parse_number(*links);
    if (!options.links || !(*options.links > 0)) throw UsageError("--links: a number above 0 is expected");
  }
  const MeasuredCluster measured =
      measured_cluster(load_cluster(arguments.text("--cluster").value_or("h100-spine-leaf")), files, options);
  write_cluster(measured.cluster, fmt::format("import {}", Kind), arguments, terminal);
  if (arguments.has("--json")) {
    Value rows = Value::array();
    for (const MeasuredFigure& row : measured.rows) {
      Value v = Value::object();
      v.set("file", row.name).set("size", row.what).set("measured_s", row.measured);
      rows.push(v.set("before_s", row.predicted).set("now_s", row.calibrated));
    }
    Value out = Value::object();
    out.set("cluster", cluster_file_value(measured.cluster))
        .set("known", texts(measured.said))
        .set("collectives", std::move(rows));
    terminal.json(out);
    return kOk;
  }
  terminal.out(cluster_text(measured.cluster, terminal) + section("Measured", measured.said, terminal) +
               rows_text(measured.rows));
  return kOk;
}
constexpr char kNcclTests[] = "nccl-tests";
constexpr char kPerftest[] = "perftest";

std::vector<Option> outputs() {
  return {{"-o", "FILE", "write a cluster file, for --cluster FILE"}, json_option(), svg_option()};
}

std::vector<Option> import_cluster_options() {
  std::vector<Option> options{
      {"--nodes", "FILE", "a further list of hosts, of any kind that lists them; may be given several times",
       true},
      {"--node", "FILE",
       "what one host looks like inside: nvidia-smi topo -m or -q -x, rocm-smi --showtopo, NCCL's XML; may "
       "be given several "
       "times",
       true},
      {"--accelerator", "NAME", "the accelerator of the hosts (default: as the files say)"},
      {"--count", "N", "hosts, racks or slices of a file or name that stands for one (default 1)"},
      {"--only", "NAMES",
       "take these hosts: names such as node[001-064], instance types, accelerators, partitions or zones"},
      {"--with-drained", "", "also take hosts that are drained, down or not ready"},
      {"--name", "NAME", "the name of the cluster (default: that of the file)"}};
  for (Option& option : outputs()) options.push_back(std::move(option));
  return options;
}

Command importing(const ClusterImporter& importer) {
  const std::string name = fmt::format("import {}", importer.name);
  std::string formats;
  for (const ImportFormat& format : importer.formats)
    formats += fmt::format("{}{}", formats.empty() ? "" : "; ", format.file);
  if (importer.read_name != nullptr) formats += formats.empty() ? "a name" : "; or a name";
  return {name,
          importer.read_name == nullptr ? "FILE..."
          : importer.formats.empty()    ? "NAME..."
                                        : "FILE|NAME...",
          1,
          1000,
          fmt::format("read a cluster from {}", importer.file),
          fmt::format("Reads {} and writes the cluster file that they describe. Several files are merged. "
                      "What no file says is "
                      "assumed, and every assumption is named; hosts out of service are listed under "
                      "'absent' in the file. "
                      "docs/formats/imports.md says what is read.",
                      formats),
          import_cluster_options(),
          {{fmt::format("nest {} {}", name, importer.example),
            "write a cluster file, and say what was known and assumed"}},
          [&importer](const Arguments& arguments, Terminal& terminal) {
            return import_from(importer, arguments, terminal);
          },
          std::string(importer.sample)};
}

constexpr const char* kNcclTestsSample =
    "# nThread 1 nGpus 1 minBytes 1048576 maxBytes 1073741824 step: 4(factor)\n"
    "#  Rank  0 Group  0 Pid  1717 on    node-0 device  0 [0x19] NVIDIA H100 80GB HBM3\n"
    "#  Rank  8 Group  0 Pid  1817 on    node-1 device  0 [0x19] NVIDIA H100 80GB HBM3\n"
    "#       size         count      type   redop    root     time   algbw   busbw #wrong\n"
    "  1073741824     268435456     float     sum      -1   5120.3  209.70  393.20      0\n";
constexpr const char* kPerftestSample =
    " #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]\n"
    " 65536      5000             392.01               391.85              0.747400\n";

std::vector<Option> measured_options() {
  std::vector<Option> options{
      {"--cluster", "NAME|FILE", "where it was measured (default h100-spine-leaf)"},
      {"--level", "NAME", "the level that links were measured at (default: the first outside hosts)"},
      {"--links", "N", "such links of a device (default 1, or its part of a link that devices share)"}};
  for (Option& option : outputs()) options.push_back(std::move(option));
  return options;
}

Command measuring(const char* kind, const char* what, const char* sample, const char* example,
                  int (*run)(const Arguments&, Terminal&)) {
  return {fmt::format("import {}", kind),
          "FILE...",
          1,
          1000,
          fmt::format("move a cluster's levels to {}", what),
          "Reads the output of nccl-tests or rccl-tests, or of ib_write_bw and ib_write_lat, and writes the "
          "cluster with the "
          "bandwidths and latencies that were measured. Collectives move the outermost level that their "
          "ranks span, as nest "
          "calibrate does; tests of a link state the level between hosts.",
          measured_options(),
          {{fmt::format("nest import {} {}", kind, example), "write the cluster with what was measured"}},
          run,
          sample};
}

}  // namespace

std::vector<Command> import_cluster_commands() {
  std::vector<Command> out;
  for (const ClusterImporter& importer : cluster_importers()) out.push_back(importing(importer));
  out.push_back(measuring("nccl-tests", "collectives that nccl-tests measured", kNcclTestsSample,
                          "all_reduce.txt --cluster dgx-h100-superpod -o cluster.yaml",
                          import_measured<kNcclTests>));
  out.push_back(measuring("perftest", "links that ib_write_bw measured", kPerftestSample,
                          "ib_write_bw.txt ib_write_lat.txt --cluster dgx-h100-superpod -o cluster.yaml",
                          import_measured<kPerftest>));
  return out;
}

}  // namespace nest::cli
