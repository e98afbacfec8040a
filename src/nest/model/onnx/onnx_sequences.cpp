#include "nest/model/onnx/onnx_sequences.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace nest::model {
namespace {

// The single whole number that a constant is.
std::optional<std::int64_t> single(const OnnxTensor& tensor) {
  const bool one = tensor.numbers && !tensor.numbers->are_real && tensor.numbers->wholes.size() == 1;
  return one ? std::optional(tensor.numbers->wholes[0]) : std::nullopt;
}

std::optional<std::int64_t> single(const OnnxNodeText& node) {
  if (node.op != "Constant" || node.attributes.size() != 1) return std::nullopt;
  const OnnxAttribute& a = node.attributes[0];
  if (a.name == "value_int") return a.whole;
  return a.tensor ? single(*a.tensor) : std::nullopt;
}

// Who reads an element of a list, and which.
struct Taken {
  std::size_t node = 0;
  std::int64_t place = 0;
};

}  // namespace

std::vector<OnnxNodeText> without_sequences(std::vector<OnnxNodeText> nodes,
                                            const std::vector<OnnxTensor>& tensors) {
  constexpr std::int64_t kMostParts = 10'000;
  const auto splits = [](const OnnxNodeText& n) {
    return n.op == "SplitToSequence" && n.outputs.size() == 1;
  };
  if (std::ranges::none_of(nodes, splits)) return nodes;
  std::map<std::string, std::int64_t> places;
  for (const OnnxTensor& tensor : tensors) {
    if (const auto n = single(tensor)) places.emplace(tensor.name, *n);
  }
  for (const OnnxNodeText& node : nodes) {
    if (const auto n = single(node); n && node.outputs.size() == 1) places.emplace(node.outputs[0], *n);
  }
  std::map<std::string, std::vector<Taken>> taken;
  std::set<std::string> otherwise;  // lists of which something else is made
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const OnnxNodeText& node = nodes[i];
    for (std::size_t k = 0; k < node.inputs.size(); ++k) {
      const bool at =
          node.op == "SequenceAt" && k == 0 && node.inputs.size() == 2 && node.outputs.size() == 1;
      const auto place = at ? places.find(node.inputs[1]) : places.end();
      if (place != places.end() && place->second >= 0 && place->second < kMostParts)
        taken[node.inputs[0]].push_back({i, place->second});
      else if (k == 0 || node.op != "SequenceAt")
        otherwise.insert(node.inputs[k]);
    }
  }
  std::set<std::size_t> gone;
  for (OnnxNodeText& node : nodes) {
    if (!splits(node) || otherwise.contains(node.outputs[0])) continue;
    const std::string list = node.outputs[0];
    std::map<std::int64_t, std::string> parts;
    std::vector<std::pair<std::size_t, std::string>> again;
    for (const Taken& t : taken[list]) {
      const auto [first, made] = parts.try_emplace(t.place, nodes[t.node].outputs[0]);
      if (made)
        gone.insert(t.node);
      else
        again.emplace_back(t.node, first->second);
    }
    if (parts.empty()) continue;
    // Who takes the same element once more has it under another name.
    for (auto& [other, name] : again)
      nodes[other] = {"Identity", "", {std::move(name)}, nodes[other].outputs, {}};
    node.op = "Split";
    node.outputs.clear();
    for (std::int64_t i = 0; i <= parts.rbegin()->first; ++i) {
      const auto known = parts.find(i);
      node.outputs.push_back(known == parts.end() ? list + "/" + std::to_string(i) : known->second);
    }
  }
  std::vector<OnnxNodeText> out;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (!gone.contains(i)) out.push_back(std::move(nodes[i]));
  }
  return out;
}

}  // namespace nest::model
