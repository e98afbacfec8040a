#include "nest/model/hub/family_parts.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "nest/base/document/mismatch.hpp"
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
      : f_(f), part_(std::move(part)), hidden_(hidden), open_{part_} {}

  // NOLINTNEXTLINE(misc-no-recursion): parts use other parts, none of them itself
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
        const Value& part = part_of(*used);
        if (std::find(open_.begin(), open_.end(), *used->as_string()) != open_.end())
          wrong("it is used by the part " + *used->as_string() + ", which it uses");
        open_.push_back(*used->as_string());
        for (std::int64_t i = 0; i < times; ++i) {
          count_turn(step);
          f_.set_name("turn", i);
          bind(step);
          read(part, times == 1 ? suffix : suffix + std::to_string(i), out);
        }
        open_.pop_back();
        continue;
      }
      count_turn(step);
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
    throw InputError(f_.family().file, "the part " + part_, what);
  }
  // Repeats in each other multiply.
  void count_turn(const Value& step) {
    constexpr std::int64_t kMostSteps = 200'000;
    if (++turns_ <= kMostSteps) return;
    const Value* repeat = step.find("repeat");
    const std::string what = " would have more than " + format_digits(kMostSteps) + " steps";
    if (repeat != nullptr && !expression_of(*repeat).names().empty())
      f_.fail(expression_of(*repeat), "the part " + part_ + what);
    wrong("it" + what);
  }
  Value evaluate(const Value& v) { return f_.evaluate(expression_of(v)); }
  // The names that a use gives to the steps it uses.
  void bind(const Value& step) {
    const Value* names = step.find("with");
    if (names == nullptr || names->as_object() == nullptr) return;
    for (const auto& [name, value] : *names->as_object()) {
      Expression made_of = expression_of(value);
      Value made = f_.evaluate(made_of);
      f_.set_name(name, std::move(made), std::move(made_of));
    }
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
    if (v.as_int() == nullptr) f_.fail(expression_of(given), "a size is expected, not " + quoted(v), v);
    constexpr std::int64_t kMost = 1'000'000'000'000;  // of the work of a scan
    if (*v.as_int() < 0 || *v.as_int() > kMost) refuse_size(given, *v.as_int());
    return *v.as_int();
  }
  [[noreturn]] void refuse_size(const Value& given, std::int64_t size) {
    f_.fail(expression_of(given),
            "a size of " + std::to_string(size) + " is outside 1 to " + std::to_string(kSizeRange.most),
            Value(size));
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
      const std::optional<Axis> axis = axis_named(name);
      if (!axis) wrong("there is no axis '" + name + "'");
      out.push_back(dim_of(*axis, size));
    }
    return out;
  }
  Dim dim_of(Axis axis, const Value& given) {
    const std::int64_t size = size_of(given);
    if (size < kSizeRange.least || size > kSizeRange.most) refuse_size(given, size);
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
    s.uncounted = s.flops - number(step, "counted", s.flops);
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
  std::vector<std::string> open_;  // parts that use each other, the outermost first
  std::int64_t turns_ = 0;
};

}  // namespace

std::vector<StepSpec> steps_of(Fields& f, const std::string& part, std::int64_t hidden) {
  std::vector<StepSpec> out;
  if (part.empty()) return out;
  StepReader reader(f, part, hidden);
  reader.read(reader.part_of(Value(part)), "", out);
  return out;
}

bool is_step_kind(const std::string& word) {
  return row_of(kKinds, word) != nullptr;
}

std::vector<std::string> step_kinds() {
  std::vector<std::string> out;
  out.reserve(kKinds.size());
  for (const KindRow& row : kKinds) out.emplace_back(row.word);
  return out;
}

std::optional<Axis> axis_named(const std::string& name) {
  for (int i = 0; i <= static_cast<int>(Axis::other); ++i) {
    if (name_of(static_cast<Axis>(i)) == name) return static_cast<Axis>(i);
  }
  return std::nullopt;
}

NormKind norm_kind_of(Fields& f, const std::string& field) {
  const std::string word = f.word(field);
  const NormRow* row = row_of(kNorms, word);
  if (row == nullptr) f.fail(field, "the " + field + " '" + word + "' is not known");
  return row->kind;
}

}  // namespace nest::model
