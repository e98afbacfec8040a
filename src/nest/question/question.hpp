// Everything that one search is asked. make_question puts it together from the inputs and from what somebody
// asks of them. Further searches (why another choice was not made, what would fit) change a question and ask
// it again.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "nest/plan/inputs.hpp"
#include "nest/plan/plan.hpp"
#include "nest/question/asked.hpp"
#include "nest/question/search_options.hpp"
#include "nest/question/search_space.hpp"

namespace nest::question {

struct PlanQuestion {
  PlanInputs inputs;
  Training training;  // global batch, sequence, precision and optimizer; micro-batches are searched
  SearchSpace space;
  SearchOptions options;
  // What it was made from.
  Asked asked;
  std::optional<Cluster> whole;  // before it was cut to the devices that are asked for
  Warnings notes;                // what whoever asks should know, a sentence each
  // Where any of several batches may be taken: all, that of `training` first. Else empty.
  std::vector<std::int64_t> batches;
};

}  // namespace nest::question
