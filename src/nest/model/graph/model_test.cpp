#include "nest/model/graph/model.hpp"

#include <gtest/gtest.h>

#include "nest/model/hub/test_configs.hpp"

namespace nest::model {
namespace {

TEST(Model, SumsGoOverLayersNotTypes) {
  const Model m = build_model(spec_of(R"({"model_type": "gpt2", "n_layer": 3})"));
  EXPECT_EQ(m.types.size(), 3U);
  const std::int64_t block = m.type_of(LayerId(1)).parameters();
  EXPECT_EQ(m.parameters(),
            m.type_of(LayerId(0)).parameters() + 3 * block + m.type_of(LayerId(4)).parameters());
  EXPECT_EQ(m.blocks(), 3);
}

TEST(Model, FlopsPerTokenDivideByTheTokensOfTheMicroBatch) {
  const Model m = build_model(spec_of(R"({"model_type": "gpt2"})"), {.micro_batch = 2, .sequence = 512});
  EXPECT_DOUBLE_EQ(m.forward_flops_per_token().value * 2 * 512, m.forward_flops().value);
}

}  // namespace
}  // namespace nest::model
