#include "nest/plan/text/contents_text.hpp"

#include <utility>

namespace nest::plan {
namespace {

constexpr std::int64_t kLongest = 1'000'000'000;
constexpr std::int64_t kMostImageTokens = 1 << 24;
constexpr double kMostImages = 1e6;
constexpr double kMostTokens = 1e18;

Lengths read_lengths(Reader group) {
  static_cast<void>(group.find("documents"));
  static_cast<void>(group.find("mean_tokens"));
  const Value* list = group.find("histogram");
  const Value::Array* rows = list != nullptr ? list->as_array() : nullptr;
  if (rows == nullptr || rows->empty()) group.fail_at("histogram", "a list of [length, count] is expected");
  std::vector<LengthCount> histogram;
  double tokens = 0;
  for (const Value& row : *rows) {
    const Value::Array* pair = row.as_array();
    const bool two = pair != nullptr && pair->size() == 2;
    const std::int64_t* length = two ? pair->front().as_int() : nullptr;
    const std::int64_t* count = two ? pair->back().as_int() : nullptr;
    if (length == nullptr || count == nullptr || *length < 1 || *length > kLongest || *count < 1)
      group.fail_at("histogram", "a row is [length, count], two whole numbers from 1 on");
    histogram.push_back({*length, *count});
    tokens += static_cast<double>(*length) * static_cast<double>(*count);
  }
  if (tokens > kMostTokens) group.fail_at("histogram", "the documents have more than 1e18 tokens");
  group.done();
  return Lengths(std::move(histogram));
}

}  // namespace

void set_contents(Value& training, const Contents& contents) {
  if (contents.lengths) {
    Value histogram = Value::array();
    for (const LengthCount& one : contents.lengths->histogram())
      histogram.push(std::move(Value::array().push(one.length).push(one.count)));
    Value lengths = Value::object();
    lengths.set("documents", contents.lengths->documents()).set("mean_tokens", contents.lengths->mean());
    lengths.set("histogram", std::move(histogram));
    training.set("lengths", std::move(lengths));
  }
  if (contents.images != 1) training.set("images", contents.images);
  if (contents.image_tokens > 0) training.set("image_tokens", contents.image_tokens);
}

Contents read_contents(Reader& training) {
  Contents out;
  if (std::optional<Reader> group = training.object_if("lengths"))
    out.lengths = std::make_shared<const Lengths>(read_lengths(std::move(*group)));
  out.images = training.number_or("images", 1);
  if (!(out.images >= 0 && out.images <= kMostImages))
    training.fail_at("images", "a number of images, 0 or more, is expected");
  out.image_tokens = training.whole_or("image_tokens", 0, {0, kMostImageTokens});
  return out;
}

}  // namespace nest::plan
