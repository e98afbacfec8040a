// Shape fields of a Hugging Face config.json: alternative spellings, class defaults, sane ranges,
// divisibility.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "nest/base/document/reader.hpp"
#include "nest/model/blocks/spec.hpp"

namespace nest::model {

// The value of the first of these keys that is present, else the class default.
[[nodiscard]] std::int64_t size_field(Reader& r, std::initializer_list<const char*> keys,
                                      std::int64_t fallback);
// The same for counts that may be 0.
[[nodiscard]] std::int64_t count_field(Reader& r, std::initializer_list<const char*> keys,
                                       std::int64_t fallback);

// What a file says of itself beside the keys of its class: "nest": {"counts_correction_bias": true}.
[[nodiscard]] bool says_of_itself(const Reader& r, const char* key);

// hidden / heads, or an error that names both keys when it does not divide.
[[nodiscard]] std::int64_t head_dim_of(const Reader& r, std::int64_t hidden, std::int64_t heads);
void check_kv_heads(const Reader& r, std::int64_t heads, std::int64_t kv_heads);
// Rotary positions turn pairs of a head's dimensions.
void check_rotary(const Reader& r, const AttentionSpec& a);
void check_top_k(const Reader& r, std::int64_t top_k, std::int64_t experts);

// "silu" -> swiglu where the feed-forward is gated, "gelu_new" -> gelu, ...; an unknown name is an error.
enum class FeedForward { plain, gated };
[[nodiscard]] std::optional<Activation> activation_of(std::string_view name, FeedForward kind);
[[nodiscard]] Activation activation_field(Reader& r, std::initializer_list<const char*> keys,
                                          const char* fallback, FeedForward kind);

// Attention with the same bias everywhere and as many key heads as query heads.
struct AttentionHabits {
  bool bias = true;
  bool causal = true;
};
[[nodiscard]] AttentionSpec plain_attention(std::int64_t heads, std::int64_t head_dim,
                                            AttentionHabits habits);

// Model sizes that no published model comes near: larger ones are typing errors.
inline constexpr WholeRange kSizeRange{1, 10'000'000};
inline constexpr std::int64_t kMostLayers = 10'000;
inline constexpr std::int64_t kMostPositions = 1'000'000'000;
[[nodiscard]] std::int64_t layers_field(Reader& r, std::initializer_list<const char*> keys,
                                        std::int64_t fallback);

}  // namespace nest::model
