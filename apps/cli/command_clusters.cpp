// nest clusters: the catalog, accelerators, one cluster looked at closely, and questions to its devices.
#include <fmt/format.h>

#include <utility>

#include "command.hpp"
#include "command_reduce.hpp"
#include "device_list.hpp"
#include "nest/api/nest.hpp"
#include "nest/base/drawing/table.hpp"
#include "nest/cluster/cluster_file.hpp"
#include "nest/cluster/drawing.hpp"
#include "show_cluster.hpp"

namespace nest::cli {
namespace {

using Align = Table::Align;

std::string rate_or_dash(const std::optional<FlopsPerSecond>& rate) {
  return rate ? format(*rate) : "-";
}

int run_accelerators(const Arguments& arguments, Terminal& terminal) {
  Table table({{"name"},
               {"bf16 or fp16", Align::right},
               {"fp8", Align::right},
               {"memory", Align::right},
               {"bandwidth", Align::right},
               {"scale-up", Align::right},
               {"NIC", Align::right},
               {"reached", Align::right}});
  Value list = Value::array();
  for (const Accelerator& a : accelerators()) {
    const auto bf16 = a.peak(MathType::bf16);
    const MathType half = bf16 ? MathType::bf16 : MathType::fp16;
    const Share share = a.matmul_share(half);
    const auto optional_rate = [](const std::optional<BytesPerSecond>& r) {
      return r ? format(*r) : std::string("-");
    };
    table.add({a.name, rate_or_dash(bf16 ? bf16 : a.peak(MathType::fp16)),
               rate_or_dash(a.peak(MathType::fp8)), format_memory(a.memory), format(a.memory_bandwidth),
               optional_rate(a.scale_up_bandwidth), optional_rate(a.nic_bandwidth),
               fmt::format("{:.1f} %{}", 100 * share.value, share.is_default ? "*" : " ")});
    list.push(accelerator_summary(a));
  }
  if (arguments.has("--json")) {
    Value out = Value::object();
    out.set("accelerators", std::move(list));
    terminal.json(out);
  } else {
    terminal.out(table.str());
    terminal.out(
        "Peaks are dense, and bandwidths are in one direction. 'reached' is the share of the 16-bit peak "
        "that large matrix products\nreach. * This share was not measured; it is the default in "
        "data/accelerators.yaml.\n");
  }
  return kOk;
}

int run_list(const Arguments& arguments, Terminal& terminal) {
  if (arguments.has("--names")) {
    return print_names(arguments.has("--accelerators") ? accelerator_names() : cluster_names(), arguments,
                       terminal);
  }
  if (arguments.has("--accelerators")) return run_accelerators(arguments, terminal);
  Table table({{"name"}, {"devices", Align::right}, {"accelerator"}, {"levels, innermost first"}});
  Value list = Value::array();
  for (const std::string& name : cluster_names()) {
    const Cluster c = catalog_cluster(name);
    std::string levels;
    for (const Level& level : c.levels())
      levels += (levels.empty() ? "" : ", ") + level.name + " " + spell_size(level);
    table.add({name, format_digits(c.devices()), c.device_name(), levels});
    Value row = Value::object();
    row.set("name", name).set("devices", c.devices()).set("accelerator", c.device_name());
    row.set("levels", c.levels().size());
    list.push(std::move(row));
  }
  if (arguments.has("--json")) {
    Value out = Value::object();
    out.set("clusters", std::move(list));
    terminal.json(out);
  } else {
    terminal.out(table.str());
  }
  return kOk;
}

int run_show(const Arguments& arguments, Terminal& terminal) {
  Cluster cluster = load_cluster(arguments.positionals.front());
  if (const auto devices = arguments.whole("--devices")) cluster = with_devices(cluster, *devices);
  ClusterQuestions questions;
  if (const auto id = arguments.text("--device"))
    questions.devices = parse_devices("--device", *id, cluster.devices());
  if (const auto ids = arguments.text("--pair")) {
    questions.pair = parse_devices("--pair", *ids, cluster.devices());
    if (questions.pair.size() != 2 || questions.pair[0] == questions.pair[1]) {
      throw UsageError("--pair: two different devices are expected, as in --pair 0,9");
    }
  }
  if (const auto ids = arguments.text("--group")) {
    questions.group = parse_devices("--group", *ids, cluster.devices());
    std::sort(questions.group.begin(), questions.group.end());
    questions.group.erase(std::unique(questions.group.begin(), questions.group.end()), questions.group.end());
  }

  write_output(arguments, "--svg", [&] { return cluster_svg(cluster); }, terminal);
  if (arguments.has("--json")) {
    Value out = cluster_summary(cluster);
    add_answers(out, cluster, questions);
    terminal.json(out);
  } else {
    terminal.out(cluster_text(cluster, terminal) + answers_text(cluster, questions));
  }
  return kOk;
}

}  // namespace

std::vector<Command> cluster_commands() {
  std::vector<Command> list{
      {"clusters",
       "",
       0,
       0,
       "list the clusters that are known by name, or the accelerators",
       "Lists the clusters that --cluster accepts by name. Instead of a name, --cluster also accepts a "
       "cluster file (YAML or JSON).",
       {{"--accelerators", "", "list the accelerators instead of the clusters"},
        json_option(),
        names_option()},
       {{"nest clusters", "the table"},
        {"nest clusters --accelerators", "show the peak rates, memory and bandwidths of each accelerator"}},
       run_list},
      {"clusters show",
       "NAME|FILE",
       1,
       1,
       "show the levels, bandwidths and devices of a cluster",
       "Shows the network levels of a cluster, its accelerator and its bisection bandwidth. It also answers "
       "questions about devices: where a device is, which bandwidth two devices have between them, and how a "
       "group is spread over the levels. Device ids count from 0 along the leaves of the tree.",
       {{"--devices", "N", "use N devices: this changes the size of the outermost level"},
        {"--device", "LIST", "show where these devices are, such as 5,8..15"},
        {"--pair", "A,B", "show the level at which two devices meet, with its bandwidth and latency"},
        {"--group", "LIST", "show how a group of devices, such as 0..1023:8, is spread over the levels"},
        json_option(),
        svg_option()},
       {{"nest clusters show h100-spine-leaf --devices 512", "show the example cluster with 512 devices"},
        {"nest clusters show dgx-h100-superpod --pair 0,100",
         "show the bandwidth and latency between two devices"},
        {"nest clusters show mega-131072 --group 0..131071:8 --json",
         "show the group that has one device of each node"},
        {"nest clusters show my-cluster.yaml --svg cluster.svg", "draw the hierarchy"}},
       run_show},
  };
  for (Command& c : reduce_commands()) list.push_back(std::move(c));
  return list;
}

}  // namespace nest::cli
