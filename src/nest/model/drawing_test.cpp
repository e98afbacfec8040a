#include "nest/model/drawing.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nest/model/blocks/build.hpp"
#include "nest/model/zoo.hpp"

namespace nest::model {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(Drawing, RunsOfEqualLayersAreOneBox) {
  const std::string dot = model_dot(build_model(zoo_model("llama3.1-405b")));
  EXPECT_THAT(dot, HasSubstr("layer0 to layer125\n126 layers, each:"));
  EXPECT_THAT(dot, Not(HasSubstr("layer64")));
  EXPECT_THAT(dot, HasSubstr("gate_up"));
}

// Encoder output to decoder: the branch must show, as one arrow into the decoder's box.
TEST(Drawing, BranchesShow) {
  const std::string dot = model_dot(build_model(zoo_model("t5-small")));
  EXPECT_THAT(dot, HasSubstr("decoder1 to decoder5"));
  EXPECT_THAT(dot, HasSubstr("decoder_embedding"));
  const std::string clip = model_dot(build_model(zoo_model("clip-vit-base-patch32")));
  EXPECT_THAT(clip, HasSubstr("text0 to text11"));
  EXPECT_THAT(clip, HasSubstr("vision0 to vision11"));
}

}  // namespace
}  // namespace nest::model
