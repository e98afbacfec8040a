#include "nest/model/onnx/infer_numbers.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <string_view>
#include <utility>

namespace nest::model {
namespace {

constexpr std::int64_t kMostNumbers = 4'096;

using Unary = double (*)(double);
using Binary = double (*)(double, double);

template <class Function>
struct Row {
  std::string_view op;
  Function of;
};

constexpr std::array<Row<Unary>, 9> kUnary{{
    {"Abs", [](double a) { return std::abs(a); }},
    {"Ceil", [](double a) { return std::ceil(a); }},
    {"Floor", [](double a) { return std::floor(a); }},
    {"Identity", [](double a) { return a; }},
    {"Neg", [](double a) { return -a; }},
    {"Not", [](double a) { return a == 0 ? 1.0 : 0.0; }},
    {"Reciprocal", [](double a) { return 1 / a; }},
    {"Round", [](double a) { return std::nearbyint(a); }},
    {"Sqrt", [](double a) { return std::sqrt(a); }},
}};

constexpr std::array<Row<Binary>, 14> kBinary{{
    {"Add", [](double a, double b) { return a + b; }},
    {"And", [](double a, double b) { return a != 0 && b != 0 ? 1.0 : 0.0; }},
    {"Equal", [](double a, double b) { return a == b ? 1.0 : 0.0; }},
    {"Greater", [](double a, double b) { return a > b ? 1.0 : 0.0; }},
    {"GreaterOrEqual", [](double a, double b) { return a >= b ? 1.0 : 0.0; }},
    {"Less", [](double a, double b) { return a < b ? 1.0 : 0.0; }},
    {"LessOrEqual", [](double a, double b) { return a <= b ? 1.0 : 0.0; }},
    {"Max", [](double a, double b) { return std::max(a, b); }},
    {"Min", [](double a, double b) { return std::min(a, b); }},
    {"Mod", [](double a, double b) { return b == 0 ? 0.0 : a - b * std::floor(a / b); }},
    {"Mul", [](double a, double b) { return a * b; }},
    {"Or", [](double a, double b) { return a != 0 || b != 0 ? 1.0 : 0.0; }},
    {"Pow", [](double a, double b) { return std::pow(a, b); }},
    {"Sub", [](double a, double b) { return a - b; }},
}};

template <class Function, std::size_t N>
const Function* find(const std::array<Row<Function>, N>& rows, std::string_view op) {
  const auto* const at = std::ranges::find_if(rows, [&](const auto& row) { return row.op == op; });
  return at == rows.end() ? nullptr : &at->of;
}

// Sizes of the file such as "to the end" are beyond what a double holds exactly, and stay what they are.
std::int64_t whole_of(double value) {
  if (!(std::abs(value) < 9e18))
    return value < 0 ? std::numeric_limits<std::int64_t>::min() : std::numeric_limits<std::int64_t>::max();
  return static_cast<std::int64_t>(value);
}

class Numbers {
 public:
  Numbers(const InferStep& step, OnnxShapes& values) : step_(step), values_(values) {}

  void run() {
    if (!step_.node().domain.empty() || step_.node().outputs.empty()) return;
    const OnnxValueId made = step_.node().outputs.front();
    if (made == kNoValue || !values_[made].shape || values_[made].elements() > kMostNumbers) return;
    std::optional<OnnxNumbers> numbers = compute(values_[made]);
    if (!numbers || std::cmp_not_equal(numbers->size(), values_[made].elements())) return;
    values_[made].numbers = std::make_shared<const OnnxNumbers>(std::move(*numbers));
  }

 private:
  using Result = std::optional<OnnxNumbers>;
  // One number of the result for each of its elements, from where it comes of the i-th input.
  using Place = std::function<std::int64_t(const std::vector<std::int64_t>&)>;

  Result compute(const OnnxInferred& made) {
    const std::string& op = step_.node().op;
    if (op == "Shape") return shape_of();
    if (op == "Size") return step_.knows(0) ? whole({step_.input(0).elements()}) : std::nullopt;
    if (op == "ConstantOfShape") return filled(made);
    if (op == "Range") return range(made);
    if (op == "Concat") return joined(made);
    if (step_.numbers(0) == nullptr) return std::nullopt;
    if (op == "Cast") return cast(made);
    if (op == "Reshape" || op == "Squeeze" || op == "Unsqueeze" || op == "Flatten") return *step_.numbers(0);
    if (op == "Transpose") return transposed(made);
    if (op == "Expand") return spread(made);
    if (op == "Slice") return sliced(made);
    if (op == "Gather") return gathered(made);
    if (op == "Where") return chosen(made);
    if (op == "ReduceProd" || op == "ReduceSum" || op == "ReduceMax" || op == "ReduceMin") return reduced(op);
    if (op == "Div") return divided(made);
    if (const Unary* unary = find(kUnary, op)) return each(made, *unary);
    if (const Binary* binary = find(kBinary, op)) return pairs(made, *binary);
    return std::nullopt;
  }

  static Result whole(std::vector<std::int64_t> numbers) {
    return OnnxNumbers{false, std::move(numbers), {}};
  }

  // The places of all elements of a shape, in order.
  static void each_place(const OnnxShape& shape,
                         const std::function<void(const std::vector<std::int64_t>&)>& visit) {
    const std::int64_t all = elements_of(shape);
    std::vector<std::int64_t> place(shape.size(), 0);
    for (std::int64_t n = 0; n < all; ++n) {
      visit(place);
      for (std::size_t a = shape.size(); a-- > 0;) {
        if (++place[a] < shape[a]) break;
        place[a] = 0;
      }
    }
  }
  // Where the element of a broadcast value lies in its own.
  static std::int64_t place_in(const OnnxShape& own, const std::vector<std::int64_t>& place) {
    std::int64_t at = 0;
    const std::size_t before = place.size() - own.size();
    for (std::size_t i = 0; i < own.size(); ++i) at = at * own[i] + (own[i] == 1 ? 0 : place[before + i]);
    return at;
  }
  static OnnxNumbers like(const OnnxNumbers& numbers) { return {numbers.are_real, {}, {}}; }
  static void take(OnnxNumbers& out, const OnnxNumbers& from, std::int64_t at) {
    const auto i = static_cast<std::size_t>(at);
    if (from.are_real)
      out.reals.push_back(from.reals[i]);
    else
      out.wholes.push_back(from.wholes[i]);
  }
  static void put(OnnxNumbers& out, double value) {
    if (out.are_real)
      out.reals.push_back(value);
    else
      out.wholes.push_back(whole_of(value));
  }

  Result shape_of() const {
    if (!step_.knows(0)) return std::nullopt;
    const OnnxShape& in = step_.shape(0);
    const auto rank = static_cast<std::int64_t>(in.size());
    const auto bound = [&](std::int64_t at) {
      return std::clamp<std::int64_t>(at < 0 ? at + rank : at, 0, rank);
    };
    const std::int64_t first = bound(step_.node().whole_or("start", 0));
    const std::int64_t last = std::max(first, bound(step_.node().whole_or("end", rank)));
    return whole({in.begin() + first, in.begin() + last});
  }
  Result filled(const OnnxInferred& made) const {
    const OnnxAttribute* given = step_.node().find("value");
    OnnxNumbers out{is_real_type(made.type), {}, {}};
    const bool one =
        given != nullptr && given->tensor && given->tensor->numbers && given->tensor->numbers->size() == 1;
    for (std::int64_t i = 0; i < made.elements(); ++i) put(out, one ? given->tensor->numbers->real(0) : 0);
    return out;
  }
  Result range(const OnnxInferred& made) const {
    const OnnxNumbers* first = step_.numbers(0);
    const OnnxNumbers* by = step_.numbers(2);
    OnnxNumbers out{is_real_type(made.type), {}, {}};
    for (std::int64_t i = 0; i < made.elements(); ++i)
      put(out, first->real(0) + static_cast<double>(i) * by->real(0));
    return out;
  }
  Result joined(const OnnxInferred& made) const {
    if (made.shape->size() != 1) return std::nullopt;
    OnnxNumbers out{is_real_type(made.type), {}, {}};
    for (std::size_t i = 0; i < step_.node().inputs.size(); ++i) {
      const OnnxNumbers* part = step_.numbers(i);
      if (part == nullptr || part->are_real != out.are_real) return std::nullopt;
      for (std::size_t k = 0; k < part->size(); ++k) take(out, *part, static_cast<std::int64_t>(k));
    }
    return out;
  }
  Result cast(const OnnxInferred& made) const {
    const OnnxNumbers& in = *step_.numbers(0);
    if (!is_real_type(made.type) && !is_whole_type(made.type)) return std::nullopt;
    if (in.are_real == is_real_type(made.type) && made.type != kOnnxBool) return in;
    OnnxNumbers out{is_real_type(made.type), {}, {}};
    for (std::size_t i = 0; i < in.size(); ++i) {
      const double value = in.real(i);
      put(out, made.type == kOnnxBool ? static_cast<double>(value != 0) : std::trunc(value));
    }
    if (out.are_real) {
      out.reals.clear();
      for (std::size_t i = 0; i < in.size(); ++i) out.reals.push_back(in.real(i));
    }
    return out;
  }
  Result transposed(const OnnxInferred& made) const {
    const OnnxShape& in = step_.shape(0);
    const OnnxAttribute* perm = step_.node().find("perm");
    std::vector<std::size_t> order;
    order.reserve(in.size());
    for (std::size_t i = 0; i < in.size(); ++i)
      order.push_back(perm != nullptr && !perm->wholes.empty() ? step_.axis(perm->wholes[i], in.size())
                                                               : in.size() - 1 - i);
    return picked(*made.shape, [&](const std::vector<std::int64_t>& place) {
      std::vector<std::int64_t> own(in.size());
      for (std::size_t i = 0; i < order.size(); ++i) own[order[i]] = place[i];
      return place_in(in, own);
    });
  }
  Result spread(const OnnxInferred& made) const {
    return picked(*made.shape, [&](const auto& place) { return place_in(step_.shape(0), place); });
  }
  Result sliced(const OnnxInferred& made) const {
    const OnnxNumbers* first = step_.numbers(1);
    const OnnxNumbers* by = step_.numbers(4);
    const auto one = [](const OnnxNumbers* n) { return n != nullptr && !n->are_real && n->size() == 1; };
    if (step_.shape(0).size() != 1 || !one(first) || (by != nullptr && !one(by))) return std::nullopt;
    const std::int64_t step = by == nullptr ? 1 : by->wholes[0];
    const std::int64_t size = step_.shape(0)[0];
    std::int64_t at = std::max<std::int64_t>(first->wholes[0], -size);
    at = std::clamp<std::int64_t>(at < 0 ? at + size : at, 0, step > 0 ? size : size - 1);
    return picked(*made.shape, [&](const auto& place) { return at + place[0] * step; });
  }
  Result gathered(const OnnxInferred& made) const {
    const OnnxNumbers* places = step_.numbers(1);
    const OnnxShape& in = step_.shape(0);
    if (places == nullptr || places->are_real || in.size() != 1) return std::nullopt;
    OnnxNumbers out = like(*step_.numbers(0));
    for (std::int64_t at : places->wholes) {
      if (at < 0) at += in[0];
      if (at < 0 || at >= in[0])
        step_.fail("it reads element " + std::to_string(at) + " of " + std::to_string(in[0]));
      take(out, *step_.numbers(0), at);
    }
    static_cast<void>(made);
    return out;
  }
  Result picked(const OnnxShape& shape, const Place& from) const {
    const OnnxNumbers& in = *step_.numbers(0);
    OnnxNumbers out = like(in);
    bool inside = true;
    each_place(shape, [&](const std::vector<std::int64_t>& place) {
      const std::int64_t at = from(place);
      inside = inside && at >= 0 && std::cmp_less(at, in.size());
      if (inside) take(out, in, at);
    });
    return inside ? Result(std::move(out)) : std::nullopt;
  }
  Result chosen(const OnnxInferred& made) const {
    const OnnxNumbers* yes = step_.numbers(1);
    const OnnxNumbers* no = step_.numbers(2);
    if (yes == nullptr || no == nullptr || yes->are_real != no->are_real) return std::nullopt;
    OnnxNumbers out = like(*yes);
    each_place(*made.shape, [&](const std::vector<std::int64_t>& place) {
      const bool taken =
          step_.numbers(0)->real(static_cast<std::size_t>(place_in(step_.shape(0), place))) != 0;
      const std::size_t i = taken ? 1 : 2;
      take(out, *step_.numbers(i), place_in(step_.shape(i), place));
    });
    return out;
  }
  Result reduced(const std::string& op) const {
    const OnnxNumbers& in = *step_.numbers(0);
    if (step_.shape(0).size() != 1 || in.size() == 0) return std::nullopt;
    double value = in.real(0);
    for (std::size_t i = 1; i < in.size(); ++i) {
      const double next = in.real(i);
      value = op == "ReduceProd"  ? value * next
              : op == "ReduceSum" ? value + next
              : op == "ReduceMax" ? std::max(value, next)
                                  : std::min(value, next);
    }
    OnnxNumbers out = like(in);
    put(out, value);
    return out;
  }
  Result divided(const OnnxInferred& made) const {
    const bool real = is_real_type(made.type);
    return pairs(made, real ? Binary{[](double a, double b) { return a / b; }}
                            : Binary{[](double a, double b) { return b == 0 ? 0.0 : std::trunc(a / b); }});
  }
  Result each(const OnnxInferred& made, Unary of) const {
    if (step_.node().op == "Identity") return *step_.numbers(0);
    OnnxNumbers out{is_real_type(made.type), {}, {}};
    for (std::size_t i = 0; i < step_.numbers(0)->size(); ++i) put(out, of(step_.numbers(0)->real(i)));
    return out;
  }
  Result pairs(const OnnxInferred& made, Binary of) const {
    const OnnxNumbers* a = step_.numbers(0);
    const OnnxNumbers* b = step_.numbers(1);
    if (a == nullptr || b == nullptr || step_.node().inputs.size() != 2) return std::nullopt;
    OnnxNumbers out{is_real_type(made.type), {}, {}};
    each_place(*made.shape, [&](const std::vector<std::int64_t>& place) {
      put(out, of(a->real(static_cast<std::size_t>(place_in(step_.shape(0), place))),
                  b->real(static_cast<std::size_t>(place_in(step_.shape(1), place)))));
    });
    return out;
  }

  const InferStep& step_;
  OnnxShapes& values_;
};

}  // namespace

void compute_numbers(const InferStep& step, OnnxShapes& values) {
  Numbers(step, values).run();
}

std::optional<double> combine_numbers(std::string_view op, const std::vector<double>& numbers) {
  if (numbers.size() == 1) {
    const Unary* unary = find(kUnary, op);
    return unary == nullptr ? std::nullopt : std::optional((*unary)(numbers[0]));
  }
  if (numbers.size() != 2) return std::nullopt;
  if (op == "Div") return numbers[1] == 0 ? std::nullopt : std::optional(numbers[0] / numbers[1]);
  const Binary* binary = find(kBinary, op);
  return binary == nullptr ? std::nullopt : std::optional((*binary)(numbers[0], numbers[1]));
}

}  // namespace nest::model
