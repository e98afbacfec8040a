// One point of the outer enumeration, in which everything except the stages is fixed. The order of
// configurations is the order in which ties are broken.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "nest/base/units.hpp"
#include "nest/plan/plan.hpp"

namespace nest::solve {

// A strategy at a micro-batch size with a number of stages and copies.
struct Degrees {
  std::size_t batch = 0;     // into SearchCosts::batches
  std::size_t strategy = 0;  // into the search's list
  std::int64_t pipeline = 1;
  std::int64_t copies = 1;
  std::int64_t micro_batches = 1;
  std::int64_t devices = 1;
  Seconds bound;  // no plan of it is below
  Bytes memory;   // that the fullest device of any plan of it holds at least
};

struct Configuration {
  std::size_t degrees = 0;
  Schedule schedule = Schedule::one_f_one_b;
  std::int64_t interleave = 1;
  Zero zero;
  std::optional<Recompute> recompute;  // of all stages, where they must be the same
  std::int64_t zero_shards = 1;
  std::int64_t inner = 1;
  std::int64_t block_devices = 0;
  bool first_stage_first = false;
};

// Choices that people call degrees: plans that agree in all of them are variants of one another.
[[nodiscard]] std::vector<std::int64_t> degree_key(const Plan& plan);
// A total order of plans of one space, degrees first.
[[nodiscard]] std::vector<std::int64_t> tie_key(const Plan& plan);

}  // namespace nest::solve
