// nest recipes: how models are trained, by name or from a file.
#include <fmt/format.h>

#include "command.hpp"
#include "nest/api/nest.hpp"
#include "nest/base/drawing/table.hpp"

namespace nest::cli {
namespace {

int run_list(const Arguments& arguments, Terminal& terminal) {
  if (arguments.has("--names")) return print_names(recipe_names(), arguments, terminal);
  Table table({{"name"},
               {"precision"},
               {"optimizer"},
               {"weights", Table::Align::right},
               {"gradients", Table::Align::right},
               {"optimizer states", Table::Align::right},
               {"reserve", Table::Align::right}});
  Value list = Value::array();
  for (const std::string& name : recipe_names()) {
    const Recipe r = named_recipe(name);
    const auto per_parameter = [](std::int64_t bytes) { return fmt::format("{} B/parameter", bytes); };
    table.add({name, std::string(name_of(r.precision)), std::string(name_of(r.optimizer)),
               per_parameter(r.weight_bytes_per_parameter()), per_parameter(r.gradient_bytes_per_parameter()),
               per_parameter(r.optimizer_bytes_per_parameter()), format_memory(r.reserve)});
    Value row = Value::object();
    row.set("name", name).set("recipe", to_value(r));
    list.push(std::move(row));
  }
  if (arguments.has("--json")) {
    Value out = Value::object();
    out.set("recipes", std::move(list));
    terminal.json(out);
  } else {
    terminal.out(table.str());
  }
  return kOk;
}

int run_show(const Arguments& arguments, Terminal& terminal) {
  const Recipe r = load_recipe(arguments.positionals.front());
  if (arguments.has("--json")) {
    Value out = to_value(r);
    terminal.json(out);
    return kOk;
  }
  std::string out = terminal.heading(r.name) + "\n";
  const auto line = [&](const char* what, const std::string& text) {
    out += fmt::format("  {:<18}{}\n", what, text);
  };
  line("framework", r.framework);
  line("precision", std::string(name_of(r.precision)) + (r.compiled ? ", compiled" : ""));
  if (!r.flash_attention) line("attention", "without a flash kernel: the scores are written and kept");
  if (r.dropout) line("dropout", "of attention and of residual additions");
  line("optimizer", std::string(name_of(r.optimizer)) + (r.momentum ? " with momentum" : "") +
                        (r.optimizer_time ? "" : ", whose time is not counted"));
  line("weights",
       fmt::format("{} ({} B per parameter){}", name_of(r.parameter_dtype), r.weight_bytes_per_parameter(),
                   r.master_weights ? ", and an fp32 master copy" : ""));
  line("gradients", fmt::format("{}, reduced in {}", name_of(r.gradient_dtype), name_of(r.reduce_dtype)));
  line("optimizer states", fmt::format("{} B per parameter", r.optimizer_bytes_per_parameter()));
  line("experts",
       fmt::format("tokens travel by {}{}{}", name_of(r.dispatcher), r.low_dispatch ? ", out in 8 bits" : "",
                   r.expert_overlap ? ", beside the compute of another micro-batch" : ""));
  line("launches", fmt::format("{:g} times the host time of plain PyTorch, CUDA graphs: {}", r.host_time,
                               name_of(r.cuda_graphs)));
  line("expert imbalance", fmt::format("{:g} times the mean load", r.expert_imbalance));
  line("memory reserve", format_memory(r.reserve) + " per device");
  if (r.fragmentation > 0)
    line("fragmentation", fmt::format("{:g} % of what is allocated", 100 * r.fragmentation));
  out += "  may overlap with compute:\n";
  const Value written = to_value(r);
  for (const auto& [key, share] : *written.find("overlap")->as_object()) {
    out += fmt::format("    {:<18}{:.0f} %\n", key, 100 * *share.as_real());
  }
  if (!r.compared.empty()) out += "  compared: " + wrap(r.compared, kTextWidth, 12) + "\n";
  if (!r.source.empty()) out += "  source: " + wrap(r.source, kTextWidth, 10) + "\n";
  terminal.out(out);
  return kOk;
}

}  // namespace

std::vector<Command> recipe_commands() {
  return {
      {"recipes",
       "",
       0,
       0,
       "list the training recipes that are known by name",
       "Lists the recipes that --recipe accepts by name, with the precision, optimizer, data types, overlap "
       "and reserved memory of each framework.",
       {json_option(), names_option()},
       {{"nest recipes", "the table"}},
       run_list},
      {"recipes show",
       "NAME|FILE",
       1,
       1,
       "show a recipe in full",
       "Shows the precision, optimizer and data types of a recipe, what may overlap with compute, and how "
       "much memory it reserves. FILE is YAML or JSON; keys that it leaves out have the values of the recipe "
       "that its 'framework' names.",
       {json_option()},
       {{"nest recipes show megatron", "the default"},
        {"nest recipes show mine.yaml --json", "show the recipe that a plan would use, as JSON"}},
       run_show},
  };
}

}  // namespace nest::cli
