// Says why the plan that is taken does not make a certain choice: either the best plan with that choice and its
// cost, or the constraint that forbids it. Or why it is not a certain plan, which is priced as it is.
//
//   why_not(question, "tensor=4", best)   -> 9.12 s, 6.2 % longer
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "nest/question/space_options.hpp"
#include "nest/solve/ask/search.hpp"

namespace nest::solve {

// Reads "tensor=4", or several with blanks between ("tensor=4 zero=3"), into a space; says what is wrong.
[[nodiscard]] std::optional<SpaceProblem> pin_choices(std::string_view text, SearchSpace& space);

struct WhyNot {
  std::string choice;
  SearchResult found;           // under that choice
  bool chosen = false;          // the plan that is taken has it already
  std::optional<Seconds> cost;  // of the step, beyond that plan's
  double more = 0;              // by what share the question's objective counts more of it (counted.hpp)
  // A whole plan was asked for. Where it does not fit, `found` is infeasible and has it all the same, with its
  // memory and the step that it would take; where it is no valid plan, `found` has none and the reason.
  bool given = false;
};

// The question with a choice in place of what was asked. Throws an AskedError where make_question refuses it.
[[nodiscard]] PlanQuestion with_choice(const PlanQuestion& question, const std::string& choice);

// `choice` as pin_choices takes it: what it names replaces what was asked. A choice that make_question
// refuses is infeasible, with the reason.
[[nodiscard]] WhyNot why_not(const PlanQuestion& question, const std::string& choice, const Plan& taken,
                             const SearchFunction& searching = ask);

// A plan that somebody else made, with what it leaves open filled in; `name` is how it is called in texts. Its
// training must be that of the question.
[[nodiscard]] WhyNot why_not_plan(const PlanQuestion& question, const std::string& name, Plan plan,
                                  const Plan& taken);

// Whether two plans with results are one: the same degrees, as long a step.
[[nodiscard]] bool same_plan(const Plan& a, const Plan& b);

}  // namespace nest::solve
