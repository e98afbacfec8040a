#include "nest/model/onnx/onnx_sizes.hpp"

#include <array>
#include <cctype>

#include "nest/base/error.hpp"
#include "nest/base/numbers.hpp"
#include "nest/model/onnx/onnx_messages.hpp"

namespace nest::model {
namespace {

// Sums of products of names and numbers, as exporters write them.
class SizeParser {
 public:
  SizeParser(std::string_view text, const std::map<std::string, std::int64_t>& names)
      : text_(text), names_(&names) {}

  std::optional<std::int64_t> parse() {
    const std::optional<std::int64_t> value = sum(0);
    skip();
    return at_ == text_.size() && value && *value >= 0 && *value <= kLongestOnnxAxis ? value : std::nullopt;
  }

 private:
  using Size = std::optional<std::int64_t>;
  static constexpr int kDeepest = 64;

  void skip() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool take(std::string_view word) {
    skip();
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }
  static Size within(double value) {
    if (!(value >= -1e15 && value <= 1e15)) return std::nullopt;
    return static_cast<std::int64_t>(value);
  }

  // NOLINTNEXTLINE(misc-no-recursion): no deeper than kDeepest
  Size sum(int depth) {
    Size left = product(depth);
    while (left) {
      const bool plus = take("+");
      if (!plus && !take("-")) return left;
      const Size right = product(depth);
      if (!right) return std::nullopt;
      left = within(static_cast<double>(*left) + static_cast<double>(plus ? *right : -*right));
    }
    return left;
  }
  // NOLINTNEXTLINE(misc-no-recursion): no deeper than kDeepest
  Size product(int depth) {
    Size left = atom(depth);
    while (left) {
      const bool divide = take("//") || take("/");
      if (!divide && !take("*")) return left;
      const Size right = atom(depth);
      if (!right || (divide && *right == 0)) return std::nullopt;
      left = divide ? Size(*left / *right) : within(static_cast<double>(*left) * static_cast<double>(*right));
    }
    return left;
  }
  // NOLINTNEXTLINE(misc-no-recursion): no deeper than kDeepest
  Size atom(int depth) {
    skip();
    if (depth > kDeepest || at_ >= text_.size()) return std::nullopt;
    if (take("(")) {
      const Size inner = sum(depth + 1);
      return take(")") ? inner : std::nullopt;
    }
    const std::size_t begin = at_;
    const auto part_of_word = [&] {
      const auto c = static_cast<unsigned char>(text_[at_]);
      return std::isalnum(c) != 0 || c == '_' || c == '.';
    };
    while (at_ < text_.size() && part_of_word()) ++at_;
    const std::string word(text_.substr(begin, at_ - begin));
    if (word.empty()) return std::nullopt;
    if (const Size number = parse_whole(word)) return number;
    const auto known = names_->find(word);
    return known == names_->end() ? std::nullopt : Size(known->second);
  }

  std::string_view text_;
  const std::map<std::string, std::int64_t>* names_;
  std::size_t at_ = 0;
};

}  // namespace

std::optional<std::int64_t> evaluate_size(std::string_view text,
                                          const std::map<std::string, std::int64_t>& names) {
  constexpr std::size_t kLongest = 400;
  return text.size() > kLongest ? std::nullopt : SizeParser(text, names).parse();
}

OnnxSizes::OnnxSizes(const OnnxGraph& graph, const std::map<std::string, std::int64_t>& given)
    : given_(given) {
  for (const OnnxDeclared& input : graph.inputs) {
    std::vector<Axis> axes;
    axes.reserve(input.dims.size());
    for (std::size_t i = 0; i < input.dims.size(); ++i) axes.push_back(axis_of(graph, input, i));
    inputs_.push_back(std::move(axes));
  }
  bool dynamic = false;
  for (const std::vector<Axis>& axes : inputs_) {
    for (const Axis& a : axes) dynamic = dynamic || a.role == Role::batch;
  }
  // The first input with axes says how many sequences stand beside each other.
  for (const std::vector<Axis>& axes : inputs_) {
    if (dynamic || axes.empty() || fixed_batch_) continue;
    fixed_batch_ = axes.front().size;
  }
}

OnnxSizes::Axis OnnxSizes::axis_of(const OnnxGraph& graph, const OnnxDeclared& input, std::size_t at) {
  const OnnxDim& dim = input.dims[at];
  const std::string& own = graph.values[input.value];
  if (dim.size > 0 && dim.name.empty()) return {Role::fixed, dim.size};
  if (const auto said = given_.find(dim.name); said != given_.end() && !dim.name.empty())
    return {Role::fixed, said->second};
  if (const auto known = names_.find(dim.name); known != names_.end() && !dim.name.empty())
    return known->second;
  const bool tokens = is_whole_type(input.type) && input.dims.size() == 2;
  Axis axis;
  // Training keeps no keys and values of former tokens.
  const bool cache = has_part(own, {"past", "cache"});
  const bool named_sequence = has_part(dim.name, {"seq", "length", "token"});
  if ((at == 0 && !named_sequence) || has_part(dim.name, {"batch", "bsz"})) {
    axis.role = Role::batch;
  } else if (cache || (has_part(dim.name, {"past"}) && !tokens)) {
    axis = {Role::fixed, 0};
  } else if ((tokens && at == 1) || named_sequence) {
    axis.role = Role::sequence;
    has_sequence_ = true;
  } else {
    const std::string name = dim.name.empty() ? "axis " + std::to_string(at) : quoted_name(dim.name);
    throw InputError(graph.file, "input " + quoted_name(own),
                     name + " has no size, and is neither the batch nor the sequence",
                     dim.name.empty() ? "export the model with a size for it"
                                      : "say it behind the file's name: model.onnx?" + dim.name + "=1500");
  }
  if (!dim.name.empty()) names_.emplace(dim.name, axis);
  return axis;
}

std::vector<std::int64_t> OnnxSizes::shape(std::size_t input, const OnnxRun& run) const {
  std::vector<std::int64_t> out;
  for (const Axis& a : inputs_[input]) {
    out.push_back(a.role == Role::fixed ? a.size : a.role == Role::batch ? run.batch : run.sequence);
  }
  return out;
}

std::optional<std::vector<std::int64_t>> OnnxSizes::shape(const OnnxDeclared& declared,
                                                          const OnnxRun& run) const {
  if (!declared.has_shape) return std::nullopt;
  std::map<std::string, std::int64_t> names = given_;
  for (const auto& [name, a] : names_) {
    names.emplace(name, a.role == Role::fixed ? a.size : a.role == Role::batch ? run.batch : run.sequence);
  }
  std::vector<std::int64_t> out;
  for (const OnnxDim& dim : declared.dims) {
    std::optional<std::int64_t> size;
    if (!dim.name.empty())
      size = evaluate_size(dim.name, names);
    else if (dim.size > 0)
      size = dim.size;
    if (!size) return std::nullopt;
    out.push_back(*size);
  }
  return out;
}

}  // namespace nest::model
