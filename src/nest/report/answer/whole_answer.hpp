// The whole JSON object that answers a question, whoever asks it: what `nest plan --json` prints, what the server sends,
// what to_dict() of Python gives.
//
//   whole_answer(question, answer(question), {})   -> {"nest": {..}, "status": "optimal", .., "alternatives": [..]}
//   whole_answer(question, unfit, {.advice = &advice})
//     -> {"status": "infeasible", "reason": "..", "advice": [{"kind": "memory", ..}]}
#pragma once

#include "nest/base/document/value.hpp"
#include "nest/base/error.hpp"
#include "nest/question/question.hpp"
#include "nest/solve/ask/advice.hpp"

namespace nest::report {

struct WholeAnswer {
  Warnings warnings;                   // on the inputs; the question's notes come after them
  bool in_full = false;                // the plans beside the one that is taken as whole plans, too
  bool stats = false;                  // what the search did: "search"
  const AdviceList* advice = nullptr;  // what would fit, where nothing does
};

// `found` is solve::answer's. Where a price, a power or failures are asked, "cost" has them.
[[nodiscard]] Value whole_answer(const PlanQuestion& question, const SearchResult& found,
                                 const WholeAnswer& also);

// The object of a disagreement between search and price.
[[nodiscard]] Value disagreement_value(const SearchResult& found);

}  // namespace nest::report
