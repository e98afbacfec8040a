#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models.hpp"
#include "names.hpp"
#include "nest/cluster/cluster_file.hpp"
#include "nest/cluster/cluster_text.hpp"
#include "nest/cluster/drawing.hpp"
#include "nest/cluster/imports/importers.hpp"
#include "nest/validate/calibrate/measured_cluster.hpp"
#include "question.hpp"
#include "values.hpp"

namespace nest::python {
namespace {

// A file's name with its text; without a text it is still to be opened, or a name such as v5p-256.
using Given = std::pair<std::string, std::optional<std::string>>;

std::vector<ImportFile> open_all(const ClusterImporter* kind, const std::vector<Given>& given) {
  std::vector<ImportFile> out;
  for (const auto& [name, text] : given)
    out.push_back(text ? ImportFile{name, *text} : open_import(kind, name));
  return out;
}

nb::object import_from(const std::string& kind, const std::vector<Given>& files,
                       const std::vector<Given>& nodes, const std::vector<Given>& inside,
                       const nb::dict& options) {
  ClusterImport question;
  question.kind = kind;
  question.options.name = nb::cast<std::string>(options["name"]);
  question.options.accelerator = nb::cast<std::string>(options["accelerator"]);
  question.options.count = nb::cast<std::optional<std::int64_t>>(options["count"]);
  question.options.only = nb::cast<std::string>(options["only"]);
  question.options.with_drained = nb::cast<bool>(options["with_drained"]);
  Value value;
  {
    const nb::gil_scoped_release released;
    const ClusterImporter* importer = find_cluster_importer(kind);
    question.files = open_all(importer, files);
    question.nodes = open_all(nullptr, nodes);
    question.inside = open_all(nullptr, inside);
    value = to_value(import_cluster(question));
  }
  return to_python(value);
}

nb::object measure(const Cluster& cluster, const std::vector<Given>& files, const std::string& level,
                   std::optional<double> links) {
  Value out = Value::object();
  {
    const nb::gil_scoped_release released;
    std::vector<MeasuredFile> texts;
    for (const ImportFile& file : open_all(nullptr, files)) texts.push_back({file.name, file.text});
    const MeasuredCluster measured = measured_cluster(cluster, texts, {.level = level, .links = links});
    Value known = Value::array();
    for (const std::string& sentence : measured.said) known.push(sentence);
    out.set("cluster", cluster_file_value(measured.cluster)).set("known", std::move(known));
  }
  return to_python(out);
}

Cluster open_one(nb::handle cluster) {
  const Value given = from_python(cluster, "cluster");
  const nb::gil_scoped_release released;
  return open_cluster(given);
}

std::vector<std::string> kinds() {
  std::vector<std::string> out;
  for (const ClusterImporter& importer : cluster_importers()) out.emplace_back(importer.name);
  return out;
}

}  // namespace

void add_clusters(nb::module_& module) {
  nb::class_<Cluster>(module, "Cluster")
      .def_prop_ro("name", [](const Cluster& c) { return c.name(); })
      .def_prop_ro("devices", [](const Cluster& c) { return c.devices(); })
      .def(
          "value", [](const Cluster& c) { return to_python(cluster_file_value(c)); },
          nb::sig("def value(self) -> dict[str, typing.Any]"))
      .def(
          "summary", [](const Cluster& c) { return to_python(cluster_summary(c)); },
          nb::sig("def summary(self) -> dict[str, typing.Any]"))
      .def("yaml", [](const Cluster& c) { return cluster_yaml(c); })
      .def("svg", [](const Cluster& c) { return cluster_svg(c); })
      .def("measured", measure, nb::arg("files"), nb::arg("level"), nb::arg("links").none(),
           nb::sig("def measured(self, files: list[tuple[str, str | None]], level: str, links: float | None) "
                   "-> dict[str, typing.Any]"));
  module.def("open_cluster", open_one, nb::arg("cluster"),
             nb::sig("def open_cluster(cluster: object) -> Cluster"));
  module.def(
      "import_cluster", import_from, nb::arg("kind"), nb::arg("files"), nb::arg("nodes"), nb::arg("inside"),
      nb::arg("options"),
      nb::sig("def import_cluster(kind: str, files: list[tuple[str, str | None]], nodes: list[tuple[str, "
              "str | None]], inside: list[tuple[str, str | None]], options: dict[str, typing.Any]) -> "
              "dict[str, typing.Any]"));
  module.def("cluster_kinds", kinds);
}

}  // namespace nest::python
