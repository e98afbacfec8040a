// One screen about the answer of a search: the plan's degrees, its step with a bar of its parts, memory,
// stages, the proof, the runners-up and by what each loses, warnings.
//
//   llama3.1-70b on h100-spine-leaf: 1,024 x h100-sxm; global batch 1,024 of 8,192 tokens; bf16, adam
//
//   Plan     tensor 4, sequence parallel, pipeline 8 (interleaved, 2 chunks), data 32, ZeRO 1
//            32 micro-batches of 1; recomputation selective; 1,024 of 1,024 devices
//   Step     8.59 s; 976,344 tokens/s; 428 TFLOP/s per device; MFU 43.3 %
//            ################################################################################rttttttt.........
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "nest/base/error.hpp"
#include "nest/plan/inputs.hpp"
#include "nest/question/search_options.hpp"
#include "nest/solve/search_result.hpp"

namespace nest::report {

struct ScreenOptions {
  std::function<std::string(std::string_view)> heading;  // how a heading is set off; empty: not at all
  std::size_t runners_up = 4;
  std::size_t complete = 1;  // so many plans are shown in full, the first with all that is known of it
  bool brief = false;        // only what the plan is, its step and the proof
  Warnings warnings;         // further ones, shown with those of the plan
  std::string cost;          // what a run costs, if anybody wants to know

  [[nodiscard]] std::string title(std::string_view text) const {
    return heading ? heading(text) : std::string(text);
  }
};

// The result must have a plan.
[[nodiscard]] std::string plan_screen(const SearchResult& found, const PlanInputs& inputs,
                                      const SearchOptions& asked, const ScreenOptions& options = {});

// " (80 %: 6.4 s to 7.6 s)", or nothing where no measured runs are like it.
[[nodiscard]] std::string spell_interval(const StepInterval& interval);
// Of the fullest device's memory: "80 %: 71 GiB to 77 GiB", or nothing likewise.
[[nodiscard]] std::string spell_memory_interval(const Prediction& predicted);
// Of the fullest device: "71.8 GiB used and 2 GiB reserved of 79.6 GiB (92.7 %; 80 %: 71 GiB to 77 GiB; fits with
// 97 % or more)".
[[nodiscard]] std::string spell_memory_use(const Plan& plan);
// "; fits with 97 % or more"
[[nodiscard]] std::string spell_fits(const Prediction& predicted);
// The parts of the step as one bar of letters, and what each letter stands for (from column `indent` on).
[[nodiscard]] std::string breakdown_bar(const Prediction& predicted, std::size_t width);
[[nodiscard]] std::string breakdown_legend(const Prediction& predicted, std::size_t indent);

}  // namespace nest::report
