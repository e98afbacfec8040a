#include "nest/plan/frameworks/framework_releases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <charconv>

#include "nest/base/closest.hpp"
#include "nest/base/plain_text.hpp"

namespace nest::plan {
namespace {

constexpr std::string_view kByFlags = "flags and values against its sources";
constexpr std::string_view kByFields = "fields and values against its sources";
constexpr std::string_view kByOverrides = "50 plans through its overrides";
constexpr std::string_view kByParsing = "50 plans through its parser";

constexpr std::array kMegatron{
    Release{"core_v0.14", "2025-10-08", "2026-11-16", kByFlags},
    Release{"core_v0.15", "2025-12-05", "2026-11-16", kByFlags},
    Release{"core_v0.16", "2026-02-26", "2026-11-16", kByFlags},
    Release{"core_v0.17", "2026-04-14", "2026-11-16", kByFlags},
    Release{"core_v0.18", "2026-06-22", "2026-11-16", kByFlags},
    Release{"core_v0.19", "2026-08-19", "2026-11-16", kByFlags},
    Release{"main", "2026-08-22", "2026-11-16", kByFlags},
};

constexpr std::array kTorchtitan{
    Release{"v0.2.2", "2026-02-20", "2026-11-16", kByParsing},
    Release{"main", "2026-08-21", "2026-11-16", kByParsing},
};

constexpr std::array kDeepSpeed{
    Release{"0.19", "2026-05-06", "2026-11-16", "steps of two plans on CPUs with 0.19.8"}};

constexpr std::array kAccelerate{Release{"1.15", "2026-07-24", "2026-11-16", kByParsing}};

constexpr std::array kMaxText{Release{"main", "2026-08-22", "2026-11-16", kByParsing}};

constexpr std::array kChakra{Release{"1.0", "", "2026-11-16", "read as ASTRA-sim 518bd51 does"}};

constexpr std::array kBridge{Release{"v0.6", "2026-08-19", "2026-11-16", kByOverrides}};

constexpr std::array kVerl{Release{"v0.7", "2026-01-05", "2026-11-16", kByOverrides}};

constexpr std::array kMsSwift{Release{"v4.5", "2026-08-16", "2026-11-16", kByFields}};
constexpr std::array kSlurm{
    Release{"26.05", "2026-05-26", "2026-11-16", "its manual; 9 jobs on 8 nodes of 22.05"}};

constexpr std::array kKueue{Release{"0.19", "2026-07-22", "2026-11-16", "schemas of Kueue and JobSet 0.12"}};

constexpr std::array kTables{
    ReleaseTable{"megatron", "Megatron-LM", kMegatron, "core_v0.19"},
    ReleaseTable{"torchtitan", "torchtitan", kTorchtitan, "v0.2.2"},
    ReleaseTable{"deepspeed", "DeepSpeed", kDeepSpeed, "0.19"},
    ReleaseTable{"accelerate", "Accelerate", kAccelerate, "1.15"},
    ReleaseTable{"maxtext", "MaxText", kMaxText, "main"},
    ReleaseTable{"chakra", "Chakra", kChakra, "1.0"},
    ReleaseTable{"megatron-bridge", "Megatron Bridge", kBridge, "v0.6"},
    ReleaseTable{"verl", "verl", kVerl, "v0.7"},
    ReleaseTable{"ms-swift", "ms-swift", kMsSwift, "v4.5"},
    ReleaseTable{"slurm", "Slurm", kSlurm, "26.05"},
    ReleaseTable{"kubernetes", "Kueue", kKueue, "0.19"},
};

// Without the words before the number: "core_v0.16" -> "0.16".
std::string_view number_of(std::string_view text) {
  if (text.starts_with("core_")) text.remove_prefix(5);
  if (text.starts_with('v')) text.remove_prefix(1);
  return text;
}

// The parts of "0.16.1"; none for a branch.
std::vector<int> parts_of(std::string_view text) {
  std::vector<int> parts;
  text = number_of(text);
  while (!text.empty()) {
    int part = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), part);
    if (error != std::errc()) return {};
    parts.push_back(part);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (text.empty()) break;
    if (text.front() != '.') return {};
    text.remove_prefix(1);
  }
  return parts;
}

// A patch of the release, or the release itself.
bool begins_with(const std::vector<int>& whole, const std::vector<int>& begin) {
  return !begin.empty() && whole.size() >= begin.size() &&
         std::equal(begin.begin(), begin.end(), whole.begin());
}

}  // namespace

const Release* ReleaseTable::find(std::string_view text) const {
  const std::vector<int> parts = parts_of(text);
  const auto at = std::find_if(releases.begin(), releases.end(), [&](const Release& r) {
    return r.name == text || begins_with(parts, parts_of(r.name));
  });
  return at == releases.end() ? nullptr : &*at;
}

const Release& ReleaseTable::usual() const {
  const Release* release = find(usual_name);
  assert(release != nullptr);
  return *release;
}

std::size_t ReleaseTable::index_of(const Release& release) const {
  const auto at = std::find_if(releases.begin(), releases.end(),
                               [&](const Release& other) { return other.name == release.name; });
  assert(at != releases.end());
  return static_cast<std::size_t>(at - releases.begin());
}

bool ReleaseTable::within(const Release& release, std::string_view since, std::string_view until) const {
  const std::size_t at = index_of(release);
  return (since.empty() || at >= index_of(*find(since))) && (until.empty() || at <= index_of(*find(until)));
}

std::string ReleaseTable::spell(const std::vector<const Release*>& some) const {
  std::vector<std::string> runs;
  for (std::size_t i = 0; i < some.size();) {
    std::size_t end = i + 1;
    // A branch is no part of a run of numbers.
    while (end < some.size() && !parts_of(some[end]->name).empty() &&
           index_of(*some[end]) == index_of(*some[end - 1]) + 1)
      ++end;
    runs.push_back(end - i == 1 ? std::string(some[i]->name)
                                : fmt::format("{} to {}", some[i]->name, some[end - 1]->name));
    i = end;
  }
  return list_words(runs);
}

std::string ReleaseTable::spell() const {
  std::vector<const Release*> all;
  for (const Release& release : releases) all.push_back(&release);
  return spell(all);
}

std::string ReleaseTable::problem(std::string_view text) const {
  // The last release that is not newer, or else the oldest; a word is compared by its letters.
  const std::vector<int> wanted = parts_of(text);
  std::string near;
  if (wanted.empty()) {
    std::vector<std::string> names;
    for (const Release& release : releases) names.emplace_back(release.name);
    near = base::closest(text, names).value_or(std::string(usual_name));
  } else {
    for (const Release& release : releases) {
      const std::vector<int> parts = parts_of(release.name);
      if (near.empty() || (!parts.empty() && parts <= wanted)) near = release.name;
    }
  }
  return fmt::format("{} '{}' is not supported, {} {}; the nearest is '{}@{}'", title, text, spell(),
                     releases.size() == 1 ? "is" : "are", framework, near);
}

const ReleaseTable* find_releases(std::string_view framework) {
  const auto at = std::find_if(kTables.begin(), kTables.end(),
                               [&](const ReleaseTable& t) { return t.framework == framework; });
  return at == kTables.end() ? nullptr : &*at;
}

std::string spell_releases(const std::vector<const Release*>& releases) {
  if (releases.empty()) return "";
  const auto at = std::find_if(kTables.begin(), kTables.end(), [&](const ReleaseTable& table) {
    return std::any_of(table.releases.begin(), table.releases.end(),
                       [&](const Release& r) { return &r == releases.front(); });
  });
  assert(at != kTables.end());
  return fmt::format("{} {}", at->title, at->spell(releases));
}

SpelledRelease split_release(std::string_view spelling) {
  const std::size_t at = spelling.find('@');
  if (at == std::string_view::npos) return {spelling, {}, false};
  return {spelling.substr(0, at), spelling.substr(at + 1), true};
}

}  // namespace nest::plan
