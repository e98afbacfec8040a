#include "nest/model/graph/contents.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "nest/base/units.hpp"

namespace nest::model {
namespace {

std::string digits(double value) {
  std::array<char, 32> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  return {buffer.data(), end.ptr};
}

// Neighbours whose lengths lie within a share of each other become one.
std::vector<LengthCount> in_buckets(const std::vector<LengthCount>& all) {
  const double least = std::log(static_cast<double>(all.front().length));
  const double most = std::log(static_cast<double>(all.back().length));
  const double width = (most - least) / static_cast<double>(Lengths::kMostBuckets);
  std::vector<LengthCount> out;
  double tokens = 0;
  double last = -1;
  for (const LengthCount& one : all) {
    const double bucket = std::min(std::floor((std::log(static_cast<double>(one.length)) - least) / width),
                                   static_cast<double>(Lengths::kMostBuckets - 1));
    if (bucket != last) {
      out.emplace_back();
      tokens = 0;
    }
    last = bucket;
    tokens += static_cast<double>(one.length) * static_cast<double>(one.count);
    out.back().count += one.count;
    out.back().length = std::llround(tokens / static_cast<double>(out.back().count));
  }
  return out;
}

}  // namespace

Lengths::Lengths(std::vector<LengthCount> histogram) {
  std::sort(histogram.begin(), histogram.end(),
            [](const LengthCount& a, const LengthCount& b) { return a.length < b.length; });
  for (const LengthCount& one : histogram) {
    if (!histogram_.empty() && histogram_.back().length == one.length)
      histogram_.back().count += one.count;
    else
      histogram_.push_back(one);
  }
  if (histogram_.size() > kMostBuckets) histogram_ = in_buckets(histogram_);
}

std::int64_t Lengths::documents() const {
  std::int64_t sum = 0;
  for (const LengthCount& one : histogram_) sum += one.count;
  return sum;
}

double Lengths::mean() const {
  double sum = 0;
  for (const LengthCount& one : histogram_)
    sum += static_cast<double>(one.length) * static_cast<double>(one.count);
  return sum / static_cast<double>(documents());
}

std::string spell(const Lengths& lengths) {
  return "documents of " + format_digits(std::llround(lengths.mean())) + " tokens in the mean";
}

bool Contents::operator==(const Contents& other) const {
  const bool same = lengths == other.lengths || (lengths && other.lengths && *lengths == *other.lengths);
  return same && images == other.images && image_tokens == other.image_tokens;
}

std::string spell(const Contents& contents) {
  std::string out = contents.lengths ? spell(*contents.lengths) : "";
  if (contents.images == 1 && contents.image_tokens == 0) return out;
  if (contents.images == 0) return out + (out.empty() ? "" : ", ") + "text alone";
  out += (out.empty() ? "" : ", ") + digits(contents.images) + (contents.images == 1 ? " image" : " images");
  if (contents.image_tokens > 0) out += " of " + format_digits(contents.image_tokens) + " tokens";
  return out;
}

std::string beside_tokens(const Contents& contents) {
  return contents.usual() ? "" : " (" + spell(contents) + ")";
}

}  // namespace nest::model
