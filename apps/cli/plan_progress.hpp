// What a search has reached, once a second on standard error, when it takes longer than two seconds:
//
//   nest: 12 s: best 8.59 s, bound 8.10 s, gap 6.0 %; 312 tables filled, 45 open
#pragma once

#include <string>

#include "nest/question/search_options.hpp"
#include "terminal.hpp"

namespace nest::cli {

class ProgressLine {
 public:
  explicit ProgressLine(Terminal& terminal) : terminal_(&terminal) {}

  void show(const SearchProgress& progress);
  // Names what is looked for from now on: "more devices". Empty: the plan itself.
  void phase(const std::string& what);

 private:
  [[nodiscard]] bool due(double now);

  Terminal* terminal_;
  std::string phase_;
  double before_ = 0;   // seconds of the searches that have ended
  double elapsed_ = 0;  // of the present one
  double shown_ = 0;
};

}  // namespace nest::cli
