// What one client may ask of the server. docs/api.md states them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "nest/base/units.hpp"
#include "nest/plan/calibration.hpp"

namespace nest::server {

struct Limits {
  Seconds time_limit{20};                 // of one plan, and the most that a request may ask for
  Bytes memory_limit{2'000'000'000};      // of one search, and the most that a request may ask for
  std::size_t jobs = 2;                   // plans that are searched at once
  std::size_t waiting = 8;                // requests that may wait for one to end
  Seconds wait{5};                        // and how long
  Seconds advice{15};                     // further searches on what would fit
  std::size_t body_bytes = 1'000'000;     // of a request
  std::size_t import_bytes = 16'000'000;  // of one that has files of other programs
  std::int64_t devices = 262'144;         // of a cluster
  std::size_t layers = 1000;              // of a model: the time to set a search up grows with their square
  std::int64_t most_sequence = 16'777'216;
  std::size_t plans = 200;                 // of one evaluate request
  std::size_t compared = 8;                // plans and questions of one compare request
  int threads = 0;                         // of each search; 0: one for each core
  std::optional<Calibration> calibration;  // of requests that bring none
};

}  // namespace nest::server
