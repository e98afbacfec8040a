// The export target "kubernetes": a JobSet that starts any program with every rank on the plan's device, the
// ConfigMaps that tell its pods their ranks, and queues of Kueue for a cluster like the plan's.
#pragma once

#include "nest/frameworks/common/exporter.hpp"

namespace nest::frameworks {

[[nodiscard]] ExportResult export_kubernetes(const ExportQuestion& question, const ExportSink& sink);

}  // namespace nest::frameworks
