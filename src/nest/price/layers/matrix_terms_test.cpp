#include "nest/price/layers/matrix_terms.hpp"

#include <gtest/gtest.h>

#include "nest/cluster/catalog.hpp"
#include "nest/estimate/kernels/orthogonalization.hpp"
#include "nest/model/blocks/build.hpp"
#include "nest/model/zoo.hpp"
#include "nest/strategies/registry.hpp"

namespace nest::price {
namespace {

// Of the first repeated block, and of the embedding before it.
LayerTerms terms_of(const char* name, const Strategy& strategy, bool block = true) {
  const Model model = build_model(zoo_model(name), {.micro_batch = 1, .sequence = 4096});
  LayerTerms terms;
  for (const LayerType& type : model.types) {
    if (type.is_block() != block) continue;
    add_matrix_terms(shard_layer(type, strategy), *shared_kernel_times(find_accelerator("h200")), 1, terms);
    break;
  }
  return terms;
}

double seconds(std::int64_t rows, std::int64_t columns) {
  return orthogonalization(rows, columns, *shared_kernel_times(find_accelerator("h200"))).value;
}

// Llama-3.1 8B: q and o are 4096 x 4096, k and v 4096 x 1024, gate, up and down 4096 x 14336. The norms' 8,192 are Adam's.
TEST(MatrixTerms, OfABlockByHand) {
  const LayerTerms t = terms_of("llama3.1-8b", {});
  EXPECT_DOUBLE_EQ(t.of(Term::matrix_dense), 2.0 * 4096 * 4096 + 2.0 * 4096 * 1024 + 3.0 * 4096 * 14336);
  EXPECT_DOUBLE_EQ(t.of(Term::matrices_dense), 7);
  EXPECT_NEAR(t.of(Term::orthogonal_dense),
              2 * seconds(4096, 4096) + 2 * seconds(4096, 1024) + 3 * seconds(4096, 14336), 1e-12);
  EXPECT_EQ(t.of(Term::matrix_expert) + t.of(Term::matrices_expert) + t.of(Term::orthogonal_expert), 0);
}

// Each rank orthogonalizes the part of a matrix that it has.
TEST(MatrixTerms, OfATensorRank) {
  const LayerTerms t = terms_of("llama3.1-8b", {.tensor = 4});
  EXPECT_DOUBLE_EQ(t.of(Term::matrices_dense), 7);
  EXPECT_NEAR(t.of(Term::orthogonal_dense),
              2 * seconds(4096, 1024) + 2 * seconds(4096, 256) + 3 * seconds(4096, 3584), 1e-12);
}

TEST(MatrixTerms, EmbeddingsAreAdams) {
  EXPECT_EQ(terms_of("llama3.1-8b", {}, false).of(Term::matrices_dense), 0);
}

// Mixtral 8x7B with 2 of its 8 experts here: three matrices each; besides attention's four there is the router.
TEST(MatrixTerms, OfExperts) {
  const LayerTerms t = terms_of("mixtral-8x7b", {.expert = 4});
  EXPECT_DOUBLE_EQ(t.of(Term::matrices_expert), 2 * 3);
  EXPECT_DOUBLE_EQ(t.of(Term::matrix_expert), 2 * 3.0 * 4096 * 14336);
  EXPECT_NEAR(t.of(Term::orthogonal_expert), 6 * seconds(4096, 14336), 1e-12);
  EXPECT_DOUBLE_EQ(t.of(Term::matrices_dense), 5);
  EXPECT_DOUBLE_EQ(t.of(Term::matrix_dense), 2.0 * 4096 * 4096 + 2.0 * 4096 * 1024 + 4096 * 8);
}

}  // namespace
}  // namespace nest::price
