#include "command_reduce.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "nest/base/drawing/table.hpp"
#include "nest/base/files.hpp"
#include "nest/base/numbers.hpp"
#include "nest/cluster/cluster_file.hpp"
#include "nest/cluster/drawing.hpp"
#include "nest/cluster/reduce/reduce.hpp"
#include "show_cluster.hpp"

namespace nest::cli {
namespace {

using Align = Table::Align;

std::string error_text(double share) {
  return share == 0 ? "exact" : format_small_percent(share, 3);
}

std::string report_text(const Reduction& r, const Terminal& terminal) {
  std::string out = cluster_text(r.cluster, terminal);
  out += fmt::format("\n{} (method: {})\n", terminal.heading("Errors of the pairs of devices at each level"),
                     r.method);
  Table table({{"level"},
               {"pairs", Align::right},
               {"bandwidth: worst", Align::right},
               {"mean", Align::right},
               {"latency: worst", Align::right},
               {"mean", Align::right},
               {"worst pair"}});
  for (const LevelFit& fit : r.levels) {
    table.add({fit.level, format_digits(fit.pairs), error_text(fit.worst_bandwidth_error),
               error_text(fit.mean_bandwidth_error), error_text(fit.worst_latency_error),
               error_text(fit.mean_latency_error), fit.worst ? fit.worst->a + " - " + fit.worst->b : "-"});
  }
  out += table.str();
  out += r.worst_error == 0 ? "all pairs: exact\n"
                            : fmt::format("all pairs: worst {}, mean {}\n", error_text(r.worst_error),
                                          error_text(r.mean_error));
  for (const Attempt& a : r.attempts) {
    out += fmt::format("  tried {}: {} level{}, worst {}, mean {}\n", a.method, a.levels,
                       a.levels == 1 ? "" : "s", error_text(a.worst_error), error_text(a.mean_error));
  }
  if (r.reordered) {
    out +=
        wrap(
            "The devices were reordered so that domains are contiguous; --json and the cluster file list the "
            "order under 'devices', and exports of plans follow it.",
            kTextWidth, 0) +
        "\n";
  }
  return out;
}

int report(const Reduction& r, const Arguments& arguments, Terminal& terminal) {
  terminal.warn(r.warnings);
  write_output(arguments, "-o", [&] { return to_json(cluster_file_value(r.cluster)) + "\n"; }, terminal);
  write_output(arguments, "--pairs", [&] { return pair_errors_csv(r); }, terminal);
  write_output(arguments, "--svg", [&] { return cluster_svg(r.cluster); }, terminal);
  if (arguments.has("--json")) {
    terminal.json(reduction_value(r));
  } else {
    terminal.out(report_text(r, terminal));
  }
  return kOk;
}

int run_graph(const Arguments& arguments, Terminal& terminal) {
  const NetworkGraph graph = read_graph(read_document(arguments.positionals.front()));
  return report(reduce_graph(graph, {.keep_torus = arguments.has("--keep-torus")}), arguments, terminal);
}

int run_matrix(const Arguments& arguments, Terminal& terminal) {
  const std::string& bandwidth = arguments.positionals[0];
  const std::string& latency = arguments.positionals[1];
  MeasuredPairs pairs = read_matrices({bandwidth, read_file(bandwidth)}, {latency, read_file(latency)});
  const std::string name =
      arguments.text("--name").value_or(std::filesystem::path(bandwidth).stem().string());
  const Accelerator& accelerator = find_accelerator(arguments.text("--accelerator").value_or("h100-sxm"));
  return report(reduce_pairs(std::move(pairs), name, accelerator), arguments, terminal);
}

std::vector<Option> outputs() {
  return {{"-o", "FILE", "write the levels to a cluster file, for --cluster FILE"},
          {"--pairs", "FILE",
           "write the true values, the values of the levels and the errors of all pairs as CSV"},
          json_option(),
          svg_option()};
}

}  // namespace

std::vector<Command> reduce_commands() {
  std::vector<Option> graph_options = outputs();
  graph_options.push_back(
      {"--keep-torus", "", "also try to describe an exact mesh or torus as one level of that kind"});
  std::vector<Option> matrix_options = outputs();
  matrix_options.push_back({"--accelerator", "NAME", "the accelerator of the cluster (default h100-sxm)"});
  matrix_options.push_back(
      {"--name", "NAME", "the name of the cluster (default: that of the bandwidth file)"});
  return {
      {"clusters from-graph",
       "FILE",
       1,
       1,
       "reduce a graph of devices, switches and links to levels",
       "Reduces a network that is given as a graph (devices, switches, and links with bandwidth and latency) "
       "to levels. It clusters the devices by bottleneck bandwidth, by dimension and by hop distance, uses "
       "whichever has the smallest error, and reports the error of each level. docs/formats/graph.md "
       "describes the file.",
       graph_options,
       {{"nest clusters from-graph network.yaml", "show the levels and their errors"},
        {"nest clusters from-graph network.yaml -o cluster.json", "also write a cluster file"}},
       run_graph},
      {"clusters from-matrix",
       "BANDWIDTH.csv LATENCY.csv",
       2,
       2,
       "reduce measurements of pairs of devices to levels",
       "Reduces measured bandwidths and latencies of all pairs of devices to levels and reports the error of "
       "each level. The two CSV files hold square matrices of plain SI numbers or of numbers with units.",
       matrix_options,
       {{"nest clusters from-matrix bandwidth.csv latency.csv --accelerator h100-sxm",
         "reduce measurements to levels"}},
       run_matrix},
  };
}

}  // namespace nest::cli
