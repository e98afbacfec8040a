// "Did you mean": the known word nearest to a misspelt one, if any is near enough to be a fair guess.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nest/base/rooms.hpp"

namespace nest::base {

// Edits (insert, delete, replace, swap of neighbours) from one word to the other, letter case ignored.
[[nodiscard]] int edit_distance(std::string_view a, std::string_view b);

// The candidate with the fewest edits, at most a third of the word's length and at least one allowed, but
// never all letters; ties go to the first. Words that only extend the given one ("llama3" -> "llama3.1-8b")
// come last.
[[nodiscard]] std::optional<std::string> closest(std::string_view word, std::span<const std::string> known);

// Up to `most` candidates with at most `edits` edits, the nearest first; ties in the order given.
[[nodiscard]] std::vector<std::string> nearest(std::string_view word, std::span<const std::string> known,
                                               int edits, std::size_t most);

// "did you mean 'bandwidth'?", or "" when nothing is near.
[[nodiscard]] std::string did_you_mean(std::string_view word, std::span<const std::string> known);

}  // namespace nest::base
