// Features of the values that steps make, followed step by step: whether each step finds what it needs.
//
//   StepShapes shapes(768, false);
//   shapes.add(step)   -> "": all is well; else what is wrong, as one sentence
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "nest/model/blocks/spec.hpp"

namespace nest::model {

class StepShapes {
 public:
  StepShapes(std::int64_t hidden, bool experts);
  void set(const std::string& name, Shape features) { values_[name] = std::move(features); }
  [[nodiscard]] std::string add(const StepSpec& step);
  // Elements of all weights so far.
  [[nodiscard]] double weights() const { return weights_; }

 private:
  std::map<std::string, Shape> values_;
  bool experts_;
  double weights_ = 0;
};

// What exports cannot carry of a model that came from an ONNX file.
[[nodiscard]] std::vector<std::string> onnx_special();

}  // namespace nest::model
