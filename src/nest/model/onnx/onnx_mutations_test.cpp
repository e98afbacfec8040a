// Bytes of ONNX files changed at random: whatever comes of it is a model or one sentence, never a crash, a hang or an
// absurd number.
#include <gtest/gtest.h>

#include <random>

#include "nest/base/error.hpp"
#include "nest/model/blocks/build.hpp"
#include "nest/model/onnx/read_onnx.hpp"
#include "nest/model/onnx/test_onnx.hpp"
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

void look_at(const std::string& bytes, unsigned seed) {
  ByteSource source = ByteSource::text("test.onnx", bytes);
  Warnings warnings;
  try {
    const ModelSpec spec = read_onnx(source, "test", "", warnings);
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

TEST(OnnxMutations, AreModelsOrSentences) {
  const std::vector<std::string> files{
      DecoderWriter({.blocks = 2}).bytes(),
      DecoderWriter({.blocks = 1, .kv_heads = 8, .tied = true, .causal = false}).bytes()};
  constexpr unsigned kSeeds = 6'000;
  for (unsigned seed = 1; seed <= kSeeds; seed += nest::test::stride()) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 dice(seed);
    look_at(mutated(files[seed % files.size()], dice), seed);
    if (::testing::Test::HasFailure()) return;
  }
}

// Files that end anywhere.
TEST(OnnxMutations, MayBreakOffAnywhere) {
  const std::string whole = DecoderWriter({.blocks = 1}).bytes();
  for (std::size_t length = 0; length < whole.size(); length += 7 * nest::test::stride()) {
    look_at(whole.substr(0, length), static_cast<unsigned>(length));
    if (::testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace nest::model
