// nest estimate: times, traffic and memory of every layer, or of one operator, on one device.
#include <fmt/format.h>

#include <memory>
#include <utility>

#include "command.hpp"
#include "nest/api/nest.hpp"
#include "nest/base/drawing/table.hpp"
#include "nest/estimate/kernels/precision_math.hpp"
#include "nest/estimate/operators/operator_text.hpp"
#include "nest/model/describe.hpp"
#include "nest/price/layers/layer_pricer.hpp"
#include "nest/recipe/module_text.hpp"
#include "nest/strategies/sequence.hpp"
#include "plan_options.hpp"

namespace nest::cli {
namespace {

using Align = Table::Align;

std::int64_t degree(const Arguments& arguments, const char* option, std::int64_t fallback = 1) {
  const std::int64_t value = arguments.whole(option).value_or(fallback);
  if (value < fallback || value > (1 << 20))
    throw InputError("", option, std::to_string(value) + " is not a degree");
  return value;
}

bool on_or_off(const Arguments& arguments, const char* option, bool fallback) {
  const std::string word = arguments.text(option).value_or(fallback ? "on" : "off");
  if (word != "on" && word != "off")
    throw UsageError(std::string(option) + ": on or off is expected, not '" + word + "'");
  return word == "on";
}

Strategy read_degrees(const Arguments& arguments, const Model& model, const Recipe& recipe) {
  Strategy s;
  s.tensor = degree(arguments, "--tensor");
  s.context = degree(arguments, "--context");
  s.sequence_parallel =
      on_or_off(arguments, "--sequence-parallel", s.tensor > 1 && divides_positions(model, s));
  const std::string method = arguments.text("--context-method").value_or("ring");
  if (method != "ring" && method != "all_to_all" && method != "hybrid") {
    throw UsageError("--context-method: ring, all_to_all or hybrid is expected, not '" + method + "'");
  }
  s.context_method = method == "ring"     ? ContextMethod::ring
                     : method == "hybrid" ? ContextMethod::hybrid
                                          : ContextMethod::all_to_all;
  s.context_inner = degree(arguments, "--context-inner");
  if (const std::string problem = context_inner_problem(s); !problem.empty())
    throw UsageError("--context-inner: " + problem);
  s.expert = degree(arguments, "--expert");
  s.expert_tensor = degree(arguments, "--expert-tensor", 0);
  const std::string dispatcher =
      arguments.text("--dispatcher").value_or(std::string(name_of(recipe.dispatcher)));
  const auto known = find_dispatcher(dispatcher);
  if (!known)
    throw UsageError("--dispatcher: alltoall, deepep or hybridep is expected, not '" + dispatcher + "'");
  s.dispatcher = *known;
  s.expert_overlap = recipe.expert_overlap;
  return s;
}

LayerPolicy read_recompute(const Arguments& arguments) {
  const std::string word = arguments.text("--recompute").value_or("none");
  if (word.starts_with("modules:")) {
    const ReadModules set = read_modules(word.substr(word.find(':') + 1), '+');
    if (!set.problem.empty()) throw UsageError("--recompute: " + set.problem);
    return {RecomputePolicy::modules, set.modules};
  }
  const auto policy = find_policy(word);
  if (policy && policy != RecomputePolicy::modules) return *policy;
  throw UsageError(
      "--recompute: none, selective, full or modules with their names, as in "
      "modules:layernorm+moe_act, is expected, not '" +
      word + "'");
}

Cluster read_place(const Arguments& arguments) {
  const auto cluster = arguments.text("--cluster");
  const auto accelerator = arguments.text("--accelerator");
  if (cluster && accelerator) throw UsageError("estimate: give --accelerator or --cluster, not both");
  if (accelerator) return usual_cluster(find_accelerator(*accelerator));
  return load_cluster(cluster.value_or("h100-spine-leaf"));
}

Precision read_precision(const Arguments& arguments, const Recipe& recipe) {
  const std::string word = arguments.text("--precision").value_or(std::string(name_of(recipe.precision)));
  if (const auto precision = find_precision(word)) return *precision;
  throw UsageError("--precision: " + precision_words() + " is expected, not '" + word + "'");
}

void check_precision(const Cluster& cluster, Precision precision, Terminal& terminal) {
  if (const std::string lacks = lacking_math(cluster, precision); !lacks.empty())
    throw InputError("", cluster.device_name(), lacks, "use --precision bf16");
  if (precision == Precision::bf16 && !cluster.computes(MathType::bf16))
    terminal.warn({cluster.device_name() + " has no bf16; its fp16 rate is used"});
}

struct Estimate {
  Recipe recipe;
  Cluster cluster;
  LayerPricer pricer;
  Model model;
  Strategy strategy;
  Precision precision = Precision::bf16;
  std::vector<LayerPrice> prices;  // by type

  // The pricer refers to recipe and cluster.
  Estimate(Recipe how, Cluster place)
      : recipe(std::move(how)), cluster(std::move(place)), pricer(recipe, cluster) {}
  Estimate(const Estimate&) = delete;
  Estimate& operator=(const Estimate&) = delete;
};

std::unique_ptr<Estimate> make_estimate(const Arguments& arguments, Terminal& terminal) {
  Recipe recipe = load_recipe(arguments.text("--recipe").value_or("plain"));
  recipe.compiled = arguments.has("--compiled") || recipe.compiled;
  Cluster place = read_place(arguments);
  if (const auto calibration = read_calibration_option(arguments)) {
    terminal.warn(calibration_warnings(*calibration, recipe, place));
    apply_calibration(*calibration, recipe, place);
  }
  auto made = std::make_unique<Estimate>(std::move(recipe), std::move(place));
  Estimate& e = *made;
  e.precision = read_precision(arguments, e.recipe);
  check_precision(e.cluster, e.precision, terminal);
  BuildOptions options =
      e.pricer.build_options(arguments.whole("--micro-batch").value_or(1), arguments.length("--sequence"));
  options.mtp = arguments.has("--mtp");
  Warnings warnings;
  e.model = open_model(arguments.text("--model").value_or("llama3.1-70b"), options, warnings,
                       arguments.text("--like").value_or(""));
  terminal.warn(warnings);
  if (options.mtp && e.model.apart.empty()) {
    terminal.warn({e.model.name + " has no modules for multi-token prediction; --mtp has no effect"});
  }
  e.strategy = read_degrees(arguments, e.model, e.recipe);
  if (const auto refusal = check_strategy(e.model, e.strategy)) {
    if (!refusal->framework) throw InputError("", e.model.name, refusal->sentence);
    terminal.warn({refusal->sentence});
  }
  const CellNetwork network(e.cluster, e.pricer.constants(), e.strategy);
  e.prices = e.pricer.price(e.model, e.strategy, read_recompute(arguments), e.precision, network);
  for (std::size_t type = 0; type < e.prices.size(); ++type) {
    if (e.prices[type].figures.stash > e.cluster.device_memory()) {
      terminal.warn({"what one '" + e.model.types[type].name + "' layer keeps is more than the memory of a " +
                     e.cluster.device_name()});
    }
  }
  return made;
}

// What a training step sees of one layer and one micro-batch.
struct LayerSums {
  explicit LayerSums(const LayerTerms& t)
      : forward(t.of(Term::forward)),
        backward(t.of(Term::backward_input) + t.of(Term::backward_weight) + t.of(Term::recompute)),
        tensor(t.of(Term::forward_tensor) + t.of(Term::backward_tensor)),
        expert(t.of(Term::forward_expert) + t.of(Term::backward_expert)),
        context(t.of(Term::forward_context) + t.of(Term::backward_context)) {}

  Seconds forward;
  Seconds backward;  // with what is computed again
  Seconds tensor;
  Seconds expert;
  Seconds context;
};

Value cost_value(const std::string& name, const LayerPrice& price, const Recipe& recipe) {
  const LayerSums sums(price.terms);
  const LayerFigures& c = price.figures;
  Value v = Value::object();
  v.set("name", name).set("forward_s", sums.forward.value).set("backward_s", sums.backward.value);
  v.set("tensor_s", sums.tensor.value)
      .set("expert_s", sums.expert.value)
      .set("context_s", sums.context.value);
  v.set("parameters", c.parameters())
      .set("stash_bytes", c.stash.value)
      .set("transient_bytes", c.transient.value);
  v.set("recompute_s", price.terms.of(Term::recompute));
  v.set("backward_weight_s", price.terms.of(Term::backward_weight));
  const ParameterBytes bytes = parameter_bytes(c, recipe);
  v.set("weights_bytes", bytes.weights.value).set("gradients_bytes", bytes.gradients.value);
  v.set("optimizer_bytes", bytes.optimizer.value);
  v.set("source", name_of(c.source)).set("launch_bound", c.launch_bound);
  return v;
}

Value operators_value(Estimate& e, const LayerType& layer) {
  Value list = Value::array();
  for (const Operator& op : layer.operators) {
    if (op.kind == OperatorKind::collective) continue;
    const OperatorTime t = e.pricer.time(layer, op, e.precision);
    Value v = Value::object();
    v.set("name", op.name).set("kind", row_of(op.kind).name).set("forward_s", t.forward.value);
    v.set("backward_s", t.backward().value).set("source", name_of(t.source));
    list.push(std::move(v));
  }
  return list;
}

// The most frequent layer, as one device sees it.
LayerType typical(const Estimate& e) {
  const auto type = static_cast<std::size_t>(&typical_layer(e.model) - e.model.types.data());
  return e.pricer.sharded(e.model, e.strategy)[type].layer;
}

void print_json(Estimate& e, bool operators, Terminal& terminal) {
  Value layers = Value::array();
  for (const Layer& layer : e.model.layers)
    layers.push(cost_value(layer.name, e.prices[layer.type], e.recipe));
  Value out = Value::object();
  out.set("model", e.model.name).set("accelerator", e.cluster.device_name()).set("cluster", e.cluster.name());
  out.set("micro_batch", e.model.micro_batch)
      .set("sequence", e.model.sequence)
      .set("strategy", to_value(e.strategy));
  out.set("layers", std::move(layers));
  if (operators) out.set("operators", operators_value(e, typical(e)));
  terminal.json(out);
}

std::string layers_text(const Estimate& e) {
  Table table({{"layers"},
               {"forward", Align::right},
               {"backward", Align::right},
               {"tensor", Align::right},
               {"expert", Align::right},
               {"context", Align::right},
               {"parameters", Align::right},
               {"stash", Align::right},
               {"source"}});
  const auto time = [](Seconds s) { return s.value > 0 ? format(s) : std::string("-"); };
  bool bound = false;
  for (const LayerRun& run : layer_runs(e.model)) {
    const LayerFigures& c = e.prices[run.type].figures;
    const LayerSums sums(e.prices[run.type].terms);
    bound = bound || c.launch_bound;
    table.add({run.name, format(sums.forward) + (c.launch_bound ? "*" : ""),
               format(sums.backward) + (c.launch_bound ? "*" : ""), time(sums.tensor), time(sums.expert),
               time(sums.context), format_count(static_cast<double>(c.parameters())), format(c.stash),
               std::string(name_of(c.source))});
  }
  return table.str() +
         (bound ? "* This layer is so small that launching its kernels takes longer than running them.\n"
                : "");
}

std::string operators_text(Estimate& e, const Terminal& terminal) {
  const LayerType layer = typical(e);
  Table table({{"operator"}, {"kind"}, {"forward", Align::right}, {"backward", Align::right}, {"source"}});
  for (const Operator& op : layer.operators) {
    if (op.kind == OperatorKind::collective) continue;
    const OperatorTime t = e.pricer.time(layer, op, e.precision);
    table.add({op.name, std::string(row_of(op.kind).name), format(t.forward), format(t.backward()),
               std::string(name_of(t.source))});
  }
  return "\n" + terminal.heading("Operators of one '" + layer.name + "' layer") + "\n" + table.str();
}

int run_operator(const Arguments& arguments, const std::string& text, Terminal& terminal) {
  for (const auto& [option, value] : arguments.values) {
    if (option != "--operator" && option != "--accelerator" && option != "--cluster" && option != "--json") {
      throw UsageError("estimate: " + option + " cannot be combined with --operator, which states all sizes");
    }
  }
  const OperatorTimes times(read_place(arguments).accelerator());
  const OperatorTime t = operator_time(times, text);
  if (arguments.has("--json")) {
    Value out = Value::object();
    out.set("operator", text).set("forward_s", t.forward.value).set("backward_s", t.backward().value);
    out.set("source", name_of(t.source));
    terminal.json(out);
  } else {
    terminal.out(fmt::format("{}: forward {}, backward {} ({})\n", text, format(t.forward),
                             format(t.backward()), name_of(t.source)));
  }
  return kOk;
}

int run_estimate(const Arguments& arguments, Terminal& terminal) {
  if (const auto text = arguments.text("--operator")) return run_operator(arguments, *text, terminal);
  const std::unique_ptr<Estimate> made = make_estimate(arguments, terminal);
  Estimate& e = *made;
  if (arguments.has("--json")) {
    print_json(e, arguments.has("--operators"), terminal);
    return kOk;
  }
  const std::string place = fmt::format("{} on {}, micro-batch {}, sequence {}, {}: per device of the cell",
                                        e.model.name, e.cluster.device_name(), e.model.micro_batch,
                                        format_digits(e.model.sequence), spell(e.strategy));
  terminal.out(wrap(place, kTextWidth, 0) + "\n\n");
  terminal.out(layers_text(e));
  if (arguments.has("--operators")) terminal.out(operators_text(e, terminal));
  return kOk;
}

std::string operator_help() {
  std::string text = "estimate one operator:";
  for (const OperatorForm& f : operator_forms()) text += fmt::format(" {}:{}", f.name, f.arguments);
  return text;
}

}  // namespace

std::vector<Command> estimate_commands() {
  return {
      {"estimate",
       "",
       0,
       0,
       "estimate the time and memory of layers or of one operator",
       "Estimates what every layer of a model costs one device, in the same way as the price of a plan: the "
       "forward and backward times without collectives, the part of the collectives of tensor, expert and "
       "context parallelism that the recipe's overlap does not hide (forward and backward together), the "
       "parameters, and the bytes that are kept between the two passes. Every number says whether it was "
       "measured, interpolated between measurements, or computed by a model. Layers run as in plain PyTorch, "
       "over links at their stated bandwidth, unless --recipe or --compiled says otherwise.",
       {{"--model", "NAME|FILE", "default llama3.1-70b"},
        like_option(),
        {"--accelerator", "NAME", "the accelerator, in 128 nodes of 8 devices"},
        {"--cluster", "NAME|FILE",
         "the cluster over whose levels collectives are priced (default h100-spine-leaf)"},
        calibration_option(),
        {"--recipe", "NAME|FILE",
         "the recipe, which sets kernels, overlap, links, precision and expert imbalance (default plain)"},
        {"--micro-batch", "N", "the number of sequences in a micro-batch (default 1)"},
        {"--sequence", "N",
         "the number of tokens in a sequence, such as 4096 or 128K (default: the model's positions, but at "
         "most 8192)"},
        {"--tensor", "T", "the tensor-parallel degree"},
        {"--sequence-parallel", "on|off",
         "on or off (default: on if the tensor degree is above 1 and divides the positions)"},
        {"--context", "C", "the context-parallel degree"},
        {"--context-method", "METHOD", "ring (default), all_to_all or hybrid"},
        {"--context-inner", "I", "with hybrid: the number of ranks in one all_to_all"},
        {"--expert", "E", "the expert-parallel degree"},
        {"--expert-tensor", "X", "the tensor degree of the experts (default: the tensor degree)"},
        {"--dispatcher", "NAME",
         "how tokens travel to experts: alltoall, deepep or hybridep (default: the recipe's)"},
        {"--recompute", "POLICY",
         "none (default), selective, full, or modules:layernorm+moe_act for a set of modules"},
        {"--precision", "P", precision_words()},
        {"--compiled", "", "fuse element-wise kernels as torch.compile does"},
        {"--mtp", "", "include the modules for multi-token prediction"},
        {"--operators", "", "also show the operators of the most frequent layer"},
        {"--operator", "KIND:SIZES", operator_help()},
        json_option()},
       {{"nest estimate --model llama3.1-8b --accelerator h200 --micro-batch 2 --sequence 4096 --operators",
         "show layers and operators"},
        {"nest estimate --model mixtral-8x7b --cluster h100-spine-leaf --tensor 2 --expert 4 --json",
         "for programs"},
        {"nest estimate --operator matmul:8192,8192,8192 --accelerator h200", "one operator"}},
       run_estimate},
  };
}

}  // namespace nest::cli
