// Words of a model's text that nothing else uses, and how words and values find each other.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "nest/base/document/reader.hpp"
#include "nest/model/blocks/spec.hpp"

namespace nest::model {

inline constexpr std::string_view kModelTextFormat = "nest-model";

struct HeadWord {
  std::string_view word;
  HeadSpec::Kind kind;
};
inline constexpr std::array<HeadWord, 3> kHeadWords{{{"vocabulary", HeadSpec::Kind::vocabulary},
                                                     {"classes", HeadSpec::Kind::classes},
                                                     {"none", HeadSpec::Kind::none}}};

struct ActivationWord {
  std::string_view word;
  Activation kind;
};
inline constexpr std::array<ActivationWord, 4> kActivationWords{{{"swiglu", Activation::swiglu},
                                                                 {"geglu", Activation::geglu},
                                                                 {"gelu", Activation::gelu},
                                                                 {"relu", Activation::relu}}};

template <class Rows, class Kind>
std::string_view word_of(const Rows& rows, Kind kind) {
  const auto at = std::ranges::find_if(rows, [&](const auto& row) { return row.kind == kind; });
  return at == rows.end() ? std::string_view() : at->word;
}

// The kind that a key's word means; refused where there is none.
template <class Rows>
auto kind_of_word(Reader& r, const std::string& key, const Rows& rows) {
  std::vector<std::string> words;
  words.reserve(rows.size());
  for (const auto& row : rows) words.emplace_back(row.word);
  const std::string word = r.choice(key, words);
  return std::ranges::find_if(rows, [&](const auto& row) { return row.word == word; })->kind;
}

}  // namespace nest::model
