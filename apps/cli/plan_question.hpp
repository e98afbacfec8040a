// The question that a command line asks of the search, for `nest plan` and `nest compare`.
#pragma once

#include "command.hpp"
#include "nest/question/question.hpp"

namespace nest::cli {

// What the command line asks, and what is needed to advise on it.
struct Asked {
  PlanQuestion question;
  Cluster whole;  // before --devices
  Warnings warnings;
};

[[nodiscard]] Asked read_question(const Arguments& arguments, Terminal& terminal);

}  // namespace nest::cli
