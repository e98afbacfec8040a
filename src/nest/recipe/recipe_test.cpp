#include "nest/recipe/recipe.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nest/base/error.hpp"

namespace nest::recipe {
namespace {

std::string message(const std::string& yaml) {
  try {
    static_cast<void>(read_recipe(parse_yaml("r.yaml", yaml), "r"));
  } catch (const InputError& e) {
    return e.what();
  }
  return "no error";
}

TEST(Recipe, AMonthLeavesLaterReleasesOut) {
  EXPECT_EQ(named_recipe("megatron-bridge").cuda_graphs, CudaGraphs::whole);
  EXPECT_EQ(named_recipe("megatron-bridge@2026-05").cuda_graphs, CudaGraphs::parts);
  EXPECT_EQ(named_recipe("megatron-bridge@2026-05").dispatcher, Dispatcher::hybridep);
  EXPECT_EQ(named_recipe("megatron-bridge@2026-01").dispatcher, Dispatcher::alltoall);
  EXPECT_FALSE(named_recipe("megatron-bridge").source.empty());
  EXPECT_FALSE(named_recipe("megatron-bridge").compared.empty());
  EXPECT_THROW(static_cast<void>(named_recipe("megatron-bridge@spring")), InputError);
  EXPECT_THROW(static_cast<void>(named_recipe("megatron-bridge@2026-13")), InputError);
}

// What a context ring does is written out, because a file that leaves it out has its framework's way.
TEST(Recipe, RingsSkipAndMerge) {
  const Recipe r = read_recipe(parse_yaml("r.yaml", "ring_skips: true\nring_merges_steps: true\n"), "r");
  EXPECT_TRUE(r.ring_skips && r.ring_merges_steps);
  EXPECT_EQ(read_recipe(parse_json("x", to_json(to_value(r))), "r"), r);
  EXPECT_TRUE(named_recipe("torchtitan").ring_merges_steps);
  EXPECT_FALSE(named_recipe("megatron").ring_merges_steps);
  Recipe torch = named_recipe("torchtitan");
  torch.ring_merges_steps = false;
  EXPECT_EQ(read_recipe(parse_json("x", to_json(to_value(torch))), torch.name), torch);
}

TEST(Recipe, LowPrecisionBytes) {
  Recipe r = named_recipe("megatron");
  EXPECT_EQ(r.low_bytes_per_parameter(), 0);
  r.precision = Precision::fp8;
  EXPECT_EQ(r.low_bytes_per_parameter(), 2);  // cached: along rows and along columns
  EXPECT_EQ(r.gather_bytes_per_parameter(true), 2);
  r.low_casts = LowCasts::held;
  EXPECT_EQ(r.low_bytes_per_parameter(), 0);  // in the place of 16 bits
  EXPECT_EQ(r.gather_bytes_per_parameter(true), 1);
  EXPECT_EQ(r.gather_bytes_per_parameter(false), 2);
  r.precision = Precision::nvfp4;
  EXPECT_EQ(r.low_bytes_per_parameter(), 2 * 9.0 / 16);  // 16-bit weights stay
}

TEST(Recipe, TheDefaultIsMegatronWithFp32MasterWeightsAndGradients) {
  const Recipe r = named_recipe(kDefaultRecipe);
  EXPECT_EQ(r.framework, "megatron");
  EXPECT_EQ(r.precision, Precision::bf16);
  EXPECT_EQ(r.optimizer, Optimizer::adam);
  EXPECT_TRUE(r.master_weights);
  EXPECT_EQ(r.reserve.value, std::int64_t{2} << 30);
  EXPECT_EQ(r.overlap, (Overlap{.gradient_reduce = 1,
                                .parameter_gather = 1,
                                .context = 1,
                                .prefetch = 1,
                                .interleaved_sends = 1,
                                .tensor_backward = 0.67,
                                .slow_down = 0.12,
                                .memory_bound = 0.3}));
  // The well-known 18 bytes: 2 weights, 4 gradients, 4 master, 8 Adam.
  EXPECT_EQ(
      r.weight_bytes_per_parameter() + r.gradient_bytes_per_parameter() + r.optimizer_bytes_per_parameter(),
      18);
}

TEST(Recipe, BytesPerParameterOfTheOthers) {
  const auto bytes = [](const char* name) {
    const Recipe r = named_recipe(name);
    return std::vector<std::int64_t>{r.weight_bytes_per_parameter(), r.gradient_bytes_per_parameter(),
                                     r.optimizer_bytes_per_parameter()};
  };
  EXPECT_THAT(bytes("torchtitan"), ::testing::ElementsAre(4, 4, 8));
  EXPECT_THAT(bytes("deepspeed"), ::testing::ElementsAre(2, 2, 12));
  EXPECT_THAT(bytes("accelerate"), ::testing::ElementsAre(4, 4, 8));
  EXPECT_THAT(bytes("maxtext"), ::testing::ElementsAre(4, 4, 8));
  EXPECT_THAT(bytes("plain"), ::testing::ElementsAre(2, 2, 0));
}

TEST(Recipe, PlainHasNoTimeAndNoReserve) {
  const Recipe r = named_recipe("plain");
  EXPECT_FALSE(r.optimizer_time);
  EXPECT_EQ(r.reserve.value, 0);
  EXPECT_EQ(r.overlap, Overlap{});
}

TEST(Recipe, AFileStatesWhatDiffers) {
  const Recipe r = read_recipe(
      parse_yaml("r.yaml", "framework: torchtitan\nreserve: 3 GB\noverlap: {tensor: 0.5}\n"), "mine");
  EXPECT_EQ(r.name, "mine");
  EXPECT_EQ(r.parameter_dtype, StateDType::fp32);
  EXPECT_EQ(r.reserve.value, 3'000'000'000);
  EXPECT_DOUBLE_EQ(r.overlap.tensor, 0.5);
  EXPECT_DOUBLE_EQ(r.overlap.gradient_reduce, 1);
}

TEST(Recipe, ReadsBackWhatItWrites) {
  for (const std::string& name : recipe_names()) {
    const Recipe r = named_recipe(name);
    EXPECT_EQ(read_recipe(parse_json("x", to_json(to_value(r))), name), r) << name;
  }
}

TEST(Recipe, OldRunsHaveNoFlashKernelAndDrop) {
  for (const std::string& name : recipe_names()) {
    EXPECT_TRUE(named_recipe(name).flash_attention) << name;
    EXPECT_FALSE(named_recipe(name).dropout) << name;
  }
  const Recipe r = read_recipe(parse_yaml("r.yaml", "flash_attention: false\ndropout: true\n"), "r");
  EXPECT_FALSE(r.flash_attention);
  EXPECT_TRUE(r.dropout);
  EXPECT_EQ(read_recipe(parse_json("x", to_json(to_value(r))), "r"), r);
}

TEST(Recipe, SgdWithMomentumHasOneState) {
  const Recipe r =
      read_recipe(parse_yaml("r", "optimizer: sgd\nmomentum: true\nmaster_weights: false\n"), "r");
  EXPECT_EQ(r.optimizer_bytes_per_parameter(), 4);
}

TEST(Recipe, ErrorsAreSentences) {
  EXPECT_EQ(message("precison: fp8\n"), "r.yaml: line 1: unknown key 'precison'; did you mean 'precision'?");
  EXPECT_EQ(message("precision: fp9\n"),
            "r.yaml: line 1, precision: 'fp9' is none of bf16, fp16, fp8, fp8-block, mxfp8, nvfp4; did you "
            "mean 'fp8'?");
  EXPECT_EQ(message("framework: megatorn\n"),
            "r.yaml: line 1, framework: 'megatorn' is none of accelerate, deepspeed, maxtext, megatron, "
            "megatron-bridge, "
            "plain, torchtitan, transformers; did you mean "
            "'megatron'?");
  EXPECT_EQ(message("overlap:\n  tensor: 2\n"),
            "r.yaml: line 2, overlap.tensor: a share lies between 0 and 1");
  EXPECT_EQ(message("overlap: {tensors: 1}\n"),
            "r.yaml: line 1, overlap: unknown key 'tensors'; did you mean 'tensor'?");
  EXPECT_EQ(message("reserve: 2 GIB\n"),
            "r.yaml: line 1, reserve: '2 GIB' is not a size in bytes; did you mean 'GiB'?");
  EXPECT_EQ(
      message("expert_imbalance: 0.5\n"),
      "r.yaml: line 1, expert_imbalance: the fullest expert cannot have less than the mean; give 1 or more");
  EXPECT_EQ(message("master_weights: maybe\n"),
            "r.yaml: line 1, master_weights: true or false is expected, not 'maybe'");
  EXPECT_EQ(message("optimizer: adam\nmomentum: true\n"),
            "r.yaml: line 2, momentum: momentum needs the optimizer sgd");
  EXPECT_EQ(message("momentum: true\n"), "r.yaml: line 1, momentum: momentum needs the optimizer sgd");
  EXPECT_EQ(message("framework: plain\nmomentum: true\n"), "no error");
  EXPECT_EQ(message("levels_at_once: true\n"),
            "r.yaml: line 1, levels_at_once: levels_at_once needs ideal_network: libraries have all levels "
            "work at once");
  EXPECT_EQ(message("ideal_network: true\nlevels_at_once: true\n"), "no error");
  EXPECT_EQ(message("reserve: -1\n"), "r.yaml: line 1, reserve: '-1' is negative");
  EXPECT_EQ(
      message("name: x\nlevels: []\n"),
      "r.yaml: line 1: this is not a recipe; this looks like a cluster file: nest clusters show r.yaml");
  EXPECT_THROW(static_cast<void>(load_recipe("megatro")), InputError);
}

}  // namespace
}  // namespace nest::recipe
