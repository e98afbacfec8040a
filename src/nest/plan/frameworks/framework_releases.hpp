// Releases of the frameworks that plans are written for: a plain table for each. A release is named after
// its framework, as in `nest export --to megatron@core_v0.16` and `nest plan --for megatron@core_v0.16`; the
// framework's name alone means the usual release.
//
//   const SpelledRelease spelled = split_release("megatron@core_v0.16");
//   find_releases(spelled.framework)->find(spelled.release)->released == "2026-02-26"
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nest/base/rooms.hpp"

namespace nest::plan {

struct Release {
  std::string_view name;      // "core_v0.16"; its patches (core_v0.16.1) are spelled and treated alike
  std::string_view released;  // its day, or that of the commit of a branch that was read; empty: not known
  std::string_view tried;     // the day on which an export was last tried with it
  std::string_view how;       // how it was tried
};

struct ReleaseTable {
  std::string_view framework;         // "megatron"
  std::string_view title;             // "Megatron-LM"
  std::span<const Release> releases;  // from the oldest to the newest
  std::string_view usual_name;

  // "core_v0.16", "v0.16", "0.16" and "0.16.1" are one release; none where it is not in the table.
  [[nodiscard]] const Release* find(std::string_view text) const;
  [[nodiscard]] const Release& usual() const;
  [[nodiscard]] std::size_t index_of(const Release& release) const;
  // Whether a release lies between two names, both included; an empty name leaves that end open.
  [[nodiscard]] bool within(const Release& release, std::string_view since, std::string_view until) const;
  // "core_v0.14 to core_v0.19 and main": those of the table, or a part of it in the same order.
  [[nodiscard]] std::string spell(const std::vector<const Release*>& some) const;
  [[nodiscard]] std::string spell() const;
  // Why `text` is none of them, with those that are and the nearest.
  [[nodiscard]] std::string problem(std::string_view text) const;
};

// None for a target without releases.
[[nodiscard]] const ReleaseTable* find_releases(std::string_view framework);
// "Megatron-LM core_v0.14 to core_v0.19": releases of one table in its order, "" for none.
[[nodiscard]] std::string spell_releases(const std::vector<const Release*>& releases);

struct SpelledRelease {
  std::string_view framework;
  std::string_view release;  // empty: none was named
  bool named = false;        // there is an '@'
};
[[nodiscard]] SpelledRelease split_release(std::string_view spelling);

}  // namespace nest::plan
