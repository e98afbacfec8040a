// Finds changes that would make a model fit: more memory, more devices or another choice. Each of them is
// the result of a further search and never a guess.
//
//   advise_unfit(question, found)   -> "devices with 96.4 GiB of memory in place of 79.6 GiB", ...
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "nest/solve/ask/search.hpp"

namespace nest::solve {

enum class AdviceKind { knob, memory, devices, batch, sequence, throughput };
[[nodiscard]] std::string_view name_of(AdviceKind kind);

struct Advice {
  AdviceKind kind = AdviceKind::knob;
  std::string sentence;      // "devices with 96.4 GiB of memory in place of 79.6 GiB"
  std::int64_t amount = 0;   // bytes, devices, sequences or tokens
  std::optional<Plan> plan;  // that then fits
  std::string field{};       // of a knob: which one, as find_asked_field knows it
  std::string value{};       // of a knob: what to set it to; empty: left open
};

struct AdviceList {
  std::vector<Advice> all;
  bool stopped = false;  // a limit came before the end of a search: there may be more
};

// The question's own deadline holds besides.
struct AdviceOptions {
  Seconds search_limit{10};                        // of each further search
  Seconds total_limit{60};                         // of all together; what is not asked by then is left out
  std::function<void(const std::string&)> asking;  // told what is looked for, before each kind
};

// What would make an infeasible question (as make_question makes it) feasible, the cheapest change first:
// each pinned choice left open, a choice beyond its default values, memory, devices, another batch or
// sequence. Empty where nothing helps.
[[nodiscard]] AdviceList advise_unfit(const PlanQuestion& question, const SearchResult& found,
                                      const AdviceOptions& options = {},
                                      const SearchFunction& searching = ask);

}  // namespace nest::solve
