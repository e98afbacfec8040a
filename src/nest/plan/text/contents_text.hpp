// What sequences are made of, in "training" of a plan's JSON. Nothing is written where nothing is said.
//
//   "lengths": {"documents": 1000, "mean_tokens": 1280.0, "histogram": [[512, 900], [8192, 100]]}, "images": 3
#pragma once

#include "nest/base/document/reader.hpp"
#include "nest/base/document/value.hpp"
#include "nest/model/graph/contents.hpp"

namespace nest::plan {

void set_contents(Value& training, const Contents& contents);
[[nodiscard]] Contents read_contents(Reader& training);

}  // namespace nest::plan
