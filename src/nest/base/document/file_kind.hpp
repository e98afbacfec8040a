// Which kind of input a document is, by its keys: for the hint when a file of one kind is given where another
// is expected.
//
//   looks_like(document)  ->  "this looks like a cluster file: nest clusters show pods.yaml"
#pragma once

#include <string>

#include "nest/base/document/document.hpp"

namespace nest::base {

enum class FileKind { unknown, model, profile, cluster, graph, recipe, calibration };
[[nodiscard]] FileKind kind_of(const Document& document);

// Empty where the kind is not known.
[[nodiscard]] std::string looks_like(const Document& document);

}  // namespace nest::base
