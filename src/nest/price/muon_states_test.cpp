#include "nest/price/muon_states.hpp"

#include <gtest/gtest.h>

namespace nest::price {
namespace {

// 1,000 parameters, 800 of them in 4 matrices, which take 8 s; 600 of experts in 6 matrices of 100, 12 s.
LayerTerms terms() {
  LayerTerms t;
  t.of(Term::dense_parameters) = 1000;
  t.of(Term::matrix_dense) = 800;
  t.of(Term::matrices_dense) = 4;
  t.of(Term::orthogonal_dense) = 8;
  t.of(Term::expert_parameters) = 600;
  t.of(Term::matrix_expert) = 600;
  t.of(Term::matrices_expert) = 6;
  t.of(Term::orthogonal_expert) = 12;
  return t;
}

StageNetwork network(std::int64_t dense, std::int64_t expert) {
  StageNetwork n;
  n.dense.shards = dense;
  n.expert.shards = expert;
  return n;
}

TEST(MuonStates, WithoutZeroEveryRankHasAll) {
  const MuonStates s = muon_states(terms(), network(8, 2), 0, 50);
  EXPECT_DOUBLE_EQ(s.others, 200 + 50);  // tied copies are of embeddings
  EXPECT_DOUBLE_EQ(s.matrices, 1400);
  EXPECT_DOUBLE_EQ(s.orthogonal, 20);
  EXPECT_EQ(s.dense_bytes + s.expert_bytes, 0);
}

// Two ranks have two matrices each; of eight ranks four have one, and the others none: the fullest counts.
TEST(MuonStates, ZeroOneDealsOutWholeMatrices) {
  const MuonStates two = muon_states(terms(), network(2, 2), 1, 0);
  EXPECT_DOUBLE_EQ(two.others, 100);
  EXPECT_DOUBLE_EQ(two.matrices, 400 + 300);
  EXPECT_DOUBLE_EQ(two.orthogonal, 4 + 6);
  EXPECT_EQ(two.dense_bytes + two.expert_bytes, 0);
  const MuonStates eight = muon_states(terms(), network(8, 2), 1, 0);
  EXPECT_DOUBLE_EQ(eight.others, 25);
  EXPECT_DOUBLE_EQ(eight.matrices, 200 + 300);
  EXPECT_DOUBLE_EQ(eight.orthogonal, 2 + 6);
}

// Of its eighth of 800 parameters, a rank sends 100 in 16 bits; of experts half of 600.
TEST(MuonStates, ZeroTwoAndThreeSendPartsOfMatrices) {
  for (const std::int64_t zero : {2, 3}) {
    const MuonStates s = muon_states(terms(), network(8, 2), zero, 0);
    EXPECT_DOUBLE_EQ(s.others, 25);
    EXPECT_DOUBLE_EQ(s.matrices, 100 + 300);
    EXPECT_DOUBLE_EQ(s.orthogonal, 2 + 6);
    EXPECT_DOUBLE_EQ(s.dense_bytes, 200);
    EXPECT_DOUBLE_EQ(s.expert_bytes, 600);
    EXPECT_EQ(muon_states(terms(), network(1, 1), zero, 0).dense_bytes, 0);
  }
}

// What memory_floor relies on: the states of a whole model, shared out, are no more than those of its stages together.
TEST(MuonStates, AWholeIsNoMoreThanItsParts) {
  for (const std::int64_t shards : {1, 2, 3, 8, 64}) {
    for (const double matrices : {1.0, 2.0, 7.0, 30.0}) {
      LayerTerms small;
      small.of(Term::dense_parameters) = small.of(Term::matrix_dense) = 10;
      small.of(Term::matrices_dense) = matrices;
      LayerTerms both = terms();
      both += small;
      const StageNetwork n = network(shards, shards);
      EXPECT_LE(
          muon_states(both, n, 1, 0).matrices,
          (muon_states(terms(), n, 1, 0).matrices + muon_states(small, n, 1, 0).matrices) * (1 + 1e-12));
    }
  }
}

}  // namespace
}  // namespace nest::price
