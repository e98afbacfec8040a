#include "nest/model/blocks/images.hpp"

#include <gtest/gtest.h>

#include "nest/base/error.hpp"
#include "nest/model/blocks/build.hpp"
#include "nest/model/zoo.hpp"

namespace nest::model {
namespace {

// A tower of 1,024 patches, four of which become one token each.
StackSpec tower() {
  StackSpec stack;
  stack.prefix = "vision";
  stack.hidden = 64;
  stack.sequence = 1024;
  stack.to_tokens = true;
  stack.stem.kind = StemSpec::Kind::patches;
  stack.stem.patch_values = 588;
  BlockSpec block;
  block.attention = {.heads = 4, .kv_heads = 4, .head_dim = 16, .causal = false};
  block.ffn.ffn = 128;
  stack.blocks.assign(2, block);
  StepSpec fold;
  fold.kind = StepSpec::Kind::fold;
  fold.name = "fold";
  fold.from = {"x"};
  fold.to = {{"folded", {}}};
  fold.count = 4;
  StepSpec project;
  project.name = "project";
  project.from = {"folded"};
  project.to = {{"out", {{Axis::hidden, 32}}}};
  stack.exit = {fold, project};
  return stack;
}

ModelSpec model() {
  ModelSpec spec;
  spec.name = "tiny-vision";
  StackSpec text;
  text.prefix = "layer";
  text.hidden = 32;
  text.stem.vocab = 100;
  BlockSpec block;
  block.attention = {.heads = 2, .kv_heads = 2, .head_dim = 16};
  block.ffn.ffn = 64;
  text.blocks.assign(2, block);
  spec.stacks = {tower(), text};
  spec.head.outputs = 100;
  return spec;
}

Flops of_tower(const Contents& contents) {
  const Model built = build_model(model(), {.sequence = 4096, .contents = contents});
  Flops sum;
  for (const Layer& layer : built.layers) {
    if (layer.name.starts_with("vision")) sum += built.types[layer.type].forward_flops();
  }
  return sum;
}

std::string message(const ModelSpec& spec, const Contents& contents) {
  try {
    static_cast<void>(build_model(spec, {.sequence = 4096, .contents = contents}));
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Images, TokensFollowFromPatchesAndFolds) {
  EXPECT_EQ(tokens_of_image(tower()), 256);
  EXPECT_FALSE(image_tower(tower(), {}));
  EXPECT_FALSE(image_tower(model().stacks[1], {.images = 3}));
}

TEST(Images, WorkOfTheTowerIsForEachImage) {
  const double one = of_tower({}).value;
  EXPECT_DOUBLE_EQ(of_tower({.images = 3}).value, 3 * one);
  EXPECT_DOUBLE_EQ(of_tower({.images = 0.5}).value, one / 2);
  EXPECT_DOUBLE_EQ(of_tower({.image_tokens = 256}).value, one);
}

// Four times as many patches see each other: products grow by four, attention by sixteen.
TEST(Images, LargerImagesAreLargerSquares) {
  const ImageTower large = image_tower(tower(), {.image_tokens = 1024}).value();
  EXPECT_EQ(large.stack.sequence, 4096);
  EXPECT_DOUBLE_EQ(large.images->share(false, 0), 1);
  EXPECT_GT(of_tower({.image_tokens = 1024}).value, 4 * of_tower({}).value);
}

// A table of positions ends with the configured size.
TEST(Images, WithATableOfPositionsLargerImagesAreTiles) {
  StackSpec stack = tower();
  stack.stem.positions = 1024;
  const ImageTower tiles = image_tower(stack, {.images = 2, .image_tokens = 512}).value();
  EXPECT_EQ(tiles.stack.sequence, 4096);
  EXPECT_DOUBLE_EQ(tiles.images->share(false, 0), 0.25);
}

TEST(Images, QueriesAreThoseOfEachImage) {
  StackSpec stack = tower();
  StepSpec queries;
  queries.kind = StepSpec::Kind::queries;
  queries.count = 64;
  stack.exit = {queries};
  EXPECT_EQ(tokens_of_image(stack), 64);
  EXPECT_EQ(image_tower(stack, {.images = 3})->stack.exit.front().count, 192);
}

TEST(Images, WhatASequenceCannotHold) {
  EXPECT_EQ(message(zoo_model("llama3.2-1b"), {.images = 2}),
            "--images: llama3.2-1b puts no images among its tokens; only models with a vision tower do");
  EXPECT_EQ(message(model(), {.images = 20}),
            "--images: 5,120 tokens of images are more than the 4,096 tokens of a sequence; give a longer "
            "--sequence, "
            "or fewer images");
  EXPECT_EQ(message(model(), {.images = 16}), "accepted");
}

}  // namespace
}  // namespace nest::model
