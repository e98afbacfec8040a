#include "models.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "names.hpp"
#include "nest/model/blocks/build.hpp"
#include "nest/model/describe.hpp"
#include "nest/model/hub/hub_config.hpp"
#include "question.hpp"
#include "values.hpp"

namespace nest::python {
namespace {

// A model as plans hold it: a name, or the whole text of a file.
struct ModelHandle {
  Value model;
  ModelSource source;
  std::string name;
  Warnings warnings;
};

ModelHandle open_model(nb::handle model, const std::string& like) {
  const Value given = from_python(model, "model");
  const nb::gil_scoped_release released;
  ModelHandle out;
  PlanInputs inputs =
      open_inputs({given, std::string(kDefaultCluster), std::string(kDefaultRecipe), like, {}}, out.warnings);
  out.name = inputs.model_name();
  out.model = std::move(inputs.model);
  out.source = std::move(inputs.source);
  return out;
}

// What `nest models show --json` prints.
nb::object describe_model(const ModelHandle& handle, std::int64_t micro_batch,
                          std::optional<std::int64_t> sequence, bool mtp) {
  Value value;
  {
    const nb::gil_scoped_release released;
    if (const auto* profile = std::get_if<LayerProfile>(&handle.source)) {
      value = describe(*profile);
    } else {
      BuildOptions options;
      options.micro_batch = micro_batch;
      options.sequence = sequence;
      options.mtp = mtp;
      value = describe(build_model(std::get<ModelSpec>(handle.source), options));
    }
  }
  return to_python(value);
}

}  // namespace

void add_models(nb::module_& module) {
  nb::class_<ModelHandle>(module, "Model")
      .def_ro("name", &ModelHandle::name)
      .def_ro("warnings", &ModelHandle::warnings)
      .def(
          "value", [](const ModelHandle& m) { return to_python(m.model); },
          nb::sig("def value(self) -> str | dict[str, typing.Any]"))
      .def("describe", describe_model, nb::arg("micro_batch"), nb::arg("sequence").none(), nb::arg("mtp"),
           nb::sig("def describe(self, micro_batch: int, sequence: int | None, mtp: bool) -> dict[str, "
                   "typing.Any]"));
  module.def("model", open_model, nb::arg("model"), nb::arg("like"),
             nb::sig("def model(model: object, like: str) -> Model"));
  module.def("model_types", known_model_types);
}

}  // namespace nest::python
