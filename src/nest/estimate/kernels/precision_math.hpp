// Which arithmetic of an accelerator a precision computes its products in.
//
//   lacking_math(catalog_cluster("dgx-a100-superpod"), Precision::fp8)   -> "has no 8-bit matrix products"
#pragma once

#include <string>

#include "nest/cluster/cluster.hpp"
#include "nest/recipe/precision.hpp"

namespace nest::estimate {

[[nodiscard]] MathType math_of(Precision precision);

// The dense peak of the precision; that of the other 16-bit type, or of fp32, where the accelerator lacks its own.
// 0 where it lacks a low precision.
[[nodiscard]] FlopsPerSecond peak_of(const Accelerator& accelerator, Precision precision);

// What the cluster's accelerator lacks for a precision, as the rest of a sentence; empty where nothing.
[[nodiscard]] std::string lacking_math(const Cluster& cluster, Precision precision);

}  // namespace nest::estimate
