#include "nest/model/hub/family_parts.hpp"

#include <array>
#include <optional>
#include <utility>

#include "nest/base/error.hpp"
#include "nest/model/blocks/step_words.hpp"

namespace nest::model {
namespace {

using K = StepSpec::Kind;

constexpr const auto& kKinds = kStepKindWords;
constexpr const auto& kPasses = kStepPassWords;
constexpr const auto& kNorms = kNormWords;
constexpr const auto& kScans = kStepScanWords;
using KindRow = StepKindWord;
using PassRow = StepPassWord;
using NormRow = NormWord;
using ScanRow = StepScanWord;

template <typename Row, std::size_t N>
const Row* row_of(const std::array<Row, N>& rows, std::string_view word) {
  for (const Row& row : rows) {
    if (row.word == word) return &row;
  }
  return nullptr;
}

// The words of a step that are expressions, and what they say of it.
class StepReader {
 public:
  StepReader(Fields& f, std::string part, std::int64_t hidden)
      : f_(f), part_(std::move(part)), hidden_(hidden) {}

  // NOLINTNEXTLINE(misc-no-recursion): parts use other parts, which tests show to end
  void read(const Value& list, const std::string& suffix, std::vector<StepSpec>& out) {
    if (list.as_array() == nullptr) wrong("it is no list of steps");
    for (const Value& step : *list.as_array()) {
      if (const Value* when = step.find("when"); when != nullptr && !is_true(evaluate(*when))) continue;
      if (const Value* used = step.find("use")) {
        const std::int64_t times = number(step, "repeat", 1);
        if (times > kMostLayers) {
          f_.fail(expression_of(*step.find("repeat")),
                  std::to_string(times) + " is more than the " + std::to_string(kMostLayers) +
                      " layers that any model has",
                  Value(times));
        }
        for (std::int64_t i = 0; i < times; ++i) {
          f_.set_name("turn", i);
          bind(step);
          read(part_of(*used), times == 1 ? suffix : suffix + std::to_string(i), out);
        }
        continue;
      }
      out.push_back(step_of(step, suffix));
    }
  }

  [[nodiscard]] const Value& part_of(const Value& name) {
    const std::string* word = name.as_string();
    const auto found = word == nullptr ? f_.family().parts.end() : f_.family().parts.find(*word);
    if (found == f_.family().parts.end()) wrong("there is no part '" + (word == nullptr ? "" : *word) + "'");
    return found->second;
  }

 private:
  [[noreturn]] void wrong(const std::string& what) const {
    throw InputError("data/families", "the part " + part_, what);
  }
  Value evaluate(const Value& v) { return f_.evaluate(expression_of(v)); }
  // The names that a use gives to the steps it uses.
  void bind(const Value& step) {
    const Value* names = step.find("with");
    if (names == nullptr || names->as_object() == nullptr) return;
    for (const auto& [name, value] : *names->as_object()) f_.set_name(name, evaluate(value));
  }
  std::int64_t number(const Value& step, std::string_view key, std::int64_t fallback) {
    const Value* given = step.find(key);
    if (given == nullptr) return fallback;
    return size_of(*given);
  }
  std::int64_t size_of(const Value& given) {
    const Value v = evaluate(given);
    if (v.is_null()) return 0;
    if (const bool* flag = v.as_bool()) return *flag ? 1 : 0;
    if (v.as_int() == nullptr || *v.as_int() < 0 || *v.as_int() > 1'000'000'000'000)
      f_.fail(expression_of(given), "it gives no size for '" + text_of(given) + "'", v);
    return *v.as_int();
  }
  static std::string text_of(const Value& v) {
    return v.as_string() != nullptr ? *v.as_string() : to_json_line(v);
  }

  // "hidden", one expression, or axes by their names: {heads: num_heads, head_dim: 64}.
  Shape shape_of(const Value& given) {
    if (const std::string* word = given.as_string(); word != nullptr && *word == "hidden")
      return {{Axis::hidden, hidden_}};
    const auto* axes = given.as_object();
    if (axes == nullptr) return {dim_of(Axis::other, given)};
    Shape out;
    for (const auto& [name, size] : *axes) {
      std::optional<Axis> axis;
      for (int i = 0; i <= static_cast<int>(Axis::other); ++i) {
        if (name_of(static_cast<Axis>(i)) == name) axis = static_cast<Axis>(i);
      }
      if (!axis) wrong("there is no axis '" + name + "'");
      out.push_back(dim_of(*axis, size));
    }
    return out;
  }
  Dim dim_of(Axis axis, const Value& given) {
    const std::int64_t size = size_of(given);
    if (size < 1) f_.fail(expression_of(given), "it gives 0 for '" + text_of(given) + "'", Value(size));
    return {axis, size};
  }
  std::vector<StepSpec::Made> made_of(const Value& step, std::string_view key) {
    std::vector<StepSpec::Made> out;
    const Value* given = step.find(key);
    if (given == nullptr) return out;
    if (given->as_object() == nullptr) wrong("'" + std::string(key) + "' must be names with shapes");
    for (const auto& [name, shape] : *given->as_object()) out.push_back({name, shape_of(shape)});
    return out;
  }
  static std::vector<std::string> words_of(const Value& v) {
    std::vector<std::string> out;
    if (v.as_string() != nullptr) out.push_back(*v.as_string());
    if (v.as_array() != nullptr) {
      for (const Value& one : *v.as_array()) out.push_back(text_of(one));
    }
    return out;
  }

  StepSpec step_of(const Value& step, const std::string& suffix) {
    StepSpec s;
    const KindRow* row = nullptr;
    const Value* from = nullptr;
    if (step.as_object() == nullptr) wrong("a step is no group of keys");
    for (const auto& [key, value] : *step.as_object()) {
      if (const KindRow* found = row_of(kKinds, key); found != nullptr && row == nullptr) {
        row = found;
        from = &value;
      }
    }
    if (row == nullptr) wrong("a step has no kind that is known");
    s.kind = row->kind;
    s.from = words_of(*from);
    if (s.from.empty()) wrong("a step reads nothing");
    s.to = made_of(step, "to");
    s.parameters = made_of(step, "parameters");
    const Value* as = step.find("as");
    if (as != nullptr) s.to.push_back({text_of(*as), {}});
    if (s.to.empty()) s.to.push_back({s.from.front(), {}});
    s.name = step.find("name") != nullptr ? text_of(*step.find("name"))
                                          : s.to.front().name + "_" + std::string(row->word);
    s.name += suffix;
    if (step.find("name") != nullptr) s.prefix = s.name + ".";
    s.bias = number(step, "bias", 0) > 0;
    s.tied = number(step, "tied", 0) > 0;
    s.shared = number(step, "shared", 0) > 0;
    s.span = number(step, "span", s.kind == K::norm ? 1 : 0);
    s.count = number(step, "count", 1);
    if (s.count < 1) f_.fail(expression_of(*step.find("count")), "a count must be 1 or more");
    s.whole = number(step, "whole", 0) > 0;
    s.flops = number(step, "flops", 0);
    s.causal = number(step, "causal", 1) > 0;
    s.window = number(step, "window", 0);
    if (const Value* kind = step.find("kind")) read_kind(s, evaluate(*kind));
    return s;
  }
  void read_kind(StepSpec& s, const Value& kind) {
    const std::string* word = kind.as_string();
    if (word == nullptr) wrong("the kind of " + s.name + " is no word");
    if (s.kind == K::norm) {
      const NormRow* row = row_of(kNorms, *word);
      if (row == nullptr) wrong("the norm '" + *word + "' is not known");
      s.norm = row->kind;
      return;
    }
    if (s.kind == K::scan) {
      const ScanRow* row = row_of(kScans, *word);
      if (row == nullptr) wrong("the scan '" + *word + "' is not known");
      s.kernel = row->kind;
      return;
    }
    const PassRow* row = row_of(kPasses, *word);
    if (row == nullptr) wrong("the pass '" + *word + "' is not known");
    s.pass = row->kind;
  }

  Fields& f_;
  std::string part_;
  std::int64_t hidden_;
};

}  // namespace

std::vector<StepSpec> steps_of(Fields& f, const std::string& part, std::int64_t hidden) {
  std::vector<StepSpec> out;
  if (part.empty()) return out;
  StepReader reader(f, part, hidden);
  reader.read(reader.part_of(Value(part)), "", out);
  return out;
}

NormKind norm_kind_of(Fields& f, const std::string& field) {
  const std::string word = f.word(field);
  const NormRow* row = row_of(kNorms, word);
  if (row == nullptr) f.fail(field, "the " + field + " '" + word + "' is not known");
  return row->kind;
}

}  // namespace nest::model
