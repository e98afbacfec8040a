#include "nest/model/onnx/onnx_functions.hpp"

#include <algorithm>

#include "nest/base/error.hpp"

namespace nest::model {
namespace {

constexpr int kDeepestCalls = 32;

class Inliner {
 public:
  Inliner(std::string file, const OnnxFunctions& functions)
      : file_(std::move(file)), functions_(&functions) {}

  // NOLINTNEXTLINE(misc-no-recursion): functions that call each other deeper than kDeepestCalls are refused
  void add(OnnxNodeText node, int depth) {
    const auto called = functions_->find({node.domain, node.op});
    if (called == functions_->end()) {
      if (out_.size() >= kMostOnnxNodes) fail(node.op, "the graph has more than 300,000 nodes");
      for (const OnnxAttribute& a : node.attributes) {
        numbers_ += a.wholes.size() + a.reals.size();
        if (a.tensor && a.tensor->numbers) numbers_ += a.tensor->numbers->size();
      }
      if (numbers_ > kMostOnnxNumbers) fail(node.op, "calls of functions repeat too many numbers");
      out_.push_back(std::move(node));
      return;
    }
    if (depth >= kDeepestCalls)
      fail(node.op, "functions call each other more than 32 deep: one of them calls itself");
    if (++calls_ > kMostOnnxNodes) fail(node.op, "functions are called more than 300,000 times");
    const OnnxFunction& function = called->second;
    const std::string prefix = "call" + std::to_string(calls_) + "/";
    std::map<std::string, std::string> names;
    for (std::size_t i = 0; i < function.inputs.size(); ++i)
      names[function.inputs[i]] = i < node.inputs.size() ? node.inputs[i] : "";
    for (std::size_t i = 0; i < function.outputs.size(); ++i) {
      const bool wanted = i < node.outputs.size() && !node.outputs[i].empty();
      names.try_emplace(function.outputs[i],
                        wanted ? node.outputs[i] : prefix + "unused" + std::to_string(i));
    }
    const auto renamed = [&](std::vector<std::string>& list) {
      for (std::string& name : list) {
        if (name.empty()) continue;
        const auto known = names.find(name);
        if (known == names.end())
          name.insert(0, prefix);
        else
          name = known->second;
      }
    };
    for (OnnxNodeText own : function.nodes) {
      renamed(own.inputs);
      renamed(own.outputs);
      for (OnnxAttribute& attribute : own.attributes) bind(attribute, node, function);
      add(std::move(own), depth + 1);
    }
    // What comes in and goes out again unchanged.
    for (std::size_t i = 0; i < function.outputs.size() && i < node.outputs.size(); ++i) {
      const bool passed = std::ranges::find(function.inputs, function.outputs[i]) != function.inputs.end();
      if (passed && !node.outputs[i].empty())
        out_.push_back({"Identity", "", {names[function.outputs[i]]}, {node.outputs[i]}, {}});
    }
  }

  std::vector<OnnxNodeText> take() { return std::move(out_); }

 private:
  [[noreturn]] void fail(const std::string& op, const std::string& what) const {
    throw InputError(file_, "function " + quoted_name(op), what);
  }

  static void bind(OnnxAttribute& attribute, const OnnxNodeText& node, const OnnxFunction& function) {
    if (attribute.parameter.empty()) return;
    const std::string wanted = attribute.parameter;
    const auto named = [&](const OnnxAttribute& a) { return a.name == wanted; };
    for (const std::vector<OnnxAttribute>* list : {&node.attributes, &function.defaults}) {
      const auto given = std::ranges::find_if(*list, named);
      if (given == list->end()) continue;
      std::string own = attribute.name;
      attribute = *given;
      attribute.name = std::move(own);
      return;
    }
  }

  std::string file_;
  const OnnxFunctions* functions_;
  std::vector<OnnxNodeText> out_;
  std::size_t calls_ = 0;
  std::size_t numbers_ = 0;
};

}  // namespace

void read_onnx_function(WireReader message, OnnxFunctions& out) {
  OnnxFunction function;
  std::string name;
  std::string domain;
  WireField field;
  while (message.next(field)) {
    if (field.number == 1) name = message.text(field);
    if (field.number == 4) function.inputs.push_back(message.text(field));
    if (field.number == 5) function.outputs.push_back(message.text(field));
    if (field.number == 7) function.nodes.push_back(read_onnx_node(message.inside(field)));
    if (field.number == 10) domain = message.text(field);
    if (field.number == 11) function.defaults.push_back(read_onnx_attribute(message.inside(field)));
    if (function.nodes.size() > kMostOnnxNodes) message.fail("a function has more than 300,000 nodes");
  }
  out.insert_or_assign({domain == "ai.onnx" ? "" : domain, name}, std::move(function));
}

std::vector<OnnxNodeText> without_functions(const std::string& file, std::vector<OnnxNodeText> nodes,
                                            const OnnxFunctions& functions) {
  if (functions.empty()) return nodes;
  Inliner inliner(file, functions);
  for (OnnxNodeText& node : nodes) inliner.add(std::move(node), 0);
  return inliner.take();
}

}  // namespace nest::model
