#include "strategies.hpp"

#include <nanobind/stl/function.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "nest/base/closest.hpp"
#include "nest/base/error.hpp"
#include "nest/strategies/registry.hpp"
#include "own_strategy.hpp"

namespace nest::python {

namespace nb = nanobind;

namespace {

using Dims = std::vector<std::pair<std::string, std::int64_t>>;

Axis axis_of(const std::string& word) {
  for (int i = 0; i <= static_cast<int>(Axis::rank); ++i) {
    if (name_of(static_cast<Axis>(i)) == word) return static_cast<Axis>(i);
  }
  throw InputError("", "axis", "there is no axis '" + word + "'");
}

// In the order of CollectiveKind and GroupAxis, which have no names in the library's texts.
const std::vector<std::string> kCollectives{
    "none", "all_reduce", "reduce_scatter", "all_gather", "all_to_all", "broadcast", "send"};
const std::vector<std::string> kGroups{"tensor", "context", "expert", "expert_tensor"};

template <class Enum>
Enum named(const std::string& word, const std::vector<std::string>& names, const char* what) {
  const auto at = std::ranges::find(names, word);
  if (at == names.end()) throw InputError("", what, "there is no '" + word + "'", did_you_mean(word, names));
  return static_cast<Enum>(at - names.begin());
}

CollectiveCall call_of(const std::optional<std::string>& forward, const std::optional<std::string>& backward,
                       const std::string& group, std::int64_t members, std::int64_t stride) {
  const auto kind = [](const std::optional<std::string>& word) {
    return word ? named<CollectiveKind>(*word, kCollectives, "collective") : CollectiveKind::none;
  };
  CollectiveCall call;
  call.forward = kind(forward);
  call.backward = kind(backward);
  call.group = named<GroupAxis>(group, kGroups, "group");
  call.members = members;
  call.stride = stride;
  return call;
}

Dims dims_of(const Tensor& tensor) {
  Dims out;
  for (const Dim& dim : tensor.shape) out.emplace_back(name_of(dim.axis), dim.size);
  return out;
}

const Tensor& tensor_of(const LayerTransform& t, TensorIndex i) {
  if (i >= t.tensors()) throw nb::index_error("there is no such tensor");
  return t.tensor(i);
}

void add_operator(nb::module_& module) {
  nb::class_<Operator>(module, "Operator", "An operator of a layer; its tensors are numbers of the layer's.")
      .def_prop_ro("name", [](const Operator& op) { return op.name; })
      .def_prop_ro(
          "kind", [](const Operator& op) { return std::string(row_of(op.kind).name); },
          "matmul, attention, rms_norm, ..")
      .def_rw("inputs", &Operator::inputs)
      .def_ro("parameters", &Operator::parameters)
      .def_ro("outputs", &Operator::outputs)
      .def_ro("keeps", &Operator::keeps, "Tensors that are held from the forward to the backward pass.")
      .def(
          "made", [](const Operator& op) { return made_by(op); },
          "Its outputs, and the statistics that it keeps.");
  nb::class_<LayerType>(module, "Layer", "A layer before it is split.")
      .def_prop_ro("name", [](const LayerType& layer) { return layer.name; })
      .def_ro("operators", &LayerType::operators)
      .def(
          "__len__", [](const LayerType& layer) { return layer.tensors.size(); }, "Its tensors.")
      .def(
          "shape",
          [](const LayerType& layer, TensorIndex i) {
            if (i >= layer.tensors.size()) throw nb::index_error("there is no such tensor");
            return dims_of(layer.tensors[i]);
          },
          nb::arg("tensor"), "Axes with their sizes: [('batch', 1), ('sequence', 8192), ('hidden', 4096)].");
  nb::class_<Strategy>(module, "Degrees", "Degrees of a cell, as a strategy is asked for.")
      .def_ro("tensor", &Strategy::tensor)
      .def_ro("sequence_parallel", &Strategy::sequence_parallel)
      .def_ro("context", &Strategy::context)
      .def_ro("expert", &Strategy::expert)
      .def_prop_ro("expert_tensor", &Strategy::expert_tensor_degree);
}

void add_transform(nb::module_& module) {
  using T = LayerTransform;
  nb::class_<T>(module, "Transform", "A layer while a strategy rewrites it for one device.")
      .def_prop_ro("degrees", [](const T& t) { return t.strategy(); })
      .def_prop_ro("vocabulary_multiple", [](const T& t) { return t.options().vocabulary_multiple; })
      .def(
          "__len__", [](const T& t) { return t.tensors(); }, "Its tensors.")
      .def(
          "shape", [](const T& t, TensorIndex i) { return dims_of(tensor_of(t, i)); }, nb::arg("tensor"),
          "Axes with the sizes of the whole.")
      .def(
          "has", [](const T& t, TensorIndex i, const std::string& axis) { return t.has(i, axis_of(axis)); },
          nb::arg("tensor"), nb::arg("axis"))
      .def(
          "split",
          [](T& t, TensorIndex i, const std::string& axis, std::int64_t degree) {
            (void)tensor_of(t, i);
            t.split(i, axis_of(axis), degree);
          },
          nb::arg("tensor"), nb::arg("axis"), nb::arg("degree"),
          "Splits an axis over so many devices; one that the tensor lacks is left alone.")
      .def(
          "pad",
          [](T& t, TensorIndex i, const std::string& axis, std::int64_t size) {
            (void)tensor_of(t, i);
            t.pad(i, axis_of(axis), size);
          },
          nb::arg("tensor"), nb::arg("axis"), nb::arg("size"), "The axis is this long before it is split.")
      .def("is_split", nb::overload_cast<TensorIndex>(&T::is_split, nb::const_), nb::arg("tensor"))
      .def("inside", &T::inside, nb::arg("tensor"),
           "Whether the tensor lies in a region where rows are whole and features are split.")
      .def("set_inside", &T::set_inside, nb::arg("tensor"), nb::arg("inside") = true)
      .def("set_partial_gradient", &T::set_partial_gradient, nb::arg("tensor"),
           "Each copy sees a part of the gradient, which is summed at the end.")
      .def("take_operators", &T::take_operators, "All operators, which are pushed back one by one.")
      .def("push", &T::push, nb::arg("operator"))
      .def("copy", &T::copy, nb::arg("tensor"), nb::arg("suffix"))
      .def(
          "push_collective",
          [](T& t, const std::string& name, const std::vector<TensorIndex>& inputs,
             const std::vector<TensorIndex>& outputs, const std::optional<std::string>& forward,
             const std::optional<std::string>& backward, const std::string& group, std::int64_t members,
             std::int64_t stride) {
            t.push_collective(name, call_of(forward, backward, group, members, stride), inputs, outputs);
          },
          nb::arg("name"), nb::arg("inputs"), nb::arg("outputs"), nb::kw_only(),
          nb::arg("forward") = nb::none(), nb::arg("backward") = nb::none(), nb::arg("group") = "tensor",
          nb::arg("members") = 0, nb::arg("stride") = 1)
      .def(
          "push_reduced",
          [](T& t, Operator op, const std::string& suffix, const std::optional<std::string>& forward,
             const std::optional<std::string>& backward, const std::string& group, std::int64_t members,
             std::int64_t stride) {
            t.push_reduced(std::move(op), suffix, call_of(forward, backward, group, members, stride));
          },
          nb::arg("operator"), nb::arg("suffix"), nb::kw_only(), nb::arg("forward") = nb::none(),
          nb::arg("backward") = nb::none(), nb::arg("group") = "tensor", nb::arg("members") = 0,
          nb::arg("stride") = 1,
          "Pushes an operator that makes partial results, and the collective that adds them up.")
      .def(
          "push_enter",
          [](T& t, TensorIndex outside, const std::string& name, const std::optional<std::string>& forward,
             const std::optional<std::string>& backward, const std::string& group, std::int64_t members,
             std::int64_t stride) {
            return t.push_enter(outside, name, call_of(forward, backward, group, members, stride));
          },
          nb::arg("outside"), nb::arg("name"), nb::kw_only(), nb::arg("forward") = nb::none(),
          nb::arg("backward") = nb::none(), nb::arg("group") = "tensor", nb::arg("members") = 0,
          nb::arg("stride") = 1, "Pushes a collective in front of an operator; gives what it makes.");
}

}  // namespace

std::vector<SubgraphStrategy> table_with(const std::vector<OwnStrategy>& own) {
  std::vector<SubgraphStrategy> table;
  for (const SubgraphStrategy& row : subgraph_strategies()) {
    table.push_back(row);
    for (const OwnStrategy& one : own) {
      if (one.replaces != row.name) continue;
      table.back().active = [before = table.back().active, mine = one.row.active](const Strategy& s) {
        return !mine(s) && before(s);
      };
    }
    for (const OwnStrategy& one : own) {
      if (one.replaces == row.name) table.push_back(one.row);
    }
  }
  for (const OwnStrategy& one : own) {
    const bool known = std::ranges::any_of(
        subgraph_strategies(), [&](const SubgraphStrategy& row) { return row.name == one.replaces; });
    if (!known) throw InputError("", "replaces", "there is no strategy '" + one.replaces + "'");
  }
  return table;
}

void add_strategies(nb::module_& module) {
  add_operator(module);
  add_transform(module);
  nb::class_<OwnStrategy>(module, "Strategy")
      .def(
          "__init__",
          [](OwnStrategy* self, std::string name, std::string replaces,
             std::function<bool(const Strategy&)> active,
             std::function<std::optional<std::string>(const LayerType&, const Strategy&)> check,
             std::function<void(LayerTransform*)> apply) {
            SubgraphStrategy row{name, "", std::move(active), {}, {}};
            row.check = [name, check = std::move(check)](const LayerType& layer,
                                                         const Strategy& s) -> std::optional<Refusal> {
              auto sentence = check(layer, s);
              if (!sentence) return std::nullopt;
              return Refusal{name, std::move(*sentence)};
            };
            row.apply = [apply = std::move(apply)](LayerTransform& t) { apply(&t); };
            new (self) OwnStrategy{std::move(row), std::move(replaces)};
          },
          nb::arg("name"), nb::arg("replaces"), nb::arg("active"), nb::arg("check"), nb::arg("apply"),
          nb::sig("def __init__(self, name: str, replaces: str, active: typing.Callable[[Degrees], bool], "
                  "check: typing.Callable[[Layer, Degrees], str | None], apply: "
                  "typing.Callable[[Transform], None]) -> None"));
}

}  // namespace nest::python
