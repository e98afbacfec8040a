#include "nest/frameworks/open_launch.hpp"

#include <optional>
#include <string_view>
#include <utility>

#include "nest/base/document/document.hpp"
#include "nest/base/document/reader.hpp"
#include "nest/cluster/resize.hpp"

namespace nest::frameworks {
namespace {

// JSON that has a plan's keys.
std::optional<Document> plan_document(const ImportQuestion& question) {
  const std::size_t first = question.text.find_first_not_of(" \t\r\n");
  if (first == std::string::npos || question.text[first] != '{') return std::nullopt;
  if (question.text.find("\"parallelism\"") == std::string::npos &&
      question.text.find("\"stages\"") == std::string::npos)
    return std::nullopt;
  Document document = parse_json(question.file, question.text);
  const bool plan = document.root.find("parallelism") != nullptr || document.root.find("stages") != nullptr;
  return plan ? std::optional(std::move(document)) : std::nullopt;
}

OpenPlan open_degrees(const Document& document, const ImportQuestion& question, Warnings& warnings) {
  if (document.root.find("inputs") != nullptr) return read_plan_file(document, warnings);
  Reader reader(document);
  if (!question.model)
    reader.fail("'inputs' is missing: say which model the plan is for", "or give --model and --cluster");
  PlanInputs inputs = load_inputs(*question.model, question.cluster,
                                  question.recipe.value_or(std::string(kDefaultRecipe)), warnings);
  if (question.devices > 0) inputs.cluster = with_devices(inputs.cluster, question.devices);
  Plan plan = read_plan(reader, inputs.recipe, warnings);
  return {std::move(plan), std::move(inputs)};
}

}  // namespace

OpenPlan open_launch(const ImportQuestion& question, const Importer* kind, Warnings& warnings) {
  if (kind != nullptr) return kind->read(question, warnings);
  if (const auto document = plan_document(question)) return open_degrees(*document, question, warnings);
  return importer_of(question).read(question, warnings);
}

}  // namespace nest::frameworks
