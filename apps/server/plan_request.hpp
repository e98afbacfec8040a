// The body of POST /api/v1/plan as a question to the search. docs/api.md has every key; unknown ones are
// refused with a guess at what was meant.
//
//   {"model": "llama3.1-70b", "cluster": "h100-spine-leaf", "devices": 512, "global_batch": 1024,
//    "choices": {"tensor": [4, 8], "zero": 1, "pipeline": "2..16"}, "session": "tab-1", "views": true}
#pragma once

#include <string>

#include "limits.hpp"
#include "nest/base/document/reader.hpp"
#include "nest/question/question.hpp"

namespace nest::server {

struct PlanRequest {
  PlanQuestion question;  // without progress; its deadline is its ticket's
  Warnings warnings;      // on the inputs, besides the question's notes
  std::string name;       // what a comparison calls it
  std::string session;    // empty: none
  bool advice = true;     // where nothing fits, say what would
  bool views = false;     // also the data of the report's views
  bool in_full = false;   // plans beside the best as whole plans, too
  bool stats = false;
};

[[nodiscard]] PlanRequest read_plan_request(Reader request, const Limits& limits);

// "tab-1": up to 64 letters, digits, - and _; empty where the request has none.
[[nodiscard]] std::string read_session(Reader& request);

}  // namespace nest::server
