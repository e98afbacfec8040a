#include "nest/model/blocks/build.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "nest/base/error.hpp"
#include "nest/model/zoo.hpp"

namespace nest::model {
namespace {

std::vector<std::string> names(const Model& m) {
  std::vector<std::string> out;
  out.reserve(m.layers.size());
  for (const Layer& l : m.layers) out.push_back(l.name);
  return out;
}

std::string message(const std::string& model, BuildOptions options) {
  try {
    static_cast<void>(build_model(zoo_model(model), options));
  } catch (const InputError& e) {
    return e.what();
  }
  return "no error";
}

TEST(Build, EqualLayersAreStoredOnce) {
  const Model m = build_model(zoo_model("llama3.1-405b"));
  EXPECT_EQ(m.layers.size(), 128U);
  EXPECT_EQ(m.types.size(), 3U);  // embedding, decoder layer, head
  EXPECT_EQ(m.blocks(), 126);
  EXPECT_EQ(m.layers.front().name, "embedding");
  EXPECT_EQ(m.layers[1].name, "layer0");
  EXPECT_EQ(m.layers.back().name, "head");
  EXPECT_EQ(m.edges.size(), 127U);
}

// Llama-3.1 8B, one sequence of 8,192: by hand.
//   projections: 2 * 8192 tokens * (4096*4096 + 2*4096*1024 + 4096*4096 + 3*4096*14336)
//   attention:   2 products * 2 FLOP * 32 heads * 128 * 8192^2 / 2 pairs under the causal mask
TEST(Build, ForwardFlopsOfALayerByHand) {
  const Model m = build_model(zoo_model("llama3.1-8b"), {.micro_batch = 1, .sequence = 8192});
  const double tokens = 8192;
  const double weights = 4096.0 * 4096 * 2 + 2 * 4096.0 * 1024 + 3 * 4096.0 * 14336;
  const double attention = 2 * 2 * 32.0 * 128 * tokens * tokens / 2;
  EXPECT_DOUBLE_EQ(m.type_of(LayerId(1)).forward_flops().value, 2 * tokens * weights + attention);
  EXPECT_DOUBLE_EQ(m.type_of(LayerId(33)).forward_flops().value, 2 * tokens * 4096 * 128256);
  EXPECT_EQ(m.type_of(LayerId(1)).output_bytes().value, 8192 * 4096 * 2);
}

TEST(Build, FlopsGrowWithTheMicroBatch) {
  const ModelSpec spec = zoo_model("mixtral-8x7b");
  const Model one = build_model(spec, {.micro_batch = 1, .sequence = 4096});
  const Model four = build_model(spec, {.micro_batch = 4, .sequence = 4096});
  EXPECT_DOUBLE_EQ(4 * one.forward_flops().value, four.forward_flops().value);
  EXPECT_DOUBLE_EQ(one.forward_flops_per_token().value, four.forward_flops_per_token().value);
}

// Only top-k of the experts work on a token: FLOPs follow the active parameters.
TEST(Build, ExpertsWorkOnTheirShareOfTokens) {
  const Model m = build_model(zoo_model("mixtral-8x7b"), {.micro_batch = 1, .sequence = 4096});
  const LayerType& layer = m.type_of(LayerId(5));
  const double attention = 2 * 2 * 32.0 * 128 * 4096 * 4096 / 2;
  const auto norms = 2 * 4096;
  EXPECT_DOUBLE_EQ(layer.forward_flops().value,
                   2.0 * 4096 * static_cast<double>(layer.active_parameters() - norms) + attention);
}

TEST(Build, DefaultSequenceIsTheModelsPositionsUpTo8192) {
  EXPECT_EQ(build_model(zoo_model("llama3.1-70b")).sequence, 8192);
  EXPECT_EQ(build_model(zoo_model("llama2-7b")).sequence, 4096);
  EXPECT_EQ(build_model(zoo_model("bert-large")).sequence, 512);
  EXPECT_EQ(build_model(zoo_model("t5-11b")).sequence, 512);
  EXPECT_EQ(build_model(zoo_model("vit-base")).sequence, 197);
}

TEST(Build, RefusesWhatTheModelCannotRead) {
  EXPECT_EQ(message("gpt2", {.micro_batch = 1, .sequence = 2048}),
            "--sequence: 2048 is beyond the 1024 positions of gpt2; use 1024 or less");
  EXPECT_EQ(message("gpt2", {.micro_batch = 1, .sequence = 0}),
            "--sequence: 0 is not a length; it must be 1 or more");
  EXPECT_EQ(message("gpt2", {.micro_batch = 0}),
            "--micro-batch: 0 is not a micro-batch size; use 1 to 1048576");
  EXPECT_EQ(message("vit-base", {.micro_batch = 1, .sequence = 100}),
            "--sequence: the sequence of vit-base is 197 by its image and patch sizes; leave --sequence out");
}

// Rotary positions have no table that ends.
TEST(Build, SequencesBeyondTheConfiguredPositionsAreBuilt) {
  const ModelSpec llama = zoo_model("llama2-7b");
  EXPECT_EQ(build_model(llama, {.sequence = 1 << 20}).sequence, 1 << 20);
  EXPECT_EQ(beyond_positions(llama, 131'072),
            "sequences of 131,072 tokens are beyond the 4,096 positions of llama2-7b");
  EXPECT_EQ(beyond_positions(llama, 4'096), "");
}

// Every decoder layer of T5 reads the encoder's output: one tensor with 24 users.
TEST(Build, T5Branches) {
  const Model m = build_model(zoo_model("t5-11b"));
  EXPECT_EQ(m.layers.size(), 51U);  // embedding, 24 encoder, decoder embedding, 24 decoder, head
  EXPECT_EQ(m.layers[1].name, "encoder0");
  EXPECT_EQ(m.layers[25].name, "decoder_embedding");
  EXPECT_EQ(m.layers[26].name, "decoder0");
  const auto reads_memory = [](const Edge& e) {
    return e.from == LayerId(24) && e.tensor == "encoder23.out";
  };
  EXPECT_EQ(std::count_if(m.edges.begin(), m.edges.end(), reads_memory), 24);
  ASSERT_EQ(m.tied.size(), 1U);
  EXPECT_THAT(m.tied[0].layers, ::testing::ElementsAre(LayerId(0), LayerId(25), LayerId(50)));
  EXPECT_EQ(m.tied[0].parameters, 32128 * 1024);
}

TEST(Build, UntiedT5StillSharesItsTwoEmbeddings) {
  const Model m = build_model(zoo_model("t5-v1.1-xxl"));
  ASSERT_EQ(m.tied.size(), 1U);
  EXPECT_THAT(m.tied[0].layers, ::testing::ElementsAre(LayerId(0), LayerId(25)));
}

TEST(Build, TwoTowersMeetInTheHead) {
  const Model m = build_model(zoo_model("clip-vit-base-patch32"));
  EXPECT_EQ(m.layers[0].name, "text_embedding");
  EXPECT_EQ(m.layers[13].name, "vision_embedding");
  std::vector<LayerId> into_head;
  for (const Edge& e : m.edges) {
    if (m.layers[e.to.index()].name == "head") into_head.push_back(e.from);
  }
  EXPECT_THAT(into_head, ::testing::ElementsAre(LayerId(12), LayerId(25)));
  EXPECT_TRUE(m.tied.empty());
}

TEST(Build, WhisperTiesItsDecoderTableAndHead) {
  const Model m = build_model(zoo_model("whisper-tiny"));
  EXPECT_THAT(names(m), ::testing::ElementsAre("embedding", "encoder0", "encoder1", "encoder2", "encoder3",
                                               "decoder_embedding", "decoder0", "decoder1", "decoder2",
                                               "decoder3", "head"));
  ASSERT_EQ(m.tied.size(), 1U);
  EXPECT_THAT(m.tied[0].layers, ::testing::ElementsAre(LayerId(5), LayerId(10)));
}

// DeepSeek-V3 as stored: main model + prediction module + copies of embedding and head = 684,489,845,504.
TEST(Build, MultiTokenPredictionIsReportedApart) {
  const ModelSpec spec = zoo_model("deepseek-v3");
  const Model plain = build_model(spec, {.micro_batch = 1, .sequence = 4096});
  ASSERT_EQ(plain.apart.size(), 1U);
  EXPECT_EQ(plain.apart[0].name, "mtp");
  EXPECT_FALSE(plain.apart[0].in_graph);
  EXPECT_EQ(plain.parameters() + plain.apart[0].parameters + 2LL * 129280 * 7168, 684'489'845'504);
  const Model with = build_model(spec, {.micro_batch = 1, .sequence = 4096, .mtp = true});
  EXPECT_EQ(with.parameters(), plain.parameters());
  EXPECT_EQ(with.layers.size(), plain.layers.size() + 1);
  EXPECT_GT(with.forward_flops().value, plain.forward_flops().value);
}

TEST(Build, BertsMaskedHeadIsApart) {
  const Model m = build_model(zoo_model("bert-base"));
  ASSERT_EQ(m.apart.size(), 1U);
  // dense 768*768 + 768, norm 2*768, bias 30522
  EXPECT_EQ(m.apart[0].parameters, 768 * 768 + 768 + 2 * 768 + 30522);
  EXPECT_TRUE(m.apart[0].in_graph);
}

// Three of four layers of Llama 4 see chunks of 8,192 tokens: a token 4,096 positions in the mean, whose scores and
// values take 4 FLOPs for each of 5,120 values (40 heads of 128).
TEST(Build, Llama4SeesChunks) {
  const auto attention = [](std::int64_t sequence, std::size_t layer) {
    const Model m = build_model(zoo_model("llama4-maverick"), {.sequence = sequence});
    const auto at =
        std::find_if(m.layers.begin(), m.layers.end(), [](const Layer& l) { return l.name == "layer0"; });
    for (const Operator& op : m.types[(at + static_cast<std::ptrdiff_t>(layer))->type].operators) {
      if (op.kind == OperatorKind::attention) return op.forward_flops.value / static_cast<double>(sequence);
    }
    return 0.0;
  };
  EXPECT_EQ(attention(8192, 0), 4.0 * 5120 * 4096);
  EXPECT_EQ(attention(32'768, 0), 4.0 * 5120 * 4096);
  EXPECT_EQ(attention(131'072, 0), 4.0 * 5120 * 4096);
  EXPECT_EQ(attention(32'768, 3), 4.0 * 5120 * 16'384);
}

TEST(Build, Gemma2AlternatesItsWindows) {
  const Model m = build_model(zoo_model("gemma2-2b"), {.micro_batch = 1, .sequence = 8192});
  EXPECT_EQ(m.types.size(), 4U);
  EXPECT_LT(m.type_of(LayerId(1)).forward_flops(), m.type_of(LayerId(2)).forward_flops());
}

}  // namespace
}  // namespace nest::model
