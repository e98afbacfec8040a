// The best recomputation of every stage of one interleaved split. Every stage has a few variants
// (interleaved_stage.hpp), and the price of the step reads all of them together: chunks of one stage wait for
// chunks of others, and later stages' reductions hide behind the first chunks of those before.
//
// A variant is left out only where another one that fits is no worse in anything that the price reads. Less
// backward time is better for the pipeline; in the first chunk it is also worse for the reductions that hide
// behind it, so there the two must be equal, unless nothing sticks out in any case. What is left is searched
// in depth. The bound takes the least of every quantity over a stage's variants, each on its own, and the
// most of what others hide behind.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "nest/solve/table/interleaved_fill.hpp"
#include "nest/solve/table/interleaved_stage.hpp"

namespace nest::solve {

// What the price of a step reads of a stage.
struct StageReading {
  std::vector<StagePass> passes;  // of the chunks
  double hidden = 0;              // sends that hold up the first and the last micro-batch
  double reduce = 0;              // with its share of the links
  double gather = 0;
  double slow_down = 0;
  double optimizer = 0;
  double norm = 0;
  double hides_f = 0;  // what later stages' gathers and reductions hide behind
  double hides_b = 0;
};

class VariantSearch {
 public:
  struct Best {
    double step = 0;
    std::vector<std::size_t> variants;  // of StageVariants::all(), stage by stage
  };

  // `ordered`: see StageOptions. What it is given outlives this.
  VariantSearch(const InterleavedQuestion& shape, const Prunings& prunings, bool ordered, FillCounts& counts)
      : shape_(&shape), prunings_(prunings), ordered_(ordered), counts_(&counts) {}

  // The best combination that is below `below` and not above `threshold`.
  [[nodiscard]] std::optional<Best> best(const std::vector<StageVariants*>& stages, double threshold,
                                         double below);
  // No combination is below this on any network that is nowhere faster: without reductions and gathers, since
  // longer passes hide more of them (asked for in the shape). None where a stage does not fit.
  [[nodiscard]] std::optional<double> bound(const std::vector<StageVariants*>& stages);

 private:
  struct Candidate {
    std::size_t variant = 0;
    StageReading reading;
    double alone = 0;  // bound with this one, whatever the other stages have
  };

  [[nodiscard]] StageReading reading(std::size_t stage, const StageVariant& variant) const;
  // Fills choices_; false where a stage does not fit.
  [[nodiscard]] bool find(const std::vector<StageVariants*>& stages);
  struct Choices {
    std::vector<Candidate> candidates;
    std::vector<std::size_t> longer;  // variants that only hide more
    bool sets_too = false;            // sets of modules, which are not made yet, only hide more, too
  };
  // Of one stage, whatever the others have.
  const Choices& choices(StageVariants& of, std::size_t stage);
  void add_candidates(StageVariants& of, std::size_t stage, std::size_t first, Choices& found);
  void add_longer(const std::vector<StageVariants*>& stages);
  void add_longer(StageVariants& of, std::size_t stage, std::size_t variant);
  [[nodiscard]] Candidate priced(StageVariants& of, std::size_t stage, std::size_t variant) const;
  void find_ideals();
  void find_alone();
  [[nodiscard]] bool drop_useless();
  [[nodiscard]] bool useful(double bound) const;
  // Of the readings in chosen_; leaves its reduction in reduce_.
  [[nodiscard]] double step();
  // Where every stage has one candidate.
  [[nodiscard]] bool single() const;
  [[nodiscard]] double single_step();
  void copy_candidates();
  void deepen(std::size_t stage);
  void try_all();

  const InterleavedQuestion* shape_;
  Prunings prunings_;
  bool ordered_;
  FillCounts* counts_;
  std::vector<std::vector<Candidate>> candidates_;  // of each stage
  std::vector<const Choices*> choices_;
  std::map<std::pair<StageVariants*, std::size_t>, Choices> known_;  // splits share many stages
  std::vector<StageReading> ideals_;
  std::vector<const StageReading*> chosen_;
  std::vector<std::size_t> at_;
  std::vector<double> after_;  // bound that the stages from here on have alone
  std::vector<StagePass> passes_;
  double threshold_ = 0;
  double least_ = 0;
  double reduce_ = 0;
  std::int64_t left_ = 0;  // of what may be tried
  std::optional<Best> best_;
};

}  // namespace nest::solve
