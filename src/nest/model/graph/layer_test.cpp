#include "nest/model/graph/layer.hpp"

#include <gtest/gtest.h>

#include "nest/model/blocks/build.hpp"
#include "nest/model/zoo.hpp"

namespace nest::model {
namespace {

// GPT-2 small, one layer, micro-batch 1, 1,024 tokens: what flash attention training keeps, tensor by tensor.
//   T = 1024 * 768 * 2 bytes (one hidden tensor)
//   norm inputs (2): x, after attention                      2 T
//   matmul inputs: norm outputs (2), attention out (below),  2 T
//   q, k, v and attention out                                4 T
//   gelu input (4 T) and down's input (4 T)                  8 T
//   statistics: mean and scale of two norms, log-sum per head, fp32
TEST(Stash, OfAGpt2LayerByHand) {
  const Model m = build_model(zoo_model("gpt2"));
  const std::int64_t tokens = 1024;
  const std::int64_t hidden = tokens * 768 * 2;
  const std::int64_t statistics = 4 * (2 * 2 * tokens + 12 * tokens);
  EXPECT_EQ(m.type_of(LayerId(3)).stash_bytes().value, 16 * hidden + statistics);
}

// A tensor that two operators keep is counted once. In Phi the norm's output feeds attention and
// feed-forward; the attention's result is kept by itself and by the output projection: two hidden tensors
// that would count twice.
TEST(Stash, CountsASharedTensorOnce) {
  const Model m = build_model(zoo_model("phi-2"), {.micro_batch = 1, .sequence = 1024});
  const LayerType& layer = m.type_of(LayerId(1));
  Bytes with_repeats;
  for (const Operator& op : layer.operators) {
    for (const TensorIndex i : op.keeps) with_repeats += layer.tensor(i).bytes();
  }
  EXPECT_EQ(with_repeats.value - layer.stash_bytes().value, 2 * 1024 * 2560 * 2);
}

// Run kernel by kernel, silu(gate) * up keeps the activated gate too. Measured on an H200 for one Llama-3 8B
// layer of 1,024 tokens: 172,106,752 bytes between forward and backward; by hand six hidden tensors, keys and
// values, and four tensors of the feed-forward's width, with fp32 statistics of two norms and 32 heads.
TEST(Stash, OfAnUnfusedLlamaLayerAsMeasured) {
  const BuildOptions options{.micro_batch = 1, .sequence = 1024, .fused = false};
  const Model m = build_model(zoo_model("llama3-8b"), options);
  const std::int64_t tokens = 1024;
  const std::int64_t by_hand = tokens * 2 * (6 * 4096 + 2 * 1024 + 4 * 14336) + 4 * tokens * (2 + 32);
  EXPECT_EQ(m.type_of(LayerId(1)).stash_bytes().value, by_hand);
  EXPECT_NEAR(static_cast<double>(by_hand) / 172'106'752, 1, 0.001);
}

TEST(Layer, BytesOfALookupAreRowsNotTheTable) {
  const Model m = build_model(zoo_model("llama3.1-8b"), {.micro_batch = 1, .sequence = 128});
  const LayerType& stem = m.type_of(LayerId(0));
  const Operator& lookup = stem.operators.front();
  EXPECT_EQ(stem.bytes_read(lookup).value, 128 * 8 + 128 * 4096 * 2);
  EXPECT_EQ(stem.bytes_written(lookup).value, 128 * 4096 * 2);
}

// Operators account for all parameters and FLOPs of their layer, and read only what exists.
TEST(Layer, OperatorsAddUpInEveryZooModel) {
  for (const std::string& name : zoo_names()) {
    const Model m = build_model(zoo_model(name));
    for (const LayerType& type : m.types) {
      std::int64_t parameters = 0;
      std::vector<bool> made(type.tensors.size(), false);
      for (std::size_t i = 0; i < type.tensors.size(); ++i) made[i] = type.tensors[i].role == Role::input;
      for (const Operator& op : type.operators) {
        parameters += type.parameters(op);
        for (const TensorIndex i : op.inputs)
          EXPECT_TRUE(made[i]) << name << " " << type.name << " " << op.name;
        for (const TensorIndex i : op.outputs) made[i] = true;
        EXPECT_EQ(op.forward_flops.value > 0, row_of(op.kind).matrix) << name << " " << op.name;
      }
      EXPECT_EQ(parameters, type.parameters() + type.apart_parameters()) << name << " " << type.name;
      EXPECT_LE(type.active_parameters(), type.parameters()) << name;
    }
  }
}

}  // namespace
}  // namespace nest::model
