#include "nest/frameworks/common/model_shape.hpp"

#include <gtest/gtest.h>

#include "nest/model/zoo.hpp"

namespace nest::frameworks {
namespace {

TEST(ModelShape, HasTheSizesOfLayersEndsAndExperts) {
  const ModelSpec llama = zoo_model("llama3.1-70b");
  EXPECT_EQ(model_shape(&llama), (ModelShape{80, 8192, 64, 8, 28672, 128256}));
  const ModelSpec qwen = zoo_model("qwen3-30b-a3b");
  EXPECT_EQ(model_shape(&qwen), (ModelShape{48, 2048, 32, 4, 0, 151936, 128, 8, 768}));
  const ModelSpec deepseek = zoo_model("deepseek-v3");
  EXPECT_EQ(model_shape(&deepseek), (ModelShape{61, 7168, 128, 128, 18432, 129280, 256, 8, 2048, 1536, 512}));
}

// Other names of one model have one shape; encoders with decoders have none.
TEST(ModelShape, IsTheSameForOtherNames) {
  const ModelSpec one = zoo_model("llama3-70b");
  const ModelSpec other = zoo_model("llama3.3-70b");
  EXPECT_EQ(model_shape(&one), model_shape(&other));
  const ModelSpec t5 = zoo_model("t5-11b");
  EXPECT_EQ(model_shape(&t5), std::nullopt);
  EXPECT_EQ(model_shape(nullptr), std::nullopt);
}

}  // namespace
}  // namespace nest::frameworks
