#include "nest/model/onnx/onnx_file.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "nest/base/error.hpp"
#include "nest/model/onnx/onnx_functions.hpp"
#include "nest/model/onnx/onnx_messages.hpp"
#include "nest/model/onnx/onnx_sequences.hpp"

namespace nest::model {
namespace {

constexpr std::size_t kMostNameBytes = 1U << 28U;
constexpr double kMostElements = 1e17;

class GraphReader {
 public:
  explicit GraphReader(ByteSource& bytes) : bytes_(&bytes) { graph_.file = bytes.name(); }

  OnnxGraph read() {
    refuse_other_files();
    WireReader message(*bytes_);
    WireField field;
    bool found = false;
    while (message.next(field)) {
      if (field.number == 7) {
        read_graph(message.inside(field));
        found = true;
      }
      if (field.number == 8) read_opset(message.inside(field));
      if (field.number == 25) read_onnx_function(message.inside(field), functions_);
    }
    if (!found) {
      throw InputError(graph_.file, "", "has no graph, so that it is no ONNX model",
                       "weights beside an ONNX model are no model of their own");
    }
    assemble();
    return std::move(graph_);
  }

 private:
  [[noreturn]] void fail(const std::string& place, const std::string& what,
                         const std::string& hint = {}) const {
    throw InputError(graph_.file, place, what, hint);
  }

  // What people have in place of a file that was not fetched whole.
  void refuse_other_files() const {
    constexpr std::string_view kPointer = "version https://git-lfs.github.com/";
    if (bytes_->size() == 0) fail("", "is empty, so that it is no ONNX model");
    if (bytes_->size() > kPointer.size() && bytes_->read(0, kPointer.size()) == kPointer)
      fail("", "is a pointer of Git LFS and not the file itself", "'git lfs pull' fetches the file");
  }

  void read_opset(WireReader message) {
    std::string domain;
    std::int64_t version = 0;
    WireField field;
    while (message.next(field)) {
      if (field.number == 1) domain = message.text(field);
      if (field.number == 2) version = message.whole(field);
    }
    if (domain.empty() || domain == "ai.onnx") graph_.opset = version;
  }

  void read_graph(WireReader message) {
    WireField field;
    while (message.next(field)) {
      switch (field.number) {
        case 1:
          nodes_.push_back(read_onnx_node(message.inside(field)));
          break;
        case 5:
          add_tensor(read_onnx_tensor(message.inside(field)));
          break;
        case 15:
          add_tensor(read_sparse_tensor(message.inside(field)));
          break;
        case 11:
          inputs_.push_back(read_onnx_declared(message.inside(field)));
          break;
        case 12:
          outputs_.push_back(read_onnx_declared(message.inside(field)));
          break;
        case 13:
          declared_.push_back(read_onnx_declared(message.inside(field)));
          break;
        default:
          break;
      }
      if (std::max({nodes_.size(), graph_.tensors.size(), declared_.size(), inputs_.size(),
                    outputs_.size()}) > kMostOnnxNodes)
        message.fail("the graph has more than 300,000 nodes, tensors or declared shapes");
    }
  }

  void add_tensor(OnnxTensor tensor) {
    if (tensor.numbers) numbers_ += tensor.numbers->size();
    if (numbers_ > kMostOnnxNumbers) tensor.numbers.reset();
    elements_ += static_cast<double>(tensor.elements());
    if (elements_ > kMostElements) fail("", "its tensors have more than 10^17 elements, which no model has");
    graph_.tensors.push_back(std::move(tensor));
  }

  OnnxValueId value_of(const std::string& name) {
    if (name.empty()) return kNoValue;
    const auto [at, made] = ids_.try_emplace(name, static_cast<OnnxValueId>(graph_.values.size()));
    if (made) {
      name_bytes_ += name.size();
      if (name_bytes_ > kMostNameBytes) fail("", "its names have more than 256 MiB");
      graph_.values.push_back(name);
    }
    return at->second;
  }

  // Who makes a value: nobody twice.
  void made(OnnxValueId value) {
    if (value == kNoValue) return;
    if (made_.size() <= value) made_.resize(value + 1, false);
    if (made_[value]) fail("value " + quoted_name(graph_.values[value]), "it is made twice");
    made_[value] = true;
  }

  void assemble() {
    for (const OnnxTensor& tensor : graph_.tensors) {
      graph_.tensor_values.push_back(value_of(tensor.name));
      made(graph_.tensor_values.back());
    }
    for (OnnxDeclaredText& input : inputs_) {
      input.declared.value = value_of(input.name);
      // Old files list their initializers among the inputs.
      const OnnxValueId value = input.declared.value;
      if (value == kNoValue || (value < made_.size() && made_[value])) continue;
      made(value);
      graph_.inputs.push_back(std::move(input.declared));
    }
    std::vector<OnnxNodeText> nodes =
        without_functions(graph_.file, std::exchange(nodes_, {}), std::exchange(functions_, {}));
    for (OnnxNodeText& node : without_sequences(std::move(nodes), graph_.tensors)) add_node(std::move(node));
    for (auto* list : {&outputs_, &declared_}) {
      for (OnnxDeclaredText& text : *list) {
        text.declared.value = value_of(text.name);
        (list == &outputs_ ? graph_.outputs : graph_.declared).push_back(std::move(text.declared));
      }
    }
    made_.resize(graph_.values.size(), false);
    check_made();
    sort();
  }

  void add_node(OnnxNodeText text) {
    if (text.op == "Constant" && text.domain.empty() && text.outputs.size() == 1)
      return add_constant(std::move(text));
    OnnxNode node;
    for (const std::string& name : text.inputs) node.inputs.push_back(value_of(name));
    for (const std::string& name : text.outputs) {
      node.outputs.push_back(value_of(name));
      made(node.outputs.back());
    }
    node.op = std::move(text.op);
    node.domain = std::move(text.domain);
    node.attributes = std::move(text.attributes);
    graph_.nodes.push_back(std::move(node));
  }

  void add_constant(OnnxNodeText text) {
    OnnxTensor tensor;
    for (OnnxAttribute& a : text.attributes) {
      const bool real = a.name == "value_float" || a.name == "value_floats";
      if (a.tensor) tensor = std::move(*a.tensor);
      if (!a.name.starts_with("value_")) continue;
      tensor.type = real ? kOnnxFloat : kOnnxInt64;
      const bool list = a.name == "value_floats" || a.name == "value_ints";
      OnnxNumbers numbers;
      numbers.are_real = real;
      if (list) {
        numbers.wholes = std::move(a.wholes);
        numbers.reals = std::move(a.reals);
        tensor.dims = {static_cast<std::int64_t>(numbers.size())};
      } else if (real) {
        numbers.reals = {a.real};
      } else {
        numbers.wholes = {a.whole};
      }
      tensor.numbers = std::move(numbers);
    }
    const OnnxValueId value = value_of(text.outputs.front());
    made(value);
    if (value == kNoValue) return;
    tensor.name = text.outputs.front();
    add_tensor(std::move(tensor));
    graph_.tensor_values.push_back(value);
  }

  void check_made() const {
    for (const OnnxNode& node : graph_.nodes) {
      for (const OnnxValueId value : node.inputs) {
        if (value == kNoValue || made_[value]) continue;
        fail("operator " + quoted_name(node.op),
             "it reads " + quoted_name(graph_.values[value]) + ", which nothing makes");
      }
    }
    if (graph_.outputs.empty()) fail("", "its graph has no outputs");
    for (const OnnxDeclared& output : graph_.outputs) {
      if (output.value == kNoValue || !made_[output.value]) {
        fail("output " + quoted_name(output.value == kNoValue ? "" : graph_.values[output.value]),
             "nothing makes it");
      }
    }
  }

  // The nodes in an order in which they can run: that of the file where it is one.
  void sort() {
    std::vector<std::uint32_t> waits(graph_.nodes.size(), 0);
    std::vector<std::uint32_t> maker(graph_.values.size(), kNoValue);
    for (std::uint32_t i = 0; i < graph_.nodes.size(); ++i) {
      for (const OnnxValueId v : graph_.nodes[i].outputs) {
        if (v != kNoValue) maker[v] = i;
      }
    }
    std::vector<std::vector<std::uint32_t>> users(graph_.nodes.size());
    std::set<std::uint32_t> ready;
    for (std::uint32_t i = 0; i < graph_.nodes.size(); ++i) {
      for (const OnnxValueId v : graph_.nodes[i].inputs) {
        if (v == kNoValue || maker[v] == kNoValue) continue;
        users[maker[v]].push_back(i);
        ++waits[i];
      }
      if (waits[i] == 0) ready.insert(i);
    }
    std::vector<OnnxNode> sorted;
    sorted.reserve(graph_.nodes.size());
    while (!ready.empty()) {
      const std::uint32_t i = *ready.begin();
      ready.erase(ready.begin());
      for (const std::uint32_t user : users[i]) {
        if (--waits[user] == 0) ready.insert(user);
      }
      sorted.push_back(std::move(graph_.nodes[i]));
    }
    if (sorted.size() != graph_.nodes.size()) {
      const auto in_cycle = std::ranges::find_if(waits, [](std::uint32_t n) { return n > 0; });
      const OnnxNode& node = graph_.nodes[static_cast<std::size_t>(in_cycle - waits.begin())];
      fail("operator " + quoted_name(node.op), "it depends on its own result: the graph has a cycle");
    }
    graph_.nodes = std::move(sorted);
  }

  ByteSource* bytes_;
  OnnxGraph graph_;
  OnnxFunctions functions_;
  std::vector<OnnxNodeText> nodes_;
  std::vector<OnnxDeclaredText> inputs_;
  std::vector<OnnxDeclaredText> outputs_;
  std::vector<OnnxDeclaredText> declared_;
  std::unordered_map<std::string, OnnxValueId> ids_;
  std::vector<bool> made_;
  std::size_t numbers_ = 0;
  std::size_t name_bytes_ = 0;
  double elements_ = 0;
};

}  // namespace

OnnxGraph read_onnx_graph(ByteSource& bytes) {
  return GraphReader(bytes).read();
}

}  // namespace nest::model
