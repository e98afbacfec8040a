// Which number of a file is to blame for sizes that no model has: of those without which the sizes were sane, the
// largest.
//
//   config.json: line 3, projector_config.hidden_size: 768000000 is too much: the layer 'vision projector' would ...
#pragma once

#include <functional>
#include <string>

#include "nest/base/document/document.hpp"

namespace nest::model {

// `problem`: what is absurd about the model of a document, empty where nothing is; it may throw an InputError where
// a changed document is no model. Throws at the number that is to blame for `what`.
[[noreturn]] void blame_size(const Document& document, const std::string& what,
                             const std::function<std::string(const Document&)>& problem);

}  // namespace nest::model
