#include "command_reduce.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "nest/base/drawing/table.hpp"
#include "nest/base/files.hpp"
#include "nest/cluster/cluster_file.hpp"
#include "nest/cluster/drawing.hpp"
#include "nest/cluster/reduce/reduce.hpp"
#include "show_cluster.hpp"

namespace nest::cli {
namespace {

using Align = Table::Align;

std::string percent(double share) {
  return share == 0 ? "exact" : fmt::format("{:.3g} %", 100 * share);
}

std::string report_text(const Reduction& r, const Terminal& terminal) {
  std::string out = cluster_text(r.cluster, terminal);
  out += fmt::format("\n{} (method: {})\n", terminal.heading("How far pairs are from what their level says"),
                     r.method);
  Table table({{"level"},
               {"pairs", Align::right},
               {"bandwidth: worst", Align::right},
               {"mean", Align::right},
               {"latency: worst", Align::right},
               {"mean", Align::right},
               {"worst pair"}});
  for (const LevelFit& fit : r.levels) {
    table.add({fit.level, format_digits(fit.pairs), percent(fit.worst_bandwidth_error),
               percent(fit.mean_bandwidth_error), percent(fit.worst_latency_error),
               percent(fit.mean_latency_error), fit.worst ? fit.worst->a + " - " + fit.worst->b : "-"});
  }
  out += table.str();
  out += r.worst_error == 0
             ? "all pairs: exact\n"
             : fmt::format("all pairs: worst {}, mean {}\n", percent(r.worst_error), percent(r.mean_error));
  for (const Attempt& a : r.attempts) {
    out += fmt::format("  tried {}: {} level{}, worst {}, mean {}\n", a.method, a.levels,
                       a.levels == 1 ? "" : "s", percent(a.worst_error), percent(a.mean_error));
  }
  if (r.reordered) {
    out += wrap(
               "Devices were put in another order so that domains are contiguous; --json lists it under "
               "'devices'.",
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
  return {{"-o", "FILE", "write the levels as a cluster file, for --cluster FILE"},
          {"--pairs", "FILE", "write every pair's true and stated figures and errors as CSV"},
          json_option(),
          svg_option()};
}

}  // namespace

std::vector<Command> reduce_commands() {
  std::vector<Option> graph_options = outputs();
  graph_options.push_back({"--keep-torus", "", "also try an exact mesh or torus as one level of that kind"});
  std::vector<Option> matrix_options = outputs();
  matrix_options.push_back({"--accelerator", "NAME", "the accelerator of the cluster (default h100-sxm)"});
  matrix_options.push_back({"--name", "NAME", "the cluster's name (default: the bandwidth file's)"});
  return {
      {"clusters from-graph",
       "FILE",
       1,
       1,
       "levels from devices, switches and links",
       "Reduces a network given as a graph (YAML: devices, switches, links with bandwidth and latency) to "
       "levels, by "
       "clustering on bottleneck bandwidth, by dimension or by hop distance, whichever errs least, and says "
       "how far each "
       "level is from the true figures of its pairs. The format is described in docs/formats/graph.md.",
       graph_options,
       {{"nest clusters from-graph network.yaml", "the levels and their errors"},
        {"nest clusters from-graph network.yaml -o cluster.json", "and a cluster file to plan on"}},
       run_graph},
      {"clusters from-matrix",
       "BANDWIDTH.csv LATENCY.csv",
       2,
       2,
       "levels from measured pairs",
       "Reduces measured bandwidths and latencies of all pairs of devices (two square CSV files, plain SI "
       "numbers or "
       "numbers with units) to levels, and says how far each level is from its pairs.",
       matrix_options,
       {{"nest clusters from-matrix bandwidth.csv latency.csv --accelerator h100-sxm",
         "levels from measurements"}},
       run_matrix},
  };
}

}  // namespace nest::cli
