#include "nest/model/onnx/step_shapes.hpp"

#include <utility>
#include <vector>

namespace nest::model {
namespace {

double amount(const Shape& shape) {
  double n = 1;
  for (const Dim& d : shape) n *= static_cast<double>(d.size);
  return n;
}

}  // namespace

StepShapes::StepShapes(std::int64_t hidden, bool experts)
    : values_{{"x", {{Axis::hidden, hidden}}}}, experts_(experts) {}

std::string StepShapes::add(const StepSpec& s) {
  using K = StepSpec::Kind;
  constexpr double kMost = 1e15;
  std::vector<Shape> in;
  for (const std::string& name : s.from) {
    const auto known = values_.find(name);
    if (known == values_.end()) return "there is no value '" + name + "' for the step " + s.name;
    in.push_back(known->second);
  }
  if (in.empty()) return "the step " + s.name + " reads nothing";
  if (s.to.empty()) return "the step " + s.name + " makes nothing";
  for (const StepSpec::Made& p : s.parameters) {
    if (p.features.empty()) return "a parameter of the step " + s.name + " has no shape";
    weights_ += amount(p.features);
  }
  Shape usual = in[0];
  switch (s.kind) {
    case K::attention: {
      if (in.size() != 3) return "attention reads queries, keys and values";
      for (const Shape& shape : in) {
        if (shape.size() != 2)
          return "queries, keys and values of " + s.name + " have heads and the width of one";
      }
      if (in[0][1].size != in[1][1].size || in[1][0].size != in[2][0].size ||
          in[0][0].size % in[1][0].size != 0)
        return "the heads of " + s.name + " do not go together";
      usual = {in[0][0], in[2][1]};
      break;
    }
    case K::linear:
      for (const StepSpec::Made& m : s.to) {
        const double weight = amount(in[0]) * amount(m.features.empty() ? in[0] : m.features);
        if (weight > kMost) return "the weight of " + s.name + " has more than 10^15 elements";
        weights_ += weight;
      }
      break;
    case K::fold: {
      const double windows = amount(in[0]) * static_cast<double>(s.window > 0 ? s.window : s.count);
      if (windows > kMost) return "the windows of " + s.name + " have more than 10^15 elements";
      usual = {{Axis::other, static_cast<std::int64_t>(windows)}};
      break;
    }
    case K::experts:
      if (!experts_) return "the block of " + s.name + " has no experts";
      break;
    default:
      break;
  }
  const bool own_shape = s.kind == K::linear || s.kind == K::pass || s.kind == K::scan || s.kind == K::take ||
                         s.kind == K::queries || s.kind == K::lookup;
  for (const StepSpec::Made& m : s.to) {
    if (s.kind == K::queries && m.features.empty())
      return "the step " + s.name + " makes rows without a shape";
    values_[m.name] = own_shape && !m.features.empty() ? m.features : usual;
  }
  return "";
}

std::vector<std::string> onnx_special() {
  return {"the operators of its ONNX file, and the values that no shape shows"};
}

}  // namespace nest::model
