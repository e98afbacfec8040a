#include "nest/frameworks/torchtitan/titan_parts.hpp"

#include <gtest/gtest.h>

#include "nest/base/document/document.hpp"
#include "support/message_of.hpp"

namespace nest::frameworks {
namespace {

using Parts = std::vector<std::int64_t>;

// generate_llm_fqn_per_model_part of 0.2.2: 34 slots over 4 parts are 9, 9, 8, 8; embedding and head take one each.
TEST(TitanParts, CountsEmbeddingAndHeadAsLayers) {
  EXPECT_EQ(titan_even_parts(4, 32, 1, 1), (Parts{9, 9, 8, 8}));
  EXPECT_EQ(titan_even_parts(4, 32, 2, 2), (Parts{8, 9, 9, 8}));
  EXPECT_EQ(titan_even_parts(2, 4, 0, 0), (Parts{3, 3}));
  EXPECT_EQ(titan_even_parts(1, 32, 1, 1), (Parts{34}));
  EXPECT_EQ(message_of([] { static_cast<void>(titan_even_parts(8, 4, 1, 1)); }),
            "4 layers do not fill 8 parts");
}

TEST(TitanParts, ReadsNamesOfModules) {
  const auto parts = [](const std::string& json) { return titan_named_parts(parse_json("x", json).root, 3); };
  EXPECT_EQ(parts(R"([["tok_embeddings","layers.0"],["layers.1"],["layers.2","norm","output"]])"),
            (Parts{2, 1, 2}));
  EXPECT_EQ(message_of([&] { static_cast<void>(parts(R"([["tok_embeddings","layers.1"]])")); }),
            "'layers.0' is expected where 'layers.1' stands: a plan has all layers in their order");
  EXPECT_EQ(message_of([&] { static_cast<void>(parts(R"([["tok_embeddings"],["norm"]])")); }),
            "part 1 has no layers");
  EXPECT_EQ(message_of([&] { static_cast<void>(parts(R"([["tok_embeddings"]])")); }),
            "it has 1 layers with embedding and head, the model 5");
  EXPECT_EQ(message_of([&] { static_cast<void>(parts("[3]")); }), "a list of lists of modules is expected");
}

}  // namespace
}  // namespace nest::frameworks
