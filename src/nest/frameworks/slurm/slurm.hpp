// The export target "slurm": an sbatch script that starts any program with every rank on the plan's device.
#pragma once

#include "nest/frameworks/common/exporter.hpp"

namespace nest::frameworks {

[[nodiscard]] ExportResult export_slurm(const ExportQuestion& question, const ExportSink& sink);

}  // namespace nest::frameworks
