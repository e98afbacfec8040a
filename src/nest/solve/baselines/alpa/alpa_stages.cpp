#include "nest/solve/baselines/alpa/alpa_stages.hpp"

#include <algorithm>
#include <limits>

namespace nest::solve::alpa {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

// The dynamic program for one guess of the greatest latency.
class Table {
 public:
  Table(const StageProblem& problem, const std::vector<double>& latency)
      : problem_(problem),
        latency_(latency),
        devices_(static_cast<std::size_t>(problem.devices)),
        sums_((problem.layers + 1) * (devices_ + 1)),
        picks_(sums_.size()) {}

  // The least sum of latencies, none above `most`.
  double fill(double most) {
    std::fill(sums_.begin(), sums_.end(), kNever);
    sums_[at(problem_.layers, 0)] = 0;
    for (std::size_t first = problem_.layers; first-- > 0;) {
      for (std::size_t last = first + 1; last <= problem_.layers; ++last) {
        problem_.deadline.glance();
        for (std::size_t m = 0; m < problem_.submeshes.size(); ++m) extend(first, last, m, most);
      }
    }
    return sums_[at(0, devices_)];
  }

  [[nodiscard]] std::vector<StagePick> stages() const {
    std::vector<StagePick> all;
    std::size_t left = devices_;
    for (std::size_t first = 0; first < problem_.layers;) {
      const StagePick& pick = picks_[at(first, left)];
      all.push_back(pick);
      first = pick.last;
      left -= static_cast<std::size_t>(problem_.submeshes[pick.submesh]);
    }
    return all;
  }

  [[nodiscard]] std::int64_t transitions() const { return transitions_; }

 private:
  [[nodiscard]] std::size_t at(std::size_t first, std::size_t devices) const {
    return first * (devices_ + 1) + devices;
  }

  void extend(std::size_t first, std::size_t last, std::size_t m, double most) {
    const double own = latency_[(first * (problem_.layers + 1) + last) * problem_.submeshes.size() + m];
    if (own > most) return;
    const auto width = static_cast<std::size_t>(problem_.submeshes[m]);
    for (std::size_t d = width; d <= devices_; ++d) {
      ++transitions_;
      const double sum = own + sums_[at(last, d - width)];
      if (sum >= sums_[at(first, d)]) continue;
      sums_[at(first, d)] = sum;
      picks_[at(first, d)] = {first, last, m};
    }
  }

  const StageProblem& problem_;
  const std::vector<double>& latency_;
  std::size_t devices_;
  std::vector<double> sums_;  // of the layers from `first` on, on exactly so many devices
  std::vector<StagePick> picks_;
  std::int64_t transitions_ = 0;
};

}  // namespace

std::optional<StageSplit> solve_stages(const StageProblem& problem) {
  const std::size_t n = problem.layers;
  const std::size_t meshes = problem.submeshes.size();
  std::vector<double> latency(n * (n + 1) * meshes, kNever);
  std::vector<double> guesses;
  for (std::size_t first = 0; first < n; ++first) {
    for (std::size_t last = first + 1; last <= n; ++last) {
      for (std::size_t m = 0; m < meshes; ++m) {
        const std::optional<Seconds> own = problem.latency(first, last, m);
        if (!own) continue;
        latency[(first * (n + 1) + last) * meshes + m] = own->value;
        guesses.push_back(own->value);
      }
    }
  }
  std::sort(guesses.begin(), guesses.end());
  guesses.erase(std::unique(guesses.begin(), guesses.end()), guesses.end());
  Table table(problem, latency);
  // What a greater guess allows, a smaller one may not: the smallest that allows anything.
  const auto first = std::partition_point(guesses.begin(), guesses.end(),
                                          [&](double guess) { return table.fill(guess) == kNever; });
  const auto others = static_cast<double>(problem.micro_batches - 1);
  std::optional<StageSplit> best;
  double before = 0;
  for (auto guess = first; guess != guesses.end(); ++guess) {
    if (best && others * *guess >= best->step.value) break;
    if (best && *guess < before * (1 + problem.gap)) continue;
    before = *guess;
    const double step = table.fill(*guess) + others * *guess;
    if (best && step >= best->step.value) continue;
    best = StageSplit{Seconds{step}, table.stages(), 0};
  }
  if (best) best->transitions = table.transitions();
  return best;
}

std::vector<std::size_t> equal_stages(const std::vector<Seconds>& times, std::size_t stages) {
  const std::size_t n = times.size();
  std::vector<double> before(n + 1, 0);
  for (std::size_t i = 0; i < n; ++i) before[i + 1] = before[i] + times[i].value;
  // least[i]: the greatest stage of the first i layers in s stages; cuts[s][i]: where the last of them
  // starts.
  std::vector<double> least = before;
  std::vector<std::vector<std::size_t>> cuts(stages + 1, std::vector<std::size_t>(n + 1, 0));
  for (std::size_t s = 2; s <= stages; ++s) {
    std::vector<double> next(n + 1, kNever);
    for (std::size_t i = s; i <= n; ++i) {
      // The first part grows with the cut and the last stage shrinks: the best lies where they cross.
      std::size_t low = s - 1;
      std::size_t high = i - 1;
      while (low < high) {
        const std::size_t middle = (low + high) / 2;
        if (least[middle] >= before[i] - before[middle]) {
          high = middle;
        } else {
          low = middle + 1;
        }
      }
      const auto value = [&](std::size_t cut) { return std::max(least[cut], before[i] - before[cut]); };
      const std::size_t cut = low > s - 1 && value(low - 1) <= value(low) ? low - 1 : low;
      next[i] = value(cut);
      cuts[s][i] = cut;
    }
    least = std::move(next);
  }
  std::vector<std::size_t> firsts(stages, 0);
  std::size_t end = n;
  for (std::size_t s = stages; s > 1; --s) {
    end = cuts[s][end];
    firsts[s - 1] = end;
  }
  return firsts;
}

}  // namespace nest::solve::alpa
