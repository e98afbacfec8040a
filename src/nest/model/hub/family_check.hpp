// What a file of data/families may say, looked at before anybody evaluates it: a family of one's own (NEST_FAMILIES) is
// somebody's input. A sample:
//
//   my/granite.yaml: line 4, block.hed_dim: unknown key; did you mean 'head_dim'?
#pragma once

#include "nest/base/document/document.hpp"

namespace nest::model {

// Throws at keys that nothing reads, at values of another kind than is expected, and at texts that are no expression.
void check_family(const Document& document);

}  // namespace nest::model
