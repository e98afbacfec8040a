// One step of the random walk: a plan that differs a little from another. Mostly a boundary between stages or
// one degree, with the number of copies that fills the devices again; now and then two things at once.
//
//   McmcMoves moves(space);
//   moves.propose(state, slowest, random, next)
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "nest/solve/baselines/mcmc/mcmc_space.hpp"
#include "nest/solve/baselines/mcmc/seeded_random.hpp"

namespace nest::solve {

class McmcMoves {
 public:
  // `space` outlives this.
  explicit McmcMoves(McmcSpace& space);

  // `slowest`: the stage of `state` that takes longest. False where the move drawn leads nowhere.
  [[nodiscard]] bool propose(const McmcState& state, std::int64_t slowest, SeededRandom& random,
                             McmcState& next);

  // Each move by itself, for tests.
  [[nodiscard]] static std::vector<std::string_view> names();
  [[nodiscard]] bool propose(std::string_view move, const McmcState& state, std::int64_t slowest,
                             SeededRandom& random, McmcState& next);

 private:
  struct Move {
    std::string_view name;
    int weight;
    bool (McmcMoves::*change)(McmcState&);
  };
  static const std::vector<Move>& all();

  bool boundary(McmcState& next);
  bool balance(McmcState& next);
  bool order(McmcState& next);
  bool split_or_merge(McmcState& next);
  bool micro_batch(McmcState& next);
  bool strategy(McmcState& next);
  bool pipeline(McmcState& next);
  bool copies(McmcState& next);
  bool inner(McmcState& next);
  bool block(McmcState& next);
  bool direction(McmcState& next);
  bool zero(McmcState& next);
  bool shards(McmcState& next);
  bool recompute(McmcState& next);

  // Copies that all lie side by side still do.
  void set_copies(McmcState& next, std::int64_t copies);
  // Mostly as many copies as there are devices for.
  void fill(McmcState& next);
  // Another one of the list, often a neighbour.
  template <class T>
  bool step(const std::vector<T>& list, T& value);

  McmcSpace* space_;
  SeededRandom* random_ = nullptr;
  std::int64_t slowest_ = 0;
};

}  // namespace nest::solve
