#include "nest/plan/text/spell_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "nest/base/numbers.hpp"

namespace nest::plan {

std::string spell_degrees(const Plan& plan) {
  const Parallelism& p = plan.parallelism;
  std::string text = p.strategy.cell() > 1 ? spell(p.strategy) + ", " : "";
  text += fmt::format("pipeline {}", p.pipeline);
  if (p.pipeline > 1) text += fmt::format(" ({}", name_of(p.schedule));
  if (p.interleave > 1) text += fmt::format(", {} chunks", p.interleave);
  if (p.pipeline > 1) text += ')';
  text += fmt::format(", data {}, {}", p.data, spell(p.zero));
  return text;
}

std::string spell_tuning(const Tuning& tuning) {
  if (tuning.whole()) return "";
  const std::string train = spell_train(tuning);
  std::string text = "trained: " + (train.empty() ? "all" : train);
  if (!tuning.freeze.empty()) text += " without " + spell_freeze(tuning);
  if (tuning.frozen_bits < 16) text += fmt::format("; frozen weights in {} bits", tuning.frozen_bits);
  return text;
}

std::string spell_training(const Training& t) {
  const std::string tuned = spell_tuning(t.tuning);
  const std::string states = spell(t.states);
  return fmt::format("global batch {} of {} tokens{}; {}, {}{}{}{}{}{}", format_digits(t.global_batch),
                     format_digits(t.sequence), beside_tokens(t.contents), name_of(t.precision),
                     name_of(t.optimizer), states.empty() ? "" : ", ", states,
                     t.mtp ? "; multi-token prediction" : "", tuned.empty() ? "" : "; ", tuned);
}

std::string spell_recompute(std::span<const Stage> stages) {
  std::vector<std::pair<std::string, std::size_t>> kinds;
  for (const Stage& stage : stages) {
    const std::string kind = spell(stage.recompute);
    const auto at = std::find_if(kinds.begin(), kinds.end(), [&](const auto& k) { return k.first == kind; });
    if (at == kinds.end()) {
      kinds.emplace_back(kind, 1);
    } else {
      ++at->second;
    }
  }
  if (kinds.empty()) return "none";
  if (kinds.size() == 1) return kinds.front().first;
  std::string text;
  for (const auto& [kind, count] : kinds)
    text += fmt::format("{}{} ({} stage{})", text.empty() ? "" : ", ", kind, count, count == 1 ? "" : "s");
  return text;
}

std::string spell_fitting(const Prediction& predicted) {
  if (!predicted.fits_probability) return "";
  return format_percent(*predicted.fits_probability, 0) + (predicted.fits_at_least ? " or more" : "");
}

std::string spell_term(const char* key) {
  const std::string name(key);
  return name.substr(0, name.size() - 2);
}

std::string spell_memory(const char* key) {
  const std::string name(key);
  return name.substr(0, name.rfind('_'));
}

}  // namespace nest::plan
