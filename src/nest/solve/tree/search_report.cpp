// What a search tree tells of itself: its progress now and then, and its counts at the end.
#include <algorithm>

#include "nest/solve/tree/search_tree.hpp"

namespace nest::solve {
namespace {

constexpr Seconds kBetweenReports{0.2};
constexpr Seconds kFirstReport{0.02};  // whoever drags a slider waits for a bound

}  // namespace

void SearchTree::report() {
  const Seconds wait = reported_ == Seconds{} ? kFirstReport : kBetweenReports;
  if (!options_->progress || watch_.elapsed() - reported_ < wait) return;
  reported_ = watch_.elapsed();
  tell();
}

void SearchTree::tell() const {
  if (!options_->progress) return;
  SearchProgress progress;
  progress.elapsed = watch_.elapsed();
  // As the answer has it; a bound of costs is told as the step that the best plan's devices would have to take.
  progress.bound = left_out() / (best_->best() != nullptr ? best_->best()->weight : 1);
  if (best_->best() != nullptr) {
    progress.best = best_->best()->step;
    progress.bound = std::min(progress.bound, *progress.best);
  }
  progress.fills = fills_ + relaxed_;
  progress.open = static_cast<std::int64_t>(wide_.size() + deep_.size());
  options_->progress(progress);
}

void SearchTree::count(SearchStats& stats) const {
  stats.configurations = opened_;
  stats.fills = fills_;
  stats.labels = counts_.labels;
  stats.work = counts_.work;
  for (const auto& [name, count] : pruned_) stats.pruned.emplace_back(name, count);
}

}  // namespace nest::solve
