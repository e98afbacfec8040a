#include "nest/model/onnx/mask.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "nest/model/onnx/infer_numbers.hpp"

namespace nest::model {
namespace {

constexpr int kDeepest = 200;
constexpr std::int64_t kMostWork = 20'000;
constexpr std::array<std::string_view, 6> kPassed{"Cast",    "CastLike", "Identity",
                                                  "Dropout", "IsNaN",    "IsInf"};
constexpr std::array<std::string_view, 4> kReshaped{"Reshape", "Squeeze", "Unsqueeze", "Flatten"};

// A number as a place; none where it is beyond every axis.
std::optional<std::int64_t> place_of(std::optional<double> number) {
  constexpr double kMost = 1e15;
  if (!number || !(std::abs(*number) < kMost)) return std::nullopt;
  return static_cast<std::int64_t>(*number);
}

template <std::size_t N>
bool is_one(const std::array<std::string_view, N>& words, std::string_view op) {
  return std::ranges::find(words, op) != words.end();
}

}  // namespace

MaskReader::MaskReader(const OnnxGraph& graph, const OnnxShapes& shapes)
    : graph_(&graph),
      shapes_(&shapes),
      maker_(graph.values.size(), kNoValue),
      tensor_(graph.values.size(), kNoValue),
      input_(graph.values.size(), kNoValue) {
  for (std::uint32_t i = 0; i < graph.nodes.size(); ++i) {
    for (const OnnxValueId v : graph.nodes[i].outputs) {
      if (v != kNoValue) maker_[v] = i;
    }
  }
  for (std::uint32_t i = 0; i < graph.tensors.size(); ++i) {
    if (graph.tensor_values[i] != kNoValue) tensor_[graph.tensor_values[i]] = i;
  }
  for (std::uint32_t i = 0; i < graph.inputs.size(); ++i) input_[graph.inputs[i].value] = i;
}

std::optional<double> MaskReader::element(OnnxValueId value, const std::vector<std::int64_t>& place) {
  left_ = kMostWork;
  return broadcast_at(value, place, 0);
}

// NOLINTNEXTLINE(misc-no-recursion): no deeper than kDeepest
MaskReader::Number MaskReader::at(OnnxValueId value, const Place& place, int depth) {
  if (value == kNoValue || depth > kDeepest || --left_ < 0) return std::nullopt;
  const OnnxInferred& known = (*shapes_)[value];
  if (!known.shape || known.shape->size() != place.size()) return std::nullopt;
  for (std::size_t i = 0; i < place.size(); ++i) {
    if (place[i] < 0 || place[i] >= (*known.shape)[i]) return std::nullopt;
  }
  if (tensor_[value] != kNoValue) return of_tensor(tensor_[value], place);
  if (known.numbers) {
    std::int64_t flat = 0;
    for (std::size_t i = 0; i < place.size(); ++i) flat = flat * (*known.shape)[i] + place[i];
    return known.numbers->real(static_cast<std::size_t>(flat));
  }
  // A mask of whole numbers or truth values says 1 where there is a token, and what is added to scores 0.
  if (input_[value] != kNoValue) return is_real_type(known.type) && place.size() > 2 ? 0.0 : 1.0;
  return of_node(graph_->nodes[maker_[value]], value, place, depth + 1);
}

MaskReader::Number MaskReader::of_tensor(std::size_t index, const Place& place) const {
  const OnnxTensor& tensor = graph_->tensors[index];
  if (!tensor.numbers) return is_real_type(tensor.type) ? Number(0.0) : std::nullopt;
  std::int64_t flat = 0;
  for (std::size_t i = 0; i < place.size(); ++i) flat = flat * tensor.dims[i] + place[i];
  if (tensor.two_rows) {
    const std::int64_t size = tensor.dims.back();
    const std::int64_t row = place[place.size() - 2];
    if (row != 0 && row != size - 1) return std::nullopt;
    flat = (row == 0 ? 0 : size) + place.back();
  }
  return tensor.numbers->real(static_cast<std::size_t>(flat));
}

// Of a value that is broadcast: its last axes are the last ones of the place.
// NOLINTNEXTLINE(misc-no-recursion): no deeper than kDeepest
MaskReader::Number MaskReader::broadcast_at(OnnxValueId value, const Place& place, int depth) {
  if (value == kNoValue || !(*shapes_)[value].shape) return std::nullopt;
  const OnnxShape& shape = *(*shapes_)[value].shape;
  if (shape.size() > place.size()) {
    Place longer(shape.size() - place.size(), 0);
    longer.insert(longer.end(), place.begin(), place.end());
    return at(value, longer, depth);
  }
  Place own(place.end() - static_cast<std::ptrdiff_t>(shape.size()), place.end());
  for (std::size_t i = 0; i < own.size(); ++i) own[i] = shape[i] == 1 ? 0 : own[i];
  return at(value, own, depth);
}

// NOLINTNEXTLINE(misc-no-recursion): no deeper than kDeepest
MaskReader::Number MaskReader::of_node(const OnnxNode& node, OnnxValueId value, const Place& place,
                                       int depth) {
  const std::string& op = node.op;
  const auto input = [&](std::size_t i) { return node.reads(i) ? node.inputs[i] : kNoValue; };
  if (!node.domain.empty()) return std::nullopt;
  if (op == "IsNaN" || op == "IsInf") return 0.0;
  if (is_one(kPassed, op) || op == "Expand") {
    const Number n = broadcast_at(input(0), place, depth);
    return n && (*shapes_)[value].type == kOnnxBool ? Number(*n != 0 ? 1.0 : 0.0) : n;
  }
  if (is_one(kReshaped, op)) return reshaped(node, value, place, depth);
  if (op == "Transpose") {
    const OnnxAttribute* perm = node.find("perm");
    Place own(place.size());
    for (std::size_t i = 0; i < place.size(); ++i) {
      const bool given = perm != nullptr && perm->wholes.size() == place.size();
      const std::int64_t to = given ? perm->wholes[i] : static_cast<std::int64_t>(place.size() - 1 - i);
      own[static_cast<std::size_t>(to < 0 ? to + static_cast<std::int64_t>(place.size()) : to)] = place[i];
    }
    return at(input(0), own, depth);
  }
  if (op == "Range") {
    const Number first = broadcast_at(input(0), {}, depth);
    const Number by = broadcast_at(input(2), {}, depth);
    return first && by ? Number(*first + *by * static_cast<double>(place[0])) : std::nullopt;
  }
  if (op == "ConstantOfShape") {
    const OnnxAttribute* given = node.find("value");
    const bool one =
        given != nullptr && given->tensor && given->tensor->numbers && given->tensor->numbers->size() == 1;
    return one ? given->tensor->numbers->real(0) : 0.0;
  }
  if (op == "Trilu") {
    const Number k = node.reads(1) ? broadcast_at(input(1), {}, depth) : Number(0.0);
    if (!k || place.size() < 2) return std::nullopt;
    const auto beyond = static_cast<double>(place.back() - place[place.size() - 2]) - *k;
    const bool upper = node.whole_or("upper", 1) != 0;
    return (upper ? beyond >= 0 : beyond <= 0) ? at(input(0), place, depth) : 0.0;
  }
  if (op == "Where") {
    const Number chosen = broadcast_at(input(0), place, depth);
    return chosen ? broadcast_at(input(*chosen != 0 ? 1 : 2), place, depth) : std::nullopt;
  }
  if (op == "Gather") return gathered(node, place, depth);
  if (op == "GatherND") return gathered_nd(node, place, depth);
  if (op == "Slice") return sliced(node, place, depth);
  if (op == "Concat") return joined(node, place, depth);
  if (op == "CumSum") return summed(node, place, depth);
  return combined(node, place, depth);
}

// NOLINTNEXTLINE(misc-no-recursion): no deeper than kDeepest
MaskReader::Number MaskReader::reshaped(const OnnxNode& node, OnnxValueId value, const Place& place,
                                        int depth) {
  const OnnxInferred& from = (*shapes_)[node.inputs[0]];
  if (!from.shape || from.elements() != (*shapes_)[value].elements()) return std::nullopt;
  std::int64_t flat = 0;
  for (std::size_t i = 0; i < place.size(); ++i) flat = flat * (*(*shapes_)[value].shape)[i] + place[i];
  Place own(from.shape->size());
  for (std::size_t i = own.size(); i-- > 0;) {
    const std::int64_t size = std::max<std::int64_t>(1, (*from.shape)[i]);
    own[i] = flat % size;
    flat /= size;
  }
  return at(node.inputs[0], own, depth);
}

// NOLINTNEXTLINE(misc-no-recursion): no deeper than kDeepest
MaskReader::Number MaskReader::gathered(const OnnxNode& node, const Place& place, int depth) {
  const OnnxInferred& from = (*shapes_)[node.inputs[0]];
  const OnnxInferred& places = (*shapes_)[node.inputs[1]];
  if (!from.shape || !places.shape || from.shape->empty()) return std::nullopt;
  const auto rank = static_cast<std::int64_t>(from.shape->size());
  std::int64_t axis = node.whole_or("axis", 0);
  if (axis < 0) axis += rank;
  const auto many = static_cast<std::ptrdiff_t>(places.shape->size());
  if (axis < 0 || axis >= rank || axis + many > static_cast<std::ptrdiff_t>(place.size()))
    return std::nullopt;
  const Place which(place.begin() + axis, place.begin() + axis + many);
  const std::optional<std::int64_t> index = place_of(at(node.inputs[1], which, depth));
  if (!index) return std::nullopt;
  const std::int64_t size = (*from.shape)[static_cast<std::size_t>(axis)];
  Place own(place.begin(), place.begin() + axis);
  own.push_back(*index + (*index < 0 ? size : 0));
  own.insert(own.end(), place.begin() + axis + many, place.end());
  return at(node.inputs[0], own, depth);
}

// NOLINTNEXTLINE(misc-no-recursion): no deeper than kDeepest
MaskReader::Number MaskReader::gathered_nd(const OnnxNode& node, const Place& place, int depth) {
  const OnnxInferred& places = (*shapes_)[node.inputs[1]];
  if (!places.shape || places.shape->empty() || node.whole_or("batch_dims", 0) != 0) return std::nullopt;
  const std::size_t before = places.shape->size() - 1;
  if (place.size() < before) return std::nullopt;
  Place own;
  for (std::int64_t i = 0; i < places.shape->back(); ++i) {
    Place which(place.begin(), place.begin() + static_cast<std::ptrdiff_t>(before));
    which.push_back(i);
    const std::optional<std::int64_t> index = place_of(at(node.inputs[1], which, depth));
    if (!index) return std::nullopt;
    own.push_back(*index);
  }
  own.insert(own.end(), place.begin() + static_cast<std::ptrdiff_t>(before), place.end());
  return at(node.inputs[0], own, depth);
}

// NOLINTNEXTLINE(misc-no-recursion): no deeper than kDeepest
MaskReader::Number MaskReader::sliced(const OnnxNode& node, const Place& place, int depth) {
  const OnnxInferred& from = (*shapes_)[node.inputs[0]];
  const auto list = [&](std::size_t i) {
    return node.reads(i) ? (*shapes_)[node.inputs[i]].numbers.get() : nullptr;
  };
  const OnnxNumbers* starts = list(1);
  const OnnxNumbers* axes = list(3);
  const OnnxNumbers* steps = list(4);
  if (!from.shape || starts == nullptr || (node.reads(3) && axes == nullptr) ||
      (node.reads(4) && steps == nullptr))
    return std::nullopt;
  Place own = place;
  const auto rank = static_cast<std::int64_t>(from.shape->size());
  for (std::size_t i = 0; i < starts->size(); ++i) {
    std::int64_t axis = place_of(axes == nullptr ? static_cast<double>(i) : axes->real(i)).value_or(rank);
    if (axis < 0) axis += rank;
    if (axis < 0 || axis >= rank) return std::nullopt;
    const auto a = static_cast<std::size_t>(axis);
    const auto size = static_cast<double>((*from.shape)[a]);
    const double first =
        std::clamp(starts->real(i) < 0 ? starts->real(i) + size : starts->real(i), 0.0, size);
    const double by = steps == nullptr ? 1 : steps->real(i);
    const std::optional<std::int64_t> to = place_of(first + by * static_cast<double>(place[a]));
    if (!to) return std::nullopt;
    own[a] = *to;
  }
  return at(node.inputs[0], own, depth);
}

// NOLINTNEXTLINE(misc-no-recursion): no deeper than kDeepest
MaskReader::Number MaskReader::joined(const OnnxNode& node, const Place& place, int depth) {
  std::int64_t axis = node.whole_or("axis", 0);
  if (axis < 0) axis += static_cast<std::int64_t>(place.size());
  if (axis < 0 || axis >= static_cast<std::int64_t>(place.size())) return std::nullopt;
  Place own = place;
  std::int64_t& here = own[static_cast<std::size_t>(axis)];
  for (const OnnxValueId input : node.inputs) {
    const OnnxInferred& part = (*shapes_)[input];
    if (!part.shape || part.shape->size() != place.size()) return std::nullopt;
    const std::int64_t size = (*part.shape)[static_cast<std::size_t>(axis)];
    if (here < size) return at(input, own, depth);
    here -= size;
  }
  return std::nullopt;
}

// Running sums of masks of ones number the tokens.
// NOLINTNEXTLINE(misc-no-recursion): no deeper than kDeepest
MaskReader::Number MaskReader::summed(const OnnxNode& node, const Place& place, int depth) {
  const Number axis = broadcast_at(node.inputs[1], {}, depth);
  const Number one = at(node.inputs[0], place, depth);
  if (!axis || !one || place.empty()) return std::nullopt;
  const auto rank = static_cast<double>(place.size());
  const double a = *axis < 0 ? *axis + rank : *axis;
  if (!(a >= 0 && a < rank)) return std::nullopt;
  return *one * static_cast<double>(place[static_cast<std::size_t>(a)] + 1);
}

// NOLINTNEXTLINE(misc-no-recursion): no deeper than kDeepest
MaskReader::Number MaskReader::combined(const OnnxNode& node, const Place& place, int depth) {
  std::vector<double> numbers;
  for (const OnnxValueId input : node.inputs) {
    const Number n = broadcast_at(input, place, depth);
    if (!n) return std::nullopt;
    numbers.push_back(*n);
  }
  const Number n = combine_numbers(node.op, numbers);
  return n && node.op == "Div" && is_whole_type((*shapes_)[node.inputs[0]].type) ? Number(std::trunc(*n)) : n;
}

MaskFacts read_mask(MaskReader& reader, const std::vector<MaskUse>& uses, std::int64_t queries,
                    std::int64_t keys) {
  // What nobody can tell is seen.
  const auto sees = [&](std::int64_t query, std::int64_t key) {
    return std::ranges::all_of(uses, [&](const MaskUse& use) {
      const std::optional<double> n = reader.element(use.value, {0, 0, query, key});
      constexpr double kHidden = -1e3;
      if (!n) return true;
      return use.added ? *n > kHidden : (*n != 0) == use.shows_where_true;
    });
  };
  MaskFacts facts;
  if (keys < 2 || queries < 2 || queries != keys) return facts;
  facts.causal = !sees(0, 1);
  // The keys that a row sees lie side by side: their ends are found by halving.
  const std::int64_t row = facts.causal ? queries - 1 : queries / 2;
  if (!sees(row, row)) return facts;
  const auto reach = [&](std::int64_t to) {
    std::int64_t seen = row;
    std::int64_t hidden = to;
    if (sees(row, to)) return std::abs(row - to);
    while (std::abs(hidden - seen) > 1) {
      const std::int64_t middle = (seen + hidden) / 2;
      (sees(row, middle) ? seen : hidden) = middle;
    }
    return std::abs(row - seen);
  };
  const std::int64_t before = reach(0);
  const std::int64_t after = facts.causal ? 0 : reach(keys - 1);
  const bool whole = before == row && (facts.causal || after == keys - 1 - row);
  if (!whole) facts.window = before + after + 1;
  return facts;
}

}  // namespace nest::model
