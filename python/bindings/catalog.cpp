#include "catalog.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>

#include "names.hpp"
#include "nest/api/nest.hpp"
#include "nest/cluster/accelerator.hpp"
#include "nest/cluster/catalog.hpp"
#include "nest/cluster/cluster_file.hpp"
#include "nest/estimate/collectives/cell_network.hpp"
#include "nest/frameworks/exporters.hpp"
#include "nest/model/zoo.hpp"
#include "nest/recipe/recipe.hpp"
#include "nest/report/answer/comparison_text.hpp"
#include "nest/report/page/report_page.hpp"
#include "values.hpp"

namespace nest::python {
namespace {

// A cluster file of an accelerator in nodes of the usual size.
nb::object accelerator_cluster(const std::string& name) {
  return to_python(cluster_file_value(usual_cluster(find_accelerator(name))));
}

std::vector<std::string> sections() {
  return {page_sections().begin(), page_sections().end()};
}

}  // namespace

void add_catalog(nb::module_& module) {
  module.def("version", [] { return std::string(nest::version()); });
  module.def("models", zoo_names);
  module.def("clusters", cluster_names);
  module.def("recipes", recipe_names);
  module.def("accelerators", accelerator_names);
  module.def("accelerator_cluster", accelerator_cluster, nb::arg("name"),
             nb::sig("def accelerator_cluster(name: str) -> dict[str, typing.Any]"));
  module.def(
      "targets", [] { return to_python(exporters_value()); },
      nb::sig("def targets() -> list[dict[str, typing.Any]]"));
  module.def(
      "baselines", [] { return to_python(baselines_value()); },
      nb::sig("def baselines() -> list[dict[str, typing.Any]]"));
  module.def("report_sections", sections);
  module.attr("default_model") = nb::str(kDefaultModel.data(), kDefaultModel.size());
  module.attr("default_cluster") = nb::str(kDefaultCluster.data(), kDefaultCluster.size());
  module.attr("default_recipe") = nb::str(kDefaultRecipe.data(), kDefaultRecipe.size());
}

}  // namespace nest::python
