#include "nest/plan/zero.hpp"

#include <array>
#include <charconv>
#include <cstddef>
#include <system_error>

namespace nest::plan {
namespace {

using Kind = Resharding::Kind;

constexpr std::array<std::string_view, 4> kWords{"always", "never", "first", "group"};

constexpr bool takes_number(Kind kind) {
  return kind == Kind::first || kind == Kind::group;
}

constexpr std::int64_t kMostNumber = std::int64_t{1} << 24;

}  // namespace

std::string spell(const Resharding& resharding) {
  std::string text(kWords.at(static_cast<std::size_t>(resharding.kind)));
  if (takes_number(resharding.kind)) text += ":" + std::to_string(resharding.number);
  return text;
}

std::optional<Resharding> read_resharding(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string_view word = text.substr(0, colon);
  for (std::size_t i = 0; i < kWords.size(); ++i) {
    if (word != kWords.at(i)) continue;
    Resharding out{static_cast<Kind>(i), 0};
    if (takes_number(out.kind) != (colon != std::string_view::npos)) return std::nullopt;
    if (!takes_number(out.kind)) return out;
    const std::string_view digits = text.substr(colon + 1);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), out.number);
    const bool whole = error == std::errc() && end == digits.data() + digits.size();
    return whole && out.number >= 1 && out.number <= kMostNumber ? std::optional(out) : std::nullopt;
  }
  return std::nullopt;
}

std::string spell(const Zero& zero) {
  std::string text = "ZeRO " + std::to_string(zero.number());
  if (zero.resharding() != Resharding{}) text += ", reshard " + spell(zero.resharding());
  return text;
}

}  // namespace nest::plan
