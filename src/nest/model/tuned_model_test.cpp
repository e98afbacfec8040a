#include "nest/model/tuned_model.hpp"

#include <gtest/gtest.h>

#include "nest/base/error.hpp"
#include "nest/model/blocks/build.hpp"
#include "nest/model/zoo.hpp"

namespace nest::model {
namespace {

Tuning tuning_of(std::string_view train, std::string_view freeze = {}) {
  Tuning tuning;
  EXPECT_EQ(read_train(train, tuning), "");
  if (!freeze.empty()) {
    EXPECT_EQ(read_freeze(freeze, tuning), "");
  }
  return tuning;
}

Model model_of(const std::string& name, const Tuning& tuning) {
  return tuned(build_model(zoo_model(name), {.micro_batch = 1, .sequence = 64}), tuning);
}

const LayerType& type_of(const Model& model, std::string_view name) {
  for (const Layer& layer : model.layers) {
    if (layer.name == name) return model.types[layer.type];
  }
  ADD_FAILURE() << "no layer " << name;
  return model.types.front();
}

std::string refusal(const std::string& name, const Tuning& tuning) {
  try {
    (void)model_of(name, tuning);
  } catch (const InputError& e) {
    return e.what();
  }
  return "";
}

TEST(TunedModel, StaysAsItIsWhereAllIsTrained) {
  const Model model = model_of("llama3.1-8b", {});
  EXPECT_EQ(model.types.size(), 3U);
  EXPECT_EQ(model.saved_flops().value, 0);
}

// The embedding has no backward pass; neither has what it sends a gradient.
TEST(TunedModel, AdaptersLeaveTheRestFrozen) {
  const Model model = model_of("llama3.1-8b", tuning_of("lora:16"));
  EXPECT_FALSE(type_of(model, "embedding").has_backward());
  EXPECT_TRUE(model.edges.front().frozen);
  EXPECT_FALSE(model.edges[1].frozen);
  // Nobody waits for the gradients of what comes into layer 0.
  EXPECT_NE(model.layers[1].type, model.layers[2].type);
  EXPECT_EQ(model.layers[2].type, model.layers[32].type);
  // rank (in + out) of both projections in 32 layers.
  EXPECT_EQ(model.trained_parameters(), 32 * 16 * (4096 + 6144 + 4096 + 4096));
  EXPECT_EQ(model.apart.back().parameters, model.trained_parameters());
  EXPECT_EQ(model.parameters(), build_model(zoo_model("llama3.1-8b")).parameters());
}

TEST(TunedModel, AFrozenProductKeepsNothingAndAnAdapterItsInput) {
  const Model model = model_of("llama3.1-8b", tuning_of("lora:16"));
  for (const Operator& op : type_of(model, "layer5").operators) {
    const bool frozen = op.name == "gate_up" || op.name == "down" || op.name == "qkv";
    const bool keeps = op.name == "qkv.lora_a" || op.name == "qkv.lora_b" || op.name == "attention";
    EXPECT_FALSE(frozen && !op.keeps.empty()) << op.name;
    EXPECT_FALSE(keeps && op.keeps.empty()) << op.name;
  }
}

// Of 6 FLOPs a weight and token, the 2 of weight gradients are spared, and those of what nobody waits for.
TEST(TunedModel, SparesWeightGradients) {
  const Model whole = model_of("llama3.1-8b", {});
  const LayerType& block = type_of(whole, "layer5");
  const Model model = model_of("llama3.1-8b", tuning_of("all", "layers 5..6"));
  double products = 0;
  for (const Operator& op : block.operators)
    products += op.kind == OperatorKind::matmul ? op.forward_flops.value : 0;
  EXPECT_DOUBLE_EQ(type_of(model, "layer5").saved_flops().value, products);
  EXPECT_EQ(type_of(model, "layer4").saved_flops().value, 0);
}

TEST(TunedModel, NothingRunsBackBeforeTheFirstTrainedLayer) {
  const Model model = model_of("llama3.1-8b", tuning_of("layers 24.."));
  for (const char* name : {"embedding", "layer0", "layer23"}) {
    EXPECT_FALSE(type_of(model, name).has_backward()) << name;
    EXPECT_EQ(type_of(model, name).stash_bytes().value, 0) << name;
    EXPECT_DOUBLE_EQ(type_of(model, name).saved_flops().value,
                     2 * type_of(model, name).forward_flops().value);
  }
  EXPECT_TRUE(type_of(model, "layer24").has_backward());
  EXPECT_GT(type_of(model, "head").trained_parameters(), 0);
  // A closed range leaves the head out, through which gradients still go back.
  const Model closed = model_of("llama3.1-8b", tuning_of("layers 24..30"));
  EXPECT_EQ(type_of(closed, "head").trained_parameters(), 0);
  EXPECT_TRUE(type_of(closed, "layer31").has_backward());
}

// Qwen 2.5 0.5B ties its head to the embedding: freezing either freezes the table.
TEST(TunedModel, ATiedTableIsFrozenWithEitherOfItsUsers) {
  for (const char* part : {"embedding", "head"}) {
    const Model model = model_of("qwen2.5-0.5b", tuning_of("all", part));
    ASSERT_EQ(model.tied.size(), 1U);
    EXPECT_TRUE(model.tied[0].frozen) << part;
    EXPECT_EQ(type_of(model, "embedding").trained_parameters(), 0) << part;
  }
}

TEST(TunedModel, RoutersMayBeFrozenAlone) {
  const Model model = model_of("mixtral-8x7b", tuning_of("all", "router"));
  // 32 routers of 4096 x 8.
  EXPECT_EQ(model.parameters() - model.trained_parameters(), 32 * 4096 * 8);
}

TEST(TunedModel, AnEncoderMayBeFrozen) {
  const Model model = model_of("t5-small", tuning_of("all", "encoder,embedding"));
  EXPECT_FALSE(type_of(model, "encoder3").has_backward());
  EXPECT_TRUE(type_of(model, "decoder3").has_backward());
}

TEST(TunedModel, PackedWeightsAreProductsOfBlocks) {
  Tuning tuning = tuning_of("lora:16");
  tuning.frozen_bits = 4;
  const Model model = model_of("llama3.1-8b", tuning);
  for (const Layer& layer : model.layers) {
    const LayerType& type = model.types[layer.type];
    for (const Operator& op : type.operators) {
      for (const TensorIndex p : op.parameters) {
        const bool packed = type.is_block() && op.kind == OperatorKind::matmul && !type.tensor(p).apart;
        EXPECT_EQ(type.tensor(p).packed_bits, packed ? 4 : 0) << layer.name << " " << op.name;
      }
    }
  }
}

// 64 layers: A of 2,560 x 16 and B of 16 x (2 * 5,120 + 2 * 128 + 80); then A of 5,120 x 16 and B of 16 x 2,560.
TEST(TunedModel, StateSpacesHaveProductsOfTheirOwn) {
  const Model model = model_of("mamba2-2.7b", tuning_of("lora:16:in_proj+out_proj"));
  EXPECT_EQ(model.trained_parameters(), 64 * 16 * (2560 + 10240 + 256 + 80 + 5120 + 2560));
}

TEST(TunedModel, RefusesPartsThatTheModelLacks) {
  EXPECT_EQ(refusal("llama3.1-8b", tuning_of("layers 40..")),
            "--train: llama3.1-8b has the layers 0 to 31, not 40..; try 'layers 15..'");
  EXPECT_EQ(refusal("llama3.1-8b", tuning_of("all", "vision")),
            "--freeze: llama3.1-8b has no part 'vision'; its parts are embedding, head and layer, and "
            "'layers 0..11'");
  EXPECT_EQ(refusal("llama3.1-8b", tuning_of("all", "embeding")),
            "--freeze: llama3.1-8b has no part 'embeding'; did you mean 'embedding'?");
  EXPECT_EQ(
      refusal("llama3.1-8b", tuning_of("lora:8:qproj")),
      "--train: no layer of llama3.1-8b that is not frozen has the product 'qproj'; did you mean 'q_proj'?");
  EXPECT_EQ(
      refusal("mamba2-2.7b", tuning_of("lora:16")),
      "--train: no layer of mamba2-2.7b that is not frozen has the product 'linear_qkv'; it has in_proj and "
      "out_proj; all-linear has all of them");
  EXPECT_EQ(refusal("llama3.1-8b", tuning_of("lora:16", "layers ..31")),
            "--freeze: no block of llama3.1-8b is left for adapters; leave some of its layers out");
  EXPECT_EQ(refusal("llama3.1-8b", tuning_of("lora:8:linear_qkv+q_proj")),
            "--train: 'linear_qkv' and 'q_proj' both have the product 'qkv'; leave one of them out");
  EXPECT_EQ(refusal("llama3.1-8b", tuning_of("layers 3", "layers 2..5")),
            "--freeze: nothing of llama3.1-8b is left to train");
}

}  // namespace
}  // namespace nest::model
