// nest models: the zoo, and one model looked at closely.
#include <fmt/format.h>

#include <utility>
#include <variant>

#include "command.hpp"
#include "nest/api/nest.hpp"
#include "nest/base/drawing/graphviz.hpp"
#include "nest/base/drawing/table.hpp"
#include "nest/model/describe.hpp"
#include "nest/model/drawing.hpp"
#include "nest/model/hub/hub_config.hpp"
#include "plan_options.hpp"

namespace nest::cli {
namespace {

using Align = Table::Align;

std::string count(std::int64_t n) {
  return format_count(static_cast<double>(n));
}

std::string layer_table(const Model& model) {
  Table table({{"layers"},
               {"number", Align::right},
               {"parameters", Align::right},
               {"active", Align::right},
               {"forward", Align::right},
               {"output", Align::right},
               {"stash", Align::right}});
  for (const LayerRun& run : layer_runs(model)) {
    const LayerType& type = model.types[run.type];
    table.add({run.name, std::to_string(run.layers), count(type.parameters() + type.apart_parameters()),
               count(type.active_parameters()), format(type.forward_flops()), format(type.output_bytes()),
               format(type.stash_bytes())});
  }
  return table.str();
}

std::string operator_table(const LayerType& type) {
  Table table({{"operator"},
               {"kind"},
               {"FLOPs", Align::right},
               {"parameters", Align::right},
               {"read", Align::right},
               {"written", Align::right},
               {"keeps", Align::right}});
  for (const Operator& op : type.operators) {
    Bytes kept;
    for (const TensorIndex i : op.keeps) kept += type.tensor(i).bytes();
    table.add({op.name, std::string(row_of(op.kind).name),
               op.forward_flops.value > 0 ? format(op.forward_flops) : "-",
               type.parameters(op) > 0 ? count(type.parameters(op)) : "-", format(type.bytes_read(op)),
               format(type.bytes_written(op)), kept.value > 0 ? format(kept) : "-"});
  }
  return table.str();
}

void show_text(const Model& model, Terminal& terminal) {
  std::string out = terminal.heading(model.name) + " (" + model.family + ")\n";
  const auto line = [&](const char* what, const std::string& text) {
    out += fmt::format("  {:<12}{}\n", what, text);
  };
  line("parameters", format_digits(model.parameters()) + " (" + count(model.parameters()) + ")");
  if (model.active_parameters() != model.parameters()) {
    line("active",
         format_digits(model.active_parameters()) + " per token (" + count(model.active_parameters()) + ")");
  }
  for (const ApartParameters& a : model.apart) {
    line("apart",
         format_digits(a.parameters) + " more in the " + a.name +
             (a.in_graph ? ", part of the layers below" : ", left out of the layers (--mtp puts it in)"));
  }
  line("layers", std::to_string(model.blocks()) + " blocks, hidden size " + format_digits(model.hidden) +
                     (model.positions > 0 ? ", up to " + format_digits(model.positions) + " positions" : ""));
  line("forward", format(model.forward_flops_per_token()) + " per token at sequence " +
                      format_digits(model.sequence) + "; " + format(model.forward_flops()) +
                      " for a micro-batch of " + std::to_string(model.micro_batch));
  for (const TiedTensor& t : model.tied) {
    std::string users;
    for (const LayerId id : t.layers) users += (users.empty() ? "" : ", ") + model.layers[id.index()].name;
    line("tied", t.name + " (" + count(t.parameters) + " parameters): " + users);
  }
  out += "\n" + layer_table(model);
  const LayerType& typical = typical_layer(model);
  out += "\n" + terminal.heading("Operators of one '" + typical.name + "' layer") +
         " (forward; 'keeps': held until backward)\n";
  out += operator_table(typical);
  terminal.out(out);
}

void show_text(const LayerProfile& profile, Terminal& terminal) {
  std::string out = terminal.heading(profile.name) + " (layer profile)\n";
  out += fmt::format("  parameters  {} (as the first strategy states them)\n",
                     format_digits(profile.parameters()));
  out += fmt::format("  measured    at micro-batch {}, sequence {}\n\n", profile.micro_batch,
                     format_digits(profile.sequence));
  Table table({{"strategy"},
               {"layers", Align::right},
               {"edges", Align::right},
               {"parameters", Align::right},
               {"forward", Align::right},
               {"backward", Align::right},
               {"stash", Align::right}});
  for (const ProfileStrategy& s : profile.strategies) {
    Seconds forward;
    Seconds backward;
    Bytes parameters;
    Bytes stash;
    for (const ProfileLayer& layer : s.layers) {
      forward += layer.forward;
      backward += layer.backward;
      parameters += layer.parameters;
      stash += layer.activations;
    }
    std::string name = "tensor " + std::to_string(s.tensor);
    if (s.expert > 1) name += ", expert " + std::to_string(s.expert);
    if (s.context > 1) name += ", context " + std::to_string(s.context);
    if (s.sequence_parallel) name += ", sequence parallel";
    table.add({name, std::to_string(s.layers.size()), std::to_string(s.edges.size()), format(parameters),
               format(forward), format(backward), format(stash)});
  }
  terminal.out(out + table.str() + "  per device of the cell, all layers together\n");
}

BuildOptions build_options(const Arguments& arguments) {
  BuildOptions options;
  options.micro_batch = arguments.whole("--micro-batch").value_or(1);
  options.sequence = arguments.length("--sequence");
  options.mtp = arguments.has("--mtp");
  return options;
}

template <class Shown>
void show(const Shown& shown, const Arguments& arguments, Terminal& terminal) {
  // The drawing first: when it fails, nothing has been printed that looks like success.
  write_output(arguments, "--svg", [&] { return render_dot(model_dot(shown)); }, terminal);
  if (arguments.has("--json")) {
    terminal.json(describe(shown));
  } else {
    show_text(shown, terminal);
  }
}

int run_show(const Arguments& arguments, Terminal& terminal) {
  Warnings warnings;
  const ModelSource source =
      load_model(arguments.positionals.front(), warnings, arguments.text("--like").value_or(""));
  terminal.warn(warnings);
  if (const LayerProfile* profile = std::get_if<LayerProfile>(&source)) {
    for (const char* option : {"--micro-batch", "--sequence", "--mtp"}) {
      if (arguments.has(option)) {
        throw UsageError(std::string(option) +
                         " cannot be combined with a layer profile, which was measured at one size");
      }
    }
    show(*profile, arguments, terminal);
  } else {
    const ModelSpec& spec = std::get<ModelSpec>(source);
    if (arguments.has("--mtp") && spec.mtp_layers == 0) {
      terminal.warn({spec.name + " has no modules for multi-token prediction; --mtp has no effect"});
    }
    const Model model = build_model(spec, build_options(arguments));
    if (const std::string beyond = beyond_positions(spec, model.sequence); !beyond.empty())
      terminal.warn({beyond});
    show(model, arguments, terminal);
  }
  return kOk;
}

int run_list(const Arguments& arguments, Terminal& terminal) {
  const std::vector<std::string> names = zoo_names();
  if (arguments.has("--names")) return print_names(names, arguments, terminal);
  Table table({{"name"},
               {"parameters", Align::right},
               {"active", Align::right},
               {"layers", Align::right},
               {"hidden", Align::right},
               {"positions", Align::right},
               {"family"}});
  Value list = Value::array();
  for (const std::string& name : names) {
    const Model model = build_model(zoo_model(name));
    table.add({name, count(model.parameters()), count(model.active_parameters()),
               std::to_string(model.blocks()), format_digits(model.hidden),
               model.positions > 0 ? format_digits(model.positions) : "any", model.family});
    Value row = Value::object();
    row.set("name", name).set("family", model.family).set("parameters", model.parameters());
    row.set("active_parameters", model.active_parameters())
        .set("blocks", model.blocks())
        .set("hidden", model.hidden);
    row.set("positions", model.positions > 0 ? Value(model.positions) : Value());
    list.push(std::move(row));
  }
  if (arguments.has("--json")) {
    Value out = Value::object();
    out.set("models", std::move(list));
    terminal.json(out);
  } else {
    terminal.out(table.str());
  }
  return kOk;
}

std::string stacks_of(const ModelSpec& spec) {
  std::string out;
  for (const StackSpec& stack : spec.stacks)
    out += (out.empty() ? "" : ", ") + std::to_string(stack.blocks.size()) + " x " + stack.prefix;
  return out;
}

int run_families(const Arguments& arguments, Terminal& terminal) {
  const std::vector<std::string> types = known_model_types();
  if (arguments.has("--names")) return print_names(types, arguments, terminal);
  Table table({{"model type"}, {"default model", Align::right}, {"blocks"}, {"not in exports"}});
  std::string notes;
  Value list = Value::array();
  for (const std::string& type : types) {
    const ModelType known = describe_model_type(type);
    std::string special;
    Value parts = Value::array();
    for (const std::string& part : known.special) {
      special += (special.empty() ? "" : "; ") + part;
      parts.push(part);
    }
    Value row = Value::object();
    row.set("model_type", type);
    if (known.defaults) {
      const std::int64_t parameters = build_model(*known.defaults).parameters();
      table.add({type, count(parameters), stacks_of(*known.defaults), special.empty() ? "-" : special});
      row.set("parameters", parameters);
    } else {
      table.add({type, "-", "-", special.empty() ? "-" : special});
      notes += "The class defaults of " + type + " make no model: " + known.refusal + ".\n";
      row.set("parameters", Value()).set("no_default_model", known.refusal);
    }
    list.push(std::move(row.set("not_in_exports", std::move(parts))));
  }
  if (arguments.has("--json")) {
    terminal.json(Value::object().set("families", std::move(list)));
  } else {
    terminal.out(table.str() + (notes.empty() ? "" : "\n" + notes));
  }
  return kOk;
}

}  // namespace

std::vector<Command> model_commands() {
  return {
      {"models",
       "",
       0,
       0,
       "list the models that are known by name",
       "Lists the models that --model accepts by name, with their exact parameter counts. Instead of a name, "
       "--model also accepts a Hugging Face config.json, an ONNX file or a layer profile.",
       {json_option(), names_option()},
       {{"nest models", "the table"}, {"nest models --json", "print the same list as JSON"}},
       run_list},
      {"models show",
       "NAME|FILE",
       1,
       1,
       "show the parameters, layers and operators of a model",
       "Shows the parameters of a model (in total, active, and of each layer), its layer graph, the FLOPs of "
       "its forward pass and the operators of its most frequent layer. NAME is a name that 'nest models' "
       "lists; FILE is a config.json, an ONNX file or a layer profile.",
       {{"--micro-batch", "N", "the number of sequences in a micro-batch (default 1)"},
        {"--sequence", "N",
         "the number of tokens in a sequence, such as 4096 or 128K (default: the model's positions, but at "
         "most 8192)"},
        {"--mtp", "", "include the modules for multi-token prediction"},
        like_option(),
        json_option(),
        svg_option()},
       {{"nest models show llama3.1-70b", "show the layers and operators of a model"},
        {"nest models show deepseek-v3 --micro-batch 2 --sequence 4096 --json", "for programs"},
        {"nest models show ./config.json --svg model.svg", "draw the layer graph and one layer"},
        {"nest models show ./config.json --like llama", "read a config.json of an unknown type"},
        {"nest models show model.onnx --sequence 4096", "read an exported graph, without its weights"}},
       run_show},
      {"models families",
       "",
       0,
       0,
       "list the model types whose config.json is read",
       "Lists the model types ('model_type' of a config.json) that can be read, each with the size of the "
       "model that its class defaults make (or why they make none), and with the parts that exports do not "
       "carry. A file data/families/TYPE.yaml "
       "describes a type; the environment variable NEST_FAMILIES names a folder with files of one's own.",
       {json_option(), names_option()},
       {{"nest models families", "the table"}, {"nest models families --names", "the types alone"}},
       run_families},
  };
}

}  // namespace nest::cli
