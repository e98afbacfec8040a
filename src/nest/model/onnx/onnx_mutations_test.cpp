// Bytes of ONNX files changed at random: whatever comes of it is a model or one sentence, never a crash, a hang or an
// absurd number.
#include <gtest/gtest.h>

#include <array>
#include <random>

#include "nest/base/document/document.hpp"
#include "nest/base/error.hpp"
#include "nest/model/blocks/build.hpp"
#include "nest/model/onnx/model_text.hpp"
#include "nest/model/onnx/read_onnx.hpp"
#include "nest/model/onnx/test_flow.hpp"
#include "support/stride.hpp"

namespace nest::model {
namespace {

using namespace test;

std::string mutated(std::string bytes, std::mt19937& dice) {
  const auto below = [&](std::size_t n) {
    return std::uniform_int_distribution<std::size_t>(0, n - 1)(dice);
  };
  const std::size_t changes = 1 + below(4);
  for (std::size_t i = 0; i < changes && !bytes.empty(); ++i) {
    const std::size_t at = below(bytes.size());
    switch (below(6)) {
      case 0:
        bytes[at] = static_cast<char>(below(256));
        break;
      case 1:
        bytes[at] = static_cast<char>(static_cast<unsigned char>(bytes[at]) ^ (1U << below(8)));
        break;
      case 2:
        bytes.erase(at, 1 + below(8));
        break;
      case 3:
        bytes.insert(at, std::string(1 + below(8), static_cast<char>(below(256))));
        break;
      case 4:
        bytes.resize(at);
        break;
      default: {
        // A stretch from elsewhere: names and sizes of other values.
        const std::size_t from = below(bytes.size());
        const std::size_t length = std::min({1 + below(40), bytes.size() - from, bytes.size() - at});
        bytes.replace(at, length, bytes.substr(from, length));
      }
    }
  }
  return bytes;
}

// Nothing that is made may be absurd, and what is refused is refused in one sentence.
template <class Read>
void look_at(const Read& read, unsigned seed) {
  try {
    const ModelSpec spec = read();
    const bool fixed = spec.stacks.size() == 1 && spec.stacks[0].sequence > 0;
    BuildOptions options;
    if (!fixed) options.sequence = 16;
    const Model model = build_model(spec, options);
    EXPECT_GT(model.parameters(), 0) << seed;
    EXPECT_LT(model.parameters(), 1e17) << seed;
    EXPECT_GE(model.forward_flops().value, 0) << seed;
    for (const LayerType& type : model.types) EXPECT_GE(type.stash_bytes().value, 0) << seed;
  } catch (const InputError& error) {
    const std::string what = error.what();
    EXPECT_EQ(what.find('\n'), std::string::npos) << seed << ": " << what;
    EXPECT_LT(what.size(), 400U) << seed;
  }
}

ModelSpec read_bytes(const std::string& bytes) {
  ByteSource source = ByteSource::text("test.onnx", bytes);
  Warnings warnings;
  return read_onnx(source, "test", "", warnings);
}

void look_at_bytes(const std::string& bytes, unsigned seed) {
  look_at([&] { return read_bytes(bytes); }, seed);
}

constexpr std::int64_t kHidden = 64;

std::string product(OnnxWriter& w, const std::string& x, const std::string& name, std::int64_t from,
                    std::int64_t to) {
  return w.op("MatMul", {x, w.weight(name, {from, to})});
}

// What ONNX Runtime's optimizer makes of a decoder: attention of groups, norms that add, experts.
std::string runtime_decoder() {
  const std::string domain = "com.microsoft";
  OnnxWriter w = rows_of_table();
  w.input("seqlens_k", 6, {"batch"});
  w.input("total_sequence_length", 6, {});
  std::string x = "x";
  for (int i = 0; i < 2; ++i) {
    const std::string n = "layers." + std::to_string(i) + ".";
    const std::string normed = w.op("SimplifiedLayerNormalization", {x, w.weight(n + "norm1", {kHidden})});
    const std::string packed = product(w, normed, n + "qkv", kHidden, 96);
    const std::string attended =
        w.op("GroupQueryAttention", {packed, "", "", "", "", "seqlens_k", "total_sequence_length"},
             {attribute("num_heads", std::int64_t{8}), attribute("kv_num_heads", std::int64_t{2}),
              attribute("do_rotary", std::int64_t{1}), attribute("local_window_size", std::int64_t{16})},
             domain);
    const std::string o = product(w, attended, n + "o", kHidden, kHidden);
    const std::string sum = n + "sum";
    w.node("SkipSimplifiedLayerNormalization", {x, o, w.weight(n + "norm2", {kHidden})},
           {n + "normed", "", "", sum}, {}, domain);
    const std::string scores = product(w, n + "normed", n + "gate", kHidden, 8);
    const std::string flat = w.op("Reshape", {scores, w.wholes(n + "rows", {-1, 8})});
    x = w.op("Add", {sum, w.op("MoE",
                               {n + "normed", flat, w.weight(n + "fc1", {8, 160, kHidden}), "",
                                w.weight(n + "fc2", {8, kHidden, 160})},
                               {attribute("k", std::int64_t{2})}, domain)});
  }
  w.node("MatMul", {x, w.weight("head", {kHidden, 999})}, {"logits"});
  w.output("logits");
  return w.bytes();
}

// And of an encoder: the embedding and the product before attention are one operator each.
std::string runtime_encoder() {
  const std::string domain = "com.microsoft";
  OnnxWriter w;
  w.input("input_ids", OnnxWriter::kInt64, {"batch", "sequence"});
  w.input("segment_ids", OnnxWriter::kInt64, {"batch", "sequence"});
  std::string x =
      w.op("EmbedLayerNormalization",
           {"input_ids", "segment_ids", w.weight("words", {999, kHidden}), w.weight("places", {128, kHidden}),
            w.weight("types", {2, kHidden}), w.weight("gain", {kHidden}), w.weight("bias", {kHidden})},
           {}, domain);
  for (int i = 0; i < 2; ++i) {
    const std::string n = "layers." + std::to_string(i) + ".";
    const std::string attended = w.op(
        "Attention", {x, w.weight(n + "qkv", {kHidden, 192}), w.weight(n + "qkv_bias", {192})},
        {attribute("num_heads", std::int64_t{4}), list_attribute("qkv_hidden_sizes", {64, 64, 64})}, domain);
    const auto add_norm = [&](const std::string& a, const std::string& b, const std::string& name) {
      return w.op("SkipLayerNormalization",
                  {a, b, w.weight(n + name + "gain", {kHidden}), w.weight(n + name + "bias", {kHidden})}, {},
                  domain);
    };
    const std::string y = add_norm(product(w, attended, n + "o", kHidden, kHidden), x, "norm1");
    const std::string inner =
        w.op("BiasGelu", {product(w, y, n + "up", kHidden, 160), w.weight(n + "up_bias", {160})}, {}, domain);
    x = add_norm(product(w, inner, n + "down", 160, kHidden), y, "norm2");
  }
  w.node("Identity", {x}, {"y"});
  w.output("y");
  return w.bytes();
}

// Patches of an image by a convolution, attention as one operator, and a product that is an equation.
std::string vision_encoder() {
  OnnxWriter w;
  w.input("pixels", OnnxWriter::kFloat, {"batch", std::int64_t{3}, std::int64_t{32}, std::int64_t{32}});
  const std::string patches =
      w.op("Conv", {"pixels", w.weight("kernel", {kHidden, 3, 8, 8})}, {list_attribute("strides", {8, 8})});
  const std::string rows = w.op("Reshape", {patches, w.wholes("flat", {0, kHidden, -1})});
  std::string x = w.op("Transpose", {rows}, {list_attribute("perm", {0, 2, 1})});
  for (int i = 0; i < 2; ++i) {
    const std::string n = "blocks." + std::to_string(i) + ".";
    const std::string both = product(w, x, n + "qkv", kHidden, 3 * kHidden);
    w.node("Split", {both}, {n + "q", n + "k", n + "v"}, {attribute("axis", std::int64_t{2})});
    const std::string attended =
        w.op("Attention", {n + "q", n + "k", n + "v"},
             {attribute("q_num_heads", std::int64_t{8}), attribute("kv_num_heads", std::int64_t{8})});
    x = w.op("Add", {x, w.op("Einsum", {attended, w.weight(n + "o", {kHidden, kHidden})},
                             {text_attribute("equation", "bsd,df->bsf")})});
    const std::string up = w.op("Gelu", {product(w, x, n + "up", kHidden, 160)});
    x = w.op("Add", {x, product(w, up, n + "down", 160, kHidden)});
  }
  w.node("Identity", {x}, {"y"});
  w.output("y");
  return w.bytes();
}

std::vector<std::string> whole_files() {
  return {DecoderWriter({.blocks = 2}).bytes(),
          DecoderWriter({.blocks = 1, .kv_heads = 8, .tied = true, .causal = false}).bytes(),
          runtime_decoder(), runtime_encoder(), vision_encoder()};
}

// Or else the changes would be those of files that are refused anyway.
TEST(OnnxMutations, BeginWithWholeModels) {
  std::vector<std::int64_t> parameters;
  for (const std::string& bytes : whole_files()) {
    const ModelSpec spec = read_bytes(bytes);
    EXPECT_GE(spec.stacks[0].blocks.size(), 1U);
    parameters.push_back(build_model(spec, {.sequence = 16}).parameters());
  }
  // Of one block: norms 2 * 64, attention 64 * 96 + 64 * 64, a router 64 * 8 and experts 8 * 2 * 160 * 64.
  EXPECT_EQ(parameters[2], 2 * 999 * 64 + 2 * (2 * 64 + 64 * 96 + 64 * 64 + 64 * 8 + 8 * 2 * 160 * 64));
  EXPECT_EQ(parameters[3],
            (999 + 128 + 2 + 2) * 64 + 2 * (64 * 192 + 192 + 64 * 64 + 2 * 160 * 64 + 160 + 4 * 64));
  EXPECT_EQ(parameters[4], 64 * 3 * 8 * 8 + 2 * (4 * 64 * 64 + 2 * 160 * 64));
}

TEST(OnnxMutations, AreModelsOrSentences) {
  const std::vector<std::string> files = whole_files();
  constexpr unsigned kSeeds = 12'000;
  for (unsigned seed = 1; seed <= kSeeds; seed += nest::test::stride()) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 dice(seed);
    look_at_bytes(mutated(files[seed % files.size()], dice), seed);
    if (::testing::Test::HasFailure()) return;
  }
}

// Files that end anywhere.
TEST(OnnxMutations, MayBreakOffAnywhere) {
  const std::string whole = DecoderWriter({.blocks = 1}).bytes();
  for (std::size_t length = 0; length < whole.size(); length += 7 * nest::test::stride()) {
    look_at_bytes(whole.substr(0, length), static_cast<unsigned>(length));
    if (::testing::Test::HasFailure()) return;
  }
}

// The text that a plan holds of such a model comes over the network, too.
TEST(OnnxMutations, OfTextsAreModelsOrSentences) {
  std::vector<std::string> texts;
  for (const std::string& bytes : whole_files()) texts.push_back(to_json(model_text(read_bytes(bytes))));
  constexpr unsigned kSeeds = 3'000;
  for (unsigned seed = 1; seed <= kSeeds; seed += nest::test::stride()) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 dice(seed);
    const auto below = [&](std::size_t n) {
      return std::uniform_int_distribution<std::size_t>(0, n - 1)(dice);
    };
    std::string text = texts[seed % texts.size()];
    for (std::size_t i = 0; i < 1 + seed % 3; ++i) {
      // Numbers become other ones more often than anything else does.
      const std::size_t digit = text.find_first_of("0123456789", below(text.size()));
      const std::string other =
          std::array{"0", "1", "7", "-1", "9223372036854775807", "1000000000000"}[below(6)];
      if (digit != std::string::npos && below(4) > 0)
        text.replace(digit, 1 + below(3), other);
      else
        text = mutated(text, dice);
      if (text.empty()) text = "{";
    }
    look_at([&] { return read_model_text(parse_json("test.json", text)); }, seed);
    if (::testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace nest::model
