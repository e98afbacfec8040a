// Towers whose results stand among the tokens, for more or fewer images than one in a sequence, and for larger ones.
// Their images lie side by side, and each sees itself alone.
//
//   image_tower(vision, {.images = 3}).stack.sequence   three times the patches of one image
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "nest/model/blocks/spec.hpp"
#include "nest/model/graph/packing.hpp"

namespace nest::model {

// Whether a stack reads images that then stand among a decoder's tokens.
[[nodiscard]] bool reads_images(const StackSpec& stack);
// Tokens that an image of the configured size takes there.
[[nodiscard]] std::int64_t tokens_of_image(const StackSpec& stack);

struct ImageTower {
  StackSpec stack;
  std::shared_ptr<const Packing> images;
};
// None for other stacks, and for one image of the configured size. Larger images are larger squares of patches; with a learned table of positions, which
// has a row for each patch of the configured size and no more, they are several tiles of that size.
[[nodiscard]] std::optional<ImageTower> image_tower(const StackSpec& stack, const Contents& contents);

// Throws an InputError where the model reads no images, or a sequence cannot hold them.
void check_images(const ModelSpec& spec, const Contents& contents, std::int64_t sequence);

}  // namespace nest::model
