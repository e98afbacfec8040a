#include "nest/solve/baselines/mcmc/mcmc_moves.hpp"

#include <algorithm>
#include <numeric>

namespace nest::solve {

McmcMoves::McmcMoves(McmcSpace& space) : space_(&space) {}

// Placements that are new to the pricer cost most, so most moves keep the placement.
const std::vector<McmcMoves::Move>& McmcMoves::all() {
  static const std::vector<Move> kMoves{
      {"boundary", 8, &McmcMoves::boundary},
      {"balance", 6, &McmcMoves::balance},
      {"order", 4, &McmcMoves::order},
      {"split or merge", 2, &McmcMoves::split_or_merge},
      {"micro-batch", 2, &McmcMoves::micro_batch},
      {"strategy", 2, &McmcMoves::strategy},
      {"pipeline", 2, &McmcMoves::pipeline},
      {"copies", 1, &McmcMoves::copies},
      {"inner copies", 1, &McmcMoves::inner},
      {"block", 1, &McmcMoves::block},
      {"direction", 1, &McmcMoves::direction},
      {"ZeRO", 2, &McmcMoves::zero},
      {"ZeRO shards", 1, &McmcMoves::shards},
      {"recomputation", 3, &McmcMoves::recompute},
  };
  return kMoves;
}

std::vector<std::string_view> McmcMoves::names() {
  std::vector<std::string_view> list;
  for (const Move& move : all()) list.push_back(move.name);
  return list;
}

bool McmcMoves::propose(const McmcState& state, std::int64_t slowest, SeededRandom& random, McmcState& next) {
  static const int kTotal = std::accumulate(all().begin(), all().end(), 0,
                                            [](int sum, const Move& move) { return sum + move.weight; });
  random_ = &random;
  slowest_ = slowest;
  next = state;
  const int moves = random.once_in(4) ? 2 : 1;
  for (int i = 0; i < moves; ++i) {
    std::int64_t left = random.below(kTotal);
    auto move = all().begin();
    for (; left >= move->weight; ++move) left -= move->weight;
    const McmcState before = next;
    if (!(this->*move->change)(next) || !space_->settle(next, before)) return false;
  }
  return !(next == state);
}

bool McmcMoves::propose(std::string_view name, const McmcState& state, std::int64_t slowest,
                        SeededRandom& random, McmcState& next) {
  const auto move = std::find_if(all().begin(), all().end(), [&](const Move& m) { return m.name == name; });
  random_ = &random;
  slowest_ = slowest;
  next = state;
  return (this->*move->change)(next) && space_->settle(next, state) && !(next == state);
}

template <class T>
bool McmcMoves::step(const std::vector<T>& list, T& value) {
  if (list.size() < 2) return false;
  const auto at = std::find(list.begin(), list.end(), value);
  if (at == list.end() || random_->once_in(2)) {
    const T drawn = list[static_cast<std::size_t>(random_->below(static_cast<std::int64_t>(list.size())))];
    const bool other = !(drawn == value);
    value = drawn;
    return other;
  }
  const bool up = random_->once_in(2);
  if (up ? at + 1 == list.end() : at == list.begin()) return false;
  value = up ? *(at + 1) : *(at - 1);
  return true;
}

void McmcMoves::set_copies(McmcState& next, std::int64_t copies) {
  const bool together = next.copies > 1 ? next.inner == next.copies : random_->once_in(2);
  if (together) next.inner = copies;
  next.copies = copies;
}

void McmcMoves::fill(McmcState& next) {
  if (random_->once_in(4)) return;
  const McmcSpace::Numbers left = space_->copies(next);
  if (left.empty()) return;
  set_copies(next, left.back());
}

bool McmcMoves::boundary(McmcState& next) {
  return space_->cuts().shift(next.cut, *random_);
}

// From the slowest stage, or from any, to any.
bool McmcMoves::balance(McmcState& next) {
  const std::int64_t from = random_->once_in(2) ? slowest_ : random_->below(next.pipeline);
  if (from >= next.pipeline) return false;
  return space_->cuts().transfer(next.cut, from, random_->below(next.pipeline));
}

bool McmcMoves::order(McmcState& next) {
  return space_->cuts().reorder(next.cut, *random_);
}

bool McmcMoves::split_or_merge(McmcState& next) {
  const bool split = random_->once_in(2);
  const bool changed =
      split ? space_->cuts().split(next.cut, *random_) : space_->cuts().merge(next.cut, *random_);
  next.pipeline = McmcCuts::stages(next.cut);
  const McmcSpace::Numbers& allowed = space_->pipelines();
  if (!changed || !std::binary_search(allowed.begin(), allowed.end(), next.pipeline)) return false;
  fill(next);
  return true;
}

bool McmcMoves::micro_batch(McmcState& next) {
  if (!step(space_->micro_batches(), next.micro_batch)) return false;
  fill(next);
  return true;
}

bool McmcMoves::strategy(McmcState& next) {
  if (!step(space_->strategies(), next.strategy)) return false;
  fill(next);
  return true;
}

bool McmcMoves::pipeline(McmcState& next) {
  const McmcSpace::Numbers& allowed = space_->pipelines();
  const std::int64_t doubled = random_->once_in(2) ? next.pipeline * 2 : next.pipeline / 2;
  if (random_->once_in(2) && std::binary_search(allowed.begin(), allowed.end(), doubled)) {
    next.pipeline = doubled;
  } else if (!step(allowed, next.pipeline)) {
    return false;
  }
  fill(next);
  return true;
}

bool McmcMoves::copies(McmcState& next) {
  std::int64_t wanted = next.copies;
  if (!step(space_->copies(next), wanted)) return false;
  set_copies(next, wanted);
  return true;
}

bool McmcMoves::inner(McmcState& next) {
  return step(space_->inner(next), next.inner);
}

bool McmcMoves::block(McmcState& next) {
  const auto sizes = static_cast<std::int64_t>(space_->blocks(next).size());
  if (sizes < 2) return false;
  next.block = static_cast<std::size_t>(random_->below(sizes));
  return true;
}

bool McmcMoves::direction(McmcState& next) {
  const std::vector<bool> ways = space_->directions(next);
  next.first_stage_first =
      ways[static_cast<std::size_t>(random_->below(static_cast<std::int64_t>(ways.size())))];
  return true;
}

bool McmcMoves::zero(McmcState& next) {
  return step(space_->zeros(next), next.zero);
}

bool McmcMoves::shards(McmcState& next) {
  return next.zero.shards_anything() && step(space_->blocks(next)[next.block].shards, next.zero_shards);
}

bool McmcMoves::recompute(McmcState& next) {
  return step(space_->recomputes(next), next.recompute);
}

}  // namespace nest::solve
