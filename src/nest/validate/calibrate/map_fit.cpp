#include "nest/validate/calibrate/map_fit.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <utility>

namespace nest::validate {
namespace {

using Matrix = std::vector<std::vector<double>>;
using Numbers = std::vector<double>;

constexpr double kNormal80 = 1.2816;  // 80 % of a normal distribution lie within so many standard deviations
constexpr int kRounds = 8;
constexpr double kNudge = 0.02;      // of a constant, for its sensitivity
constexpr double kFarthest = 2.3;    // a factor of ten
constexpr double kNoiseFreedom = 4;  // degrees of freedom: as if so many rows had been seen before
constexpr double kPriorFreedom = 3;
// By how much the negative log-likelihood has to fall for one more constant (as in Akaike's criterion, about).
constexpr double kWorth = 0.75;

// The inverse of a symmetric positive definite matrix of a few rows (Gauss and Jordan).
Matrix inverted(Matrix a) {
  const std::size_t n = a.size();
  Matrix out(n, Numbers(n, 0));
  for (std::size_t i = 0; i < n; ++i) out[i][i] = 1;
  for (std::size_t i = 0; i < n; ++i) {
    const double pivot = a[i][i];
    for (std::size_t k = 0; k < n; ++k) {
      a[i][k] /= pivot;
      out[i][k] /= pivot;
    }
    for (std::size_t row = 0; row < n; ++row) {
      const double factor = a[row][i];
      if (row == i || factor == 0) continue;
      for (std::size_t k = 0; k < n; ++k) {
        a[row][k] -= factor * a[i][k];
        out[row][k] -= factor * out[i][k];
      }
    }
  }
  return out;
}

double square(double x) {
  return x * x;
}

// The constants `free` are moved, all others stay at 0.
class Search {
 public:
  explicit Search(const FitProblem& problem) : p_(problem), base_(problem.predict(Numbers(count(), 0))) {}

  struct Answer {
    Numbers values;
    Numbers spread;
    double cost = 0;
  };

  [[nodiscard]] Answer none() const {
    return {Numbers(count(), 0), p_.prior, cost(Numbers(count(), 0), base_)};
  }

  // From both ends: from the shipped constants, and from what the rows say alone.
  [[nodiscard]] Answer fit(const std::vector<std::size_t>& free) const {
    const Answer near = climb(free, false);
    const Answer far = climb(free, true);
    return far.cost < near.cost ? far : near;
  }

  // Rows: measurements. Columns: the free constants.
  [[nodiscard]] Matrix slopes(const std::vector<std::size_t>& free, const Numbers& at,
                              const Numbers& here) const {
    Matrix out(here.size(), Numbers(free.size(), 0));
    for (std::size_t k = 0; k < free.size(); ++k) {
      Numbers moved = at;
      moved[free[k]] += kNudge;
      const Numbers there = p_.predict(moved);
      for (std::size_t i = 0; i < here.size(); ++i) out[i][k] = (there[i] - here[i]) / kNudge;
    }
    return out;
  }
  [[nodiscard]] const Numbers& base() const { return base_; }

 private:
  [[nodiscard]] std::size_t count() const { return p_.prior.size(); }
  [[nodiscard]] std::size_t rows() const { return p_.measured.size(); }

  [[nodiscard]] double misfit(const Numbers& predicted) const {
    double sum = 0;
    for (std::size_t i = 0; i < rows(); ++i) sum += square((p_.measured[i] - predicted[i]) / p_.noise[i]);
    return sum;
  }

  [[nodiscard]] double cost(const Numbers& values, const Numbers& predicted) const {
    const auto n = static_cast<double>(rows());
    double sum = (kNoiseFreedom + n) / 2 * std::log(1 + misfit(predicted) / kNoiseFreedom);
    for (std::size_t k = 0; k < count(); ++k)
      sum += (kPriorFreedom + 1) / 2 * std::log(1 + square(values[k] / p_.prior[k]) / kPriorFreedom);
    return sum;
  }

  // Rounds of weighted least squares, whose weights are those of Student's distributions at the last round's values.
  [[nodiscard]] Answer climb(const std::vector<std::size_t>& free, bool from_rows) const {
    Answer out = none();
    const auto n = static_cast<double>(rows());
    for (int round = 0; round < kRounds; ++round) {
      const Numbers here = round == 0 ? base_ : p_.predict(out.values);
      const Matrix slope = slopes(free, out.values, here);
      const bool open = from_rows && round < 2;
      const double trust = open ? 1 : (kNoiseFreedom + n) / (kNoiseFreedom + misfit(here));
      Matrix precision(free.size(), Numbers(free.size(), 0));
      Numbers pull(free.size(), 0);
      for (std::size_t k = 0; k < free.size(); ++k) {
        const double width = p_.prior[free[k]];
        const double held =
            (kPriorFreedom + 1) / (kPriorFreedom * square(width) + square(out.values[free[k]]));
        precision[k][k] = open ? held / 100 : held;
        for (std::size_t i = 0; i < rows(); ++i) {
          const double weight = trust / square(p_.noise[i]);
          // What is left to explain, with what the constants explain already put back.
          double left = p_.measured[i] - here[i];
          for (std::size_t j = 0; j < free.size(); ++j) left += slope[i][j] * out.values[free[j]];
          pull[k] += slope[i][k] * weight * left;
          for (std::size_t j = 0; j < free.size(); ++j) precision[k][j] += slope[i][k] * weight * slope[i][j];
        }
      }
      const Matrix covariance = inverted(std::move(precision));
      for (std::size_t k = 0; k < free.size(); ++k) {
        double value = 0;
        for (std::size_t j = 0; j < free.size(); ++j) value += covariance[k][j] * pull[j];
        out.values[free[k]] = std::clamp(value, -kFarthest, kFarthest);
        out.spread[free[k]] = std::sqrt(covariance[k][k]);
      }
    }
    out.cost = cost(out.values, p_.predict(out.values));
    return out;
  }

  const FitProblem& p_;
  Numbers base_;
};

}  // namespace

Fit map_fit(const FitProblem& p) {
  const Search search(p);
  std::vector<std::size_t> all(p.prior.size());
  for (std::size_t k = 0; k < all.size(); ++k) all[k] = k;
  Fit out;
  const Matrix slope = search.slopes(all, Numbers(all.size(), 0), search.base());
  for (const std::size_t k : all) {
    double squares = 0;
    for (const Numbers& row : slope) squares += square(row[k]);
    out.sensitivity.push_back(slope.empty() ? 0 : std::sqrt(squares / static_cast<double>(slope.size())));
  }
  const std::size_t most = p.measured.empty() ? 0 : 1 + (p.measured.size() - 1) / 2;
  std::vector<std::size_t> free;
  Search::Answer best = search.none();
  while (free.size() < std::min(most, all.size())) {
    std::optional<std::size_t> next;
    Search::Answer better = best;
    for (const std::size_t k : all) {
      if (std::find(free.begin(), free.end(), k) != free.end() || out.sensitivity[k] <= 0) continue;
      std::vector<std::size_t> with = free;
      with.push_back(k);
      const Search::Answer answer = search.fit(with);
      if (answer.cost < (next ? better.cost : best.cost - kWorth)) {
        next = k;
        better = answer;
      }
    }
    if (!next) break;
    free.push_back(*next);
    best = better;
  }
  out.values = best.values;
  out.spread = best.spread;
  return out;
}

Multiple multiple_of(const Fit& fit, std::size_t constant) {
  const double value = fit.values[constant];
  if (value == 0) return {};
  const double width = kNormal80 * fit.spread[constant];
  return {std::exp(value), std::exp(value - width), std::exp(value + width)};
}

}  // namespace nest::validate
