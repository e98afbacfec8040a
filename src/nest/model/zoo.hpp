// Models by name, and models from files: the one door through which `--model NAME|FILE` goes.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "nest/base/embedded.hpp"
#include "nest/base/error.hpp"
#include "nest/model/blocks/spec.hpp"
#include "nest/model/graph/profile.hpp"

namespace nest::model {

// A model before it is built: our description of an architecture, or the user's own layer costs.
using ModelSource = std::variant<ModelSpec, LayerProfile>;

// The files of data/models, compiled in; made by cmake/embed.cmake.
[[nodiscard]] std::span<const EmbeddedFile> model_files();

// Names of the zoo in alphabetical order.
[[nodiscard]] std::vector<std::string> zoo_names();
[[nodiscard]] ModelSpec zoo_model(std::string_view name);

// A document that is no file of its own, such as a part of a plan: a layer profile, a model as lists of steps
// (docs/formats/onnx.md), or a config.json, whose name is in it.
[[nodiscard]] ModelSource read_model(const Document& document, Warnings& warnings);

// A zoo name (as on the Hub, letter case, organisation and punctuation ignored), a config.json, a layer
// profile or an ONNX file. A name with a slash or an ending such as .json, and any existing file, is a file. `like`: the model type
// by whose keys a config.json is read, whatever its own; empty: its own.
[[nodiscard]] ModelSource load_model(const std::string& name_or_file, Warnings& warnings,
                                     const std::string& like = {});

}  // namespace nest::model
