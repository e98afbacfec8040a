// Inter-operator parallelism: a chain of layers cut into stages, each on a submesh, so that
//   sum of the stages' latencies + (micro-batches - 1) * the greatest of them
// is least and all devices are used. As Alpa does it: the greatest latency is guessed, in ascending order,
// and a dynamic program over (layers left, devices left) finds the least sum below it.
//
//   const std::optional<StageSplit> split = solve_stages(problem);
//   split->stages   -> layers 0..3 on 8 devices, layers 4..6 on 4, layer 7 on 4
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "nest/base/deadline.hpp"
#include "nest/base/units.hpp"

namespace nest::solve::alpa {

struct StageProblem {
  std::size_t layers = 1;
  std::int64_t devices = 1;
  std::int64_t micro_batches = 1;
  std::vector<std::int64_t> submeshes;  // devices of each that a stage may have
  // Of layers first..last-1 on submeshes[submesh], one micro-batch; none where it cannot be.
  std::function<std::optional<Seconds>(std::size_t first, std::size_t last, std::size_t submesh)> latency;
  // Guesses that are closer than this share to the one before are left out (Alpa's epsilon).
  double gap = 0;
  Deadline deadline;  // Stopped is thrown there
};

struct StagePick {
  std::size_t first = 0;
  std::size_t last = 0;
  std::size_t submesh = 0;
};

struct StageSplit {
  Seconds step;
  std::vector<StagePick> stages;
  std::int64_t transitions = 0;
};

// None where the devices cannot be used up.
[[nodiscard]] std::optional<StageSplit> solve_stages(const StageProblem& problem);

// With equal submeshes the sum does not depend on the cuts: the first layers of the stages, so that the
// greatest sum of `times` in one of `stages` is least. There are at least as many layers as stages.
[[nodiscard]] std::vector<std::size_t> equal_stages(const std::vector<Seconds>& times, std::size_t stages);

}  // namespace nest::solve::alpa
