#include "nest/model/drawing.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "nest/base/drawing/graphviz.hpp"
#include "nest/model/describe.hpp"

namespace nest::model {
namespace {

constexpr const char* kPage =
    "  rankdir=TB; compound=true; bgcolor=\"white\"; fontname=\"Helvetica\"; fontsize=14; labeljust=l;\n"
    "  node [shape=box, style=\"rounded,filled\", fillcolor=\"#eaf4fb\", color=\"#57606a\", "
    "fontname=\"Helvetica\", fontsize=11];\n"
    "  edge [color=\"#57606a\", fontname=\"Helvetica\", fontsize=9, arrowsize=0.7];\n";

// Layers drawn as one box: a run of consecutive layers of one type where each feeds only the next of the run.
struct Run {
  std::size_t first;
  std::size_t last;
};

std::vector<Run> runs_of(const std::vector<std::size_t>& kinds, const std::vector<Edge>& edges) {
  std::set<std::pair<std::size_t, std::size_t>> linked;
  for (const Edge& e : edges) linked.emplace(e.from.index(), e.to.index());
  std::vector<Run> runs;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    const bool grows = !runs.empty() && kinds[i] == kinds[runs.back().first] && linked.contains({i - 1, i});
    if (grows) {
      runs.back().last = i;
    } else {
      runs.push_back({i, i});
    }
  }
  return runs;
}

std::string node(const std::string& id, const std::string& label, const char* colour = nullptr) {
  std::string s = "  " + id + " [label=" + dot_quote(label);
  if (colour != nullptr) s += std::string(", fillcolor=\"") + colour + "\"";
  return s + "];\n";
}

// dot_quote escapes backslashes, so lines are joined by real new lines, which DOT strings may hold.
std::string layer_graph(const std::vector<Run>& runs, const std::vector<Edge>& edges,
                        const std::vector<std::string>& names, const std::vector<std::string>& details) {
  std::string dot;
  std::map<std::size_t, std::size_t> run_of;
  for (std::size_t r = 0; r < runs.size(); ++r) {
    for (std::size_t i = runs[r].first; i <= runs[r].last; ++i) run_of[i] = r;
    const std::size_t count = runs[r].last - runs[r].first + 1;
    std::string label = names[runs[r].first];
    if (count > 1) label += " to " + names[runs[r].last] + "\n" + std::to_string(count) + " layers, each:";
    dot +=
        node("L" + std::to_string(r), label + "\n" + details[runs[r].first], count > 1 ? "#cfe8f7" : nullptr);
  }
  std::set<std::pair<std::size_t, std::size_t>> drawn;
  for (const Edge& e : edges) {
    const std::size_t from = run_of[e.from.index()];
    const std::size_t to = run_of[e.to.index()];
    if (from == to || !drawn.emplace(from, to).second) continue;
    dot += "  L" + std::to_string(from) + " -> L" + std::to_string(to) +
           " [label=" + dot_quote(format(e.bytes)) + "];\n";
  }
  return dot;
}

std::string operator_graph(const LayerType& type) {
  std::string dot;
  std::vector<std::string> maker(type.tensors.size());
  for (const TensorIndex i : type.inputs) {
    maker[i] = "in" + std::to_string(i);
    dot +=
        "  " + maker[i] + " [label=" + dot_quote(type.tensor(i).name) + ", shape=plaintext, style=\"\"];\n";
  }
  for (std::size_t o = 0; o < type.operators.size(); ++o) {
    const Operator& op = type.operators[o];
    const std::string id = "O" + std::to_string(o);
    const std::string kind(row_of(op.kind).name);
    std::string label = op.name + (op.name == kind ? "" : "\n" + kind);
    if (const std::int64_t p = type.parameters(op); p > 0)
      label += "\n" + format_count(static_cast<double>(p)) + " parameters";
    if (op.forward_flops.value > 0) label += "\n" + format(op.forward_flops);
    const bool matrix = row_of(op.kind).matrix;
    dot += node(id, label, matrix ? "#fde9c9" : "#eef7ee");
    for (const TensorIndex i : op.inputs) {
      if (maker[i].empty()) continue;
      dot += "  " + maker[i] + " -> " + id + " [label=" + dot_quote(format(type.tensor(i).bytes())) + "];\n";
    }
    for (const TensorIndex i : op.outputs) maker[i] = id;
  }
  return dot;
}

}  // namespace

std::string model_dot(const Model& model) {
  std::vector<std::size_t> kinds;
  std::vector<std::string> names;
  std::vector<std::string> details;
  for (const Layer& layer : model.layers) {
    const LayerType& type = model.types[layer.type];
    kinds.push_back(layer.type);
    names.push_back(layer.name);
    details.push_back(format_count(static_cast<double>(type.parameters())) + " parameters\n" +
                      format(type.forward_flops()));
  }
  const LayerType& typical = typical_layer(model);
  std::string dot = "digraph model {\n" + std::string(kPage);
  dot += "  label=" +
         dot_quote(model.name + ": " + format_count(static_cast<double>(model.parameters())) +
                   " parameters, micro-batch " + std::to_string(model.micro_batch) + ", sequence " +
                   std::to_string(model.sequence)) +
         "; labelloc=t;\n";
  dot += "  subgraph cluster_layers { label=\"layer graph\"; color=\"#d0d7de\";\n";
  dot += layer_graph(runs_of(kinds, model.edges), model.edges, names, details) + "  }\n";
  dot += "  subgraph cluster_operators { label=" +
         dot_quote("operators of one '" + typical.name + "' layer (forward)") + "; color=\"#d0d7de\";\n" +
         operator_graph(typical) + "  }\n}\n";
  return dot;
}

std::string model_dot(const LayerProfile& profile) {
  const ProfileStrategy& s = profile.strategies.front();
  std::vector<std::size_t> kinds;
  std::vector<std::string> names;
  std::vector<std::string> details;
  std::vector<std::string> distinct;
  for (const ProfileLayer& layer : s.layers) {
    const std::string detail = format(layer.parameters) + " of parameters\nforward " + format(layer.forward) +
                               ", backward " + format(layer.backward);
    auto it = std::find(distinct.begin(), distinct.end(), detail);
    if (it == distinct.end()) it = distinct.insert(distinct.end(), detail);
    kinds.push_back(static_cast<std::size_t>(it - distinct.begin()));
    names.push_back(layer.name);
    details.push_back(detail);
  }
  std::string dot = "digraph profile {\n" + std::string(kPage);
  dot += "  label=" + dot_quote(profile.name + ": layer profile, tensor " + std::to_string(s.tensor)) +
         "; labelloc=t;\n";
  return dot + layer_graph(runs_of(kinds, s.edges), s.edges, names, details) + "}\n";
}

}  // namespace nest::model
