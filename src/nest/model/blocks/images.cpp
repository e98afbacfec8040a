#include "nest/model/blocks/images.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "nest/base/error.hpp"
#include "nest/base/units.hpp"

namespace nest::model {
namespace {

template <class Steps>
std::int64_t after(const Steps& steps, std::int64_t positions) {
  for (const StepSpec& s : steps) {
    if (s.kind == StepSpec::Kind::fold) positions = std::max<std::int64_t>(1, positions / s.count);
    if (s.kind == StepSpec::Kind::queries) positions = s.count;
  }
  return positions;
}

std::int64_t scaled(std::int64_t count, double factor) {
  return std::max<std::int64_t>(1, std::llround(static_cast<double>(count) * factor));
}

}  // namespace

bool reads_images(const StackSpec& stack) {
  return stack.to_tokens && stack.stem.kind == StemSpec::Kind::patches;
}

std::int64_t tokens_of_image(const StackSpec& stack) {
  return after(stack.exit, after(stack.entry, stack.sequence));
}

std::optional<ImageTower> image_tower(const StackSpec& stack, const Contents& contents) {
  if (!reads_images(stack) || (contents.images == 1 && contents.image_tokens == 0)) return std::nullopt;
  ImageTower out{stack, nullptr};
  const std::int64_t own = tokens_of_image(stack);
  const double larger =
      contents.image_tokens > 0 ? static_cast<double>(contents.image_tokens) / static_cast<double>(own) : 1;
  const bool tiles = stack.stem.positions > 0;
  const std::int64_t length = tiles ? stack.sequence : scaled(stack.sequence, larger);
  const double count = contents.images * (tiles ? larger : 1);
  out.stack.sequence = scaled(length, count);
  for (std::vector<StepSpec>* steps : {&out.stack.entry, &out.stack.exit}) {
    for (StepSpec& s : *steps) {
      if (s.kind == StepSpec::Kind::queries) s.count = scaled(s.count, contents.images * larger);
    }
  }
  out.images = std::make_shared<const Packing>(Packing::equal(length, out.stack.sequence));
  return out;
}

void check_images(const ModelSpec& spec, const Contents& contents, std::int64_t sequence) {
  if (contents.images == 1 && contents.image_tokens == 0) return;
  const char* option = contents.images != 1 ? "--images" : "--image-tokens";
  const auto tower = std::find_if(spec.stacks.begin(), spec.stacks.end(), reads_images);
  if (tower == spec.stacks.end())
    throw InputError("", option, spec.name + " puts no images among its tokens",
                     "only models with a vision tower do");
  if (!(contents.images >= 0))
    throw InputError("", "--images", "a number of 0 or more is expected", "try 1 or 0.5");
  if (contents.images == 0 && contents.image_tokens > 0)
    throw InputError("", "--image-tokens", "without images there are no tokens of them", "leave it out");
  const std::int64_t each = contents.image_tokens > 0 ? contents.image_tokens : tokens_of_image(*tower);
  const double taken = contents.images * static_cast<double>(each);
  if (taken > static_cast<double>(sequence))
    throw InputError("", option,
                     format_digits(std::llround(std::min(taken, 1e15))) +
                         " tokens of images are more than the " + format_digits(sequence) +
                         " tokens of a sequence",
                     "give a longer --sequence, or fewer images");
}

}  // namespace nest::model
