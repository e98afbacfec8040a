// What sequences are made of, where that is more than "tokens, all of which attend to each other": documents of
// different lengths, packed side by side, and images among the tokens.
//
//   Lengths({{512, 900}, {8192, 100}})   900 documents of 512 tokens, 100 of 8,192
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace nest::model {

struct LengthCount {
  std::int64_t length = 0;  // tokens of a document
  std::int64_t count = 0;   // documents

  bool operator==(const LengthCount&) const = default;
};

// How long documents are. More than kMostBuckets different lengths become so many buckets, whose documents all have
// the bucket's mean.
class Lengths {
 public:
  static constexpr std::size_t kMostBuckets = 128;

  // At least one document; lengths and counts are 1 or more.
  explicit Lengths(std::vector<LengthCount> histogram);

  [[nodiscard]] const std::vector<LengthCount>& histogram() const { return histogram_; }  // ascending
  [[nodiscard]] std::int64_t documents() const;
  [[nodiscard]] double mean() const;  // tokens

  bool operator==(const Lengths&) const = default;

 private:
  std::vector<LengthCount> histogram_;
};

// "documents of 812 tokens in the mean"
[[nodiscard]] std::string spell(const Lengths& lengths);

struct Contents {
  std::shared_ptr<const Lengths> lengths;  // none: one document fills a sequence
  double images = 1;                       // of a sequence, where the model has a tower for them
  std::int64_t image_tokens = 0;  // that an image takes among the others; 0: as the model is configured

  [[nodiscard]] bool usual() const { return !lengths && images == 1 && image_tokens == 0; }
  bool operator==(const Contents& other) const;
};

// "documents of 812 tokens in the mean, 3 images of 256 tokens"; empty where nothing is said.
[[nodiscard]] std::string spell(const Contents& contents);

// " (documents of 812 tokens in the mean)", after a number of tokens; empty where nothing is said.
[[nodiscard]] std::string beside_tokens(const Contents& contents);

}  // namespace nest::model
