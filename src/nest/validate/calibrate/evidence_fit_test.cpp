#include "nest/validate/calibrate/evidence_fit.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace nest::validate {
namespace {

// Each measurement depends on the constants by these shares.
Fit fit(const std::vector<std::vector<double>>& shares, const std::vector<double>& measured) {
  FitProblem problem;
  problem.predict = [&](std::span<const double> at) {
    std::vector<double> out;
    for (const auto& row : shares) {
      double sum = 0;
      for (std::size_t k = 0; k < row.size(); ++k) sum += row[k] * at[k];
      out.push_back(sum);
    }
    return out;
  };
  problem.measured = measured;
  problem.noise.assign(measured.size(), 0.04);
  problem.prior.assign(shares.front().size(), 0.05);
  return fit_constants(problem);
}

TEST(EvidenceFit, TwoThatAgreeMoveAConstantAndOneMovesItLess) {
  const double two = fit({{1}, {1}}, {0.3, 0.3}).values[0];
  const double one = fit({{1}}, {0.3}).values[0];
  EXPECT_GT(two, 0.24);
  EXPECT_LT(two, 0.3);
  EXPECT_GT(one, 0.05);
  EXPECT_LT(one, 0.2);
}

TEST(EvidenceFit, WhatLiesWithinTheNoiseMovesNothing) {
  EXPECT_EQ(fit({{1}, {1}}, {0.01, -0.01}).values[0], 0);
  EXPECT_EQ(multiple_of(fit({{1}, {1}}, {0.01, -0.01}), 0), Multiple{});
}

TEST(EvidenceFit, RowsThatContradictEachOtherMoveLittle) {
  EXPECT_LT(std::abs(fit({{1}, {1}}, {0.4, -0.3}).values[0]), 0.08);
}

TEST(EvidenceFit, TwoRowsMoveTheOneConstantThatExplainsThem) {
  // The second measurement does not depend on the second constant, and is as predicted.
  const Fit f = fit({{0.5, 0.5}, {1, 0}}, {0.3, 0});
  EXPECT_EQ(f.values[0], 0);
  EXPECT_GT(f.values[1], 0.05);
  EXPECT_DOUBLE_EQ(f.sensitivity[0], std::sqrt((0.25 + 1) / 2));
}

TEST(EvidenceFit, AConstantThatNothingDependsOnStays) {
  const Fit f = fit({{1, 0}, {1, 0}}, {0.3, 0.3});
  EXPECT_EQ(f.values[1], 0);
  EXPECT_EQ(f.sensitivity[1], 0);
}

TEST(EvidenceFit, ThreeRowsMayMoveTwoConstants) {
  const Fit f = fit({{1, 0}, {1, 0}, {0, 1}, {0, 1}}, {0.3, 0.3, -0.3, -0.3});
  EXPECT_GT(f.values[0], 0.2);
  EXPECT_LT(f.values[1], -0.2);
}

TEST(EvidenceFit, TheIntervalOfOneRowIsWide) {
  const Multiple one = multiple_of(fit({{1}}, {0.3}), 0);
  const Multiple two = multiple_of(fit({{1}, {1}}, {0.3, 0.3}), 0);
  EXPECT_LT(one.low, 1.05);
  EXPECT_GT(one.high / one.low, two.high / two.low);
}

}  // namespace
}  // namespace nest::validate
