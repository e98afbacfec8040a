// What torch.compile makes of element-wise kernels: chains of them become single passes that read each input
// and write each output once. Products and attention stay as they are.
#pragma once

#include <vector>

#include "nest/estimate/operators/operator_kernels.hpp"

namespace nest::estimate {

void fuse_streams(std::vector<KernelUse>& uses);

}  // namespace nest::estimate
