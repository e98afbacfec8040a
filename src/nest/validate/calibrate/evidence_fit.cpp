#include "nest/validate/calibrate/evidence_fit.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

namespace nest::validate {
namespace {

using Numbers = std::vector<double>;

constexpr double kNormal80 = 1.2816;  // 80 % of a normal distribution lie within so many standard deviations
constexpr double kFreedom = 3;        // of Student's distributions
// Where the model is asked; between them its logarithms lie on lines. The ends are a factor of ten.
constexpr std::array<double, 23> kNodes{-2.3, -1.8,  -1.4,  -1.1, -0.8, -0.55, -0.35, -0.2,
                                        -0.1, -0.05, -0.02, 0,    0.02, 0.05,  0.1,   0.2,
                                        0.35, 0.55,  0.8,   1.1,  1.4,  1.8,   2.3};
constexpr double kGrain = 0.01;  // of the integrals
// A constant that is moved by less is not: nobody would see it.
constexpr double kLeast = 0.002;

double student(double x, double width) {
  static const double kScale =
      std::exp(std::lgamma((kFreedom + 1) / 2) - std::lgamma(kFreedom / 2)) / std::sqrt(kFreedom * M_PI);
  return kScale / width * std::pow(1 + x * x / (width * width * kFreedom), -(kFreedom + 1) / 2);
}

struct Evidence {
  double weight = 0;  // of the measurements, if this constant is off
  double mean = 0;    // of its values then
  double square = 0;
};

class Regression {
 public:
  explicit Regression(const FitProblem& problem) : p_(problem), at_(problem.prior.size(), 0) {}

  [[nodiscard]] const Numbers& values() const { return at_; }
  void set(std::size_t constant, double value) { at_[constant] = value; }

  [[nodiscard]] double likelihood(const Numbers& predicted) const {
    double out = 1;
    for (std::size_t i = 0; i < predicted.size(); ++i)
      out *= student(p_.measured[i] - predicted[i], p_.noise[i]);
    return out;
  }
  // With the constants as they are now.
  [[nodiscard]] double likelihood() const { return likelihood(p_.predict(at_)); }

  // Of one constant, the others being as they are now.
  [[nodiscard]] Evidence evidence(std::size_t constant) const {
    std::vector<Numbers> asked;
    for (const double node : kNodes) {
      Numbers at = at_;
      at[constant] = node;
      asked.push_back(p_.predict(at));
    }
    Evidence out;
    std::size_t left = 0;
    for (double x = kNodes.front(); x < kNodes.back(); x += kGrain) {
      while (left + 2 < kNodes.size() && kNodes[left + 1] <= x) ++left;
      const double part = (x - kNodes[left]) / (kNodes[left + 1] - kNodes[left]);
      Numbers predicted;
      for (std::size_t i = 0; i < p_.measured.size(); ++i)
        predicted.push_back(asked[left][i] + part * (asked[left + 1][i] - asked[left][i]));
      const double weight = likelihood(predicted) * student(x, p_.prior[constant]) * kGrain;
      out.weight += weight;
      out.mean += weight * x;
      out.square += weight * x * x;
    }
    if (!(out.weight > 0)) return {};
    out.mean /= out.weight;
    out.square /= out.weight;
    return out;
  }

  // By both sides: what is fast enough already matters only if it becomes slower.
  [[nodiscard]] double sensitivity(std::size_t constant) const {
    constexpr double kNudge = 0.05;
    Numbers less = at_;
    Numbers more = at_;
    less[constant] -= kNudge;
    more[constant] += kNudge;
    const Numbers below = p_.predict(less);
    const Numbers above = p_.predict(more);
    double squares = 0;
    for (std::size_t i = 0; i < below.size(); ++i)
      squares += std::pow((above[i] - below[i]) / (2 * kNudge), 2);
    return below.empty() ? 0 : std::sqrt(squares / static_cast<double>(below.size()));
  }

 private:
  const FitProblem& p_;
  Numbers at_;
};

}  // namespace

Fit fit_constants(const FitProblem& p) {
  const std::size_t constants = p.prior.size();
  Fit out{Numbers(constants, 0), Numbers(constants, 0), {}};
  Regression regression(p);
  for (std::size_t k = 0; k < constants; ++k) out.sensitivity.push_back(regression.sensitivity(k));
  // Of one constant among `all` that may be off; whether it moves.
  const auto move = [&](std::size_t k, const Evidence& evidence, double none, double all) {
    // Nothing may be off; and what this constant explains may be another one's doing.
    const double sure = evidence.weight / (evidence.weight + none);
    const double value = sure * evidence.mean;
    const bool moves = evidence.weight > 0 && std::abs(value) >= kLeast && sure >= 0.5;
    regression.set(k, moves ? value : 0);
    const double share = evidence.weight / all;
    const double variance = share * evidence.square + value * (value - 2 * share * evidence.mean);
    out.spread[k] = moves ? std::sqrt(std::max(variance, 0.0)) : 0;
    return moves;
  };
  std::vector<std::size_t> moved;
  const std::size_t most = p.measured.empty() ? 0 : std::min(constants, 1 + (p.measured.size() - 1) / 2);
  while (moved.size() < most) {
    const double none = regression.likelihood();
    double all = none;
    Evidence best;
    std::optional<std::size_t> which;
    for (std::size_t k = 0; k < constants; ++k) {
      if (regression.values()[k] != 0 || out.sensitivity[k] <= 0) continue;
      const Evidence evidence = regression.evidence(k);
      all += evidence.weight;
      if (which && evidence.weight <= best.weight) continue;
      best = evidence;
      which = k;
    }
    if (!which || !move(*which, best, none, all)) break;
    moved.push_back(*which);
    // Those before it were moved without it.
    for (std::size_t sweep = 0; moved.size() > 1 && sweep < 2; ++sweep) {
      for (const std::size_t k : moved) {
        regression.set(k, 0);
        const double without = regression.likelihood();
        const Evidence evidence = regression.evidence(k);
        move(k, evidence, without, without + evidence.weight);
      }
    }
  }
  out.values = regression.values();
  return out;
}

Multiple multiple_of(const Fit& fit, std::size_t constant) {
  const double value = fit.values[constant];
  if (value == 0) return {};
  const double width = kNormal80 * fit.spread[constant];
  return {std::exp(value), std::exp(value - width), std::exp(value + width)};
}

}  // namespace nest::validate
