// The dynamic program, which finds the best stages for one configuration (degrees, placement, ZeRO,
// schedule). Its states are the downsets of the layer graph for each number of stages, from the last
// stage to the first. A state keeps its Pareto front: a label is dropped if another label of the same
// state is at least as good in every component. Each label stores the choice that made it.
//
// A label is what the stages so far are worth to those that come before them: the pipeline's label
// (price/pipeline_time.hpp), and the end of the step (price/step_label.hpp), where only what sticks out counts.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "nest/base/deadline.hpp"
#include "nest/price/pipeline_time.hpp"
#include "nest/price/step_label.hpp"
#include "nest/question/prunings.hpp"
#include "nest/solve/table/memory_budget.hpp"
#include "nest/solve/table/stage_options.hpp"

namespace nest::solve {

class Completions;

struct FillQuestion {
  PipelineShape pipeline;
  Bytes capacity;                                // of a device
  std::vector<std::vector<std::size_t>> places;  // that each stage may have, first stage first
  // Stages that share weights with others: with ties, no stage before `tied_first` or after `tied_last` does,
  // and these two do. Without, none does. Unset: whatever comes.
  enum class Ties { any, none, between };
  Ties ties = Ties::any;
  std::size_t tied_first = 0;
  std::size_t tied_last = 0;
  // The times are those of a network that is nowhere slower, and wanted is a bound. Longer passes would hide
  // more of later stages' reductions and gathers, so these count from the passes of their own stage on: see
  // bound_end in fill.cpp.
  bool bound = false;
  const Completions* completions = nullptr;  // of the same question, if they were made
};

// Whether a stage that shares weights with others, or does not, is what a question about stages wants.
template <class Question>
[[nodiscard]] bool ties_allow(const Question& question, std::size_t stage, bool shares) {
  if (question.ties == FillQuestion::Ties::any) return true;
  const bool inside = question.ties == FillQuestion::Ties::between && stage >= question.tied_first &&
                      stage <= question.tied_last;
  const bool end = inside && (stage == question.tied_first || stage == question.tied_last);
  return shares ? inside : !end;
}
[[nodiscard]] StageEnd end_of(const StageOption& option, std::size_t stage, std::int64_t stages,
                              bool delayed);

// What the layers outside a state take at least.
struct Floor {
  Seconds f;
  Seconds b;
};
[[nodiscard]] std::vector<Floor> layer_floors(const StageOptions& options);

struct FilledStage {
  std::int32_t from = 0;  // downsets after it and with it
  std::int32_t to = 0;
  std::size_t place = 0;
  Recompute recompute;
  bool splits_tied = false;  // shares weights with other stages
};

struct Filled {
  Seconds step;
  std::vector<FilledStage> stages;  // first stage first
};

// Thrown out of a table that takes more work than it is given for now.
struct PutOff {};

struct FillCounts {
  std::int64_t work = 0;               // transitions tried
  std::int64_t compared = 0;           // labels that new ones were compared with
  std::int64_t labels = 0;             // kept
  std::int64_t cut_short = 0;          // stages whose every recomputation was too much to try
  bool broken_off = false;             // before the end of a table
  bool too_large = false;              // because there was no memory for it
  const Deadline* deadline = nullptr;  // of the question
  MemoryBudget* memory = nullptr;      // of the search
  std::int64_t patience = 0;           // transitions after which a table is put off; 0: it is not
  bool put_off = false;                // the answer is some plan of a table that was put off
  Seconds bound;                       // what few labels showed of it

  // Throws Stopped where the answer is no longer wanted.
  void look() const {
    constexpr std::int64_t kComparisons = 8;  // take about as long as one transition
    if (deadline != nullptr) deadline->glance();
    if (patience > 0 && work + compared / kComparisons > patience) throw PutOff{};
  }
};

// How many labels a cell keeps.
enum class LabelLimit {
  none,
  bound,  // few: labels in excess melt into one that is nowhere above them, so that the answer is a bound
  beam,   // few: the most promising ones, so that the answer is some plan, mostly a good one
};

// Keeps the memory of its lists from one fill to the next, unless it is much.
class Filler {
 public:
  explicit Filler(const Prunings& prunings) : prunings_(prunings) {}

  // The best stages; none where nothing fits, or everything is above `threshold`. Throws Stopped where the
  // table is not wanted any more or too large.
  [[nodiscard]] std::optional<Filled> fill(StageOptions& options, const FillQuestion& question,
                                           Seconds threshold, FillCounts& counts,
                                           LabelLimit limit = LabelLimit::none);
  // Stages of about equal times that fit into memory, each with the least recomputation that does; none where
  // this simple rule finds none. It costs next to nothing.
  [[nodiscard]] std::optional<Filled> guess(StageOptions& options, const FillQuestion& question,
                                            FillCounts& counts);

 private:
  struct Label {
    PipelineLabel pipeline{};
    StepLabel end;
    Seconds bound;           // of complete plans
    std::int32_t state = 0;  // that it came from, and which of its labels
    std::int32_t label = 0;
    std::int32_t place = 0;
    std::int32_t option = 0;
    std::int32_t stage_class = 0;

    [[nodiscard]] bool covers(const Label& other) const;
    void melt(const Label& other);  // nowhere above either
  };
  void prepare(const StageOptions& options, std::size_t states, std::size_t stages);
  void forget() {
    cells_ = {};
    kept_ = 0;
  }
  // What one fill is about.
  struct Filling {
    StageOptions& options;
    const FillQuestion& question;
    Seconds threshold;
    FillCounts& counts;
    MemoryShare& memory;
    std::int64_t& counted;  // of the options' memory
  };
  void add_stage(const Filling& filling, std::int64_t s, std::int32_t state);
  // No complete plan that a label of s stages with the layers of a state leads to is below.
  [[nodiscard]] Seconds label_bound(const FillQuestion& question, Schedule schedule, const Label& label,
                                    std::int64_t s, std::int32_t state) const;
  void insert(std::vector<Label>& labels, const Label& label, FillCounts& counts);
  void insert_limited(std::vector<Label>& labels, const Label& label, FillCounts& counts);
  [[nodiscard]] Filled trace(StageOptions& options, const FillQuestion& question, const Label& last) const;

  Prunings prunings_;
  LabelLimit limit_ = LabelLimit::none;
  std::vector<std::vector<Label>> cells_;  // [stages * states + state]
  std::size_t states_ = 0;
  std::int64_t kept_ = 0;  // labels for which the cells have memory
  std::vector<Floor> floors_;
};

}  // namespace nest::solve
