#include "nest/model/onnx/model_text.hpp"

#include <gtest/gtest.h>

#include "nest/base/document/document.hpp"
#include "nest/model/blocks/build.hpp"
#include "nest/model/describe.hpp"
#include "nest/model/onnx/read_onnx.hpp"
#include "nest/model/onnx/test_onnx.hpp"

namespace nest::model {
namespace {

using namespace test;

ModelSpec decoder(TestDecoder shape) {
  ByteSource source = ByteSource::text("decoder.onnx", DecoderWriter(shape).bytes());
  Warnings warnings;
  return read_onnx(source, "decoder", "", warnings);
}

// What is written is read as the same model, down to the last operator.
TEST(ModelText, IsTheWholeModel) {
  for (const bool tied : {false, true}) {
    const ModelSpec spec = decoder({.blocks = 3, .tied = tied});
    const Value text = model_text(spec);
    EXPECT_TRUE(is_model_text(text));
    const ModelSpec again = read_model_text(parse_json("plan.json", to_json(text)));
    const BuildOptions options{.micro_batch = 2, .sequence = 96};
    EXPECT_EQ(to_json(describe(build_model(again, options))), to_json(describe(build_model(spec, options))));
    EXPECT_EQ(again.details.special, spec.details.special);
  }
}

TEST(ModelText, WritesEqualBlocksOnce) {
  const Value few = model_text(decoder({.blocks = 2}));
  const Value many = model_text(decoder({.blocks = 60}));
  EXPECT_LT(to_json(many).size(), to_json(few).size() + 400);
}

TEST(ModelText, IsToldByItsFormat) {
  EXPECT_FALSE(is_model_text(parse_json("x", R"({"model_type": "llama"})").root));
  EXPECT_FALSE(is_model_text(parse_json("x", R"({"format": "nest-layer-profile"})").root));
  EXPECT_FALSE(is_model_text(parse_json("x", R"({"format": 7})").root));
}

}  // namespace
}  // namespace nest::model
