#include "nest/frameworks/megatron_core/core_knobs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>

#include "nest/frameworks/megatron/megatron_args.hpp"
#include "nest/plan/frameworks/framework_releases.hpp"

namespace nest::frameworks {
namespace {

// "([0]*3+[1]*2)" -> [0,0,0,1,1]; a number stays one.
std::string spelled_out(std::string_view pattern) {
  if (!pattern.starts_with('(')) return std::string(pattern);
  std::vector<std::string> items;
  for (std::size_t at = pattern.find('['); at != std::string_view::npos; at = pattern.find('[', at + 1)) {
    const std::size_t star = pattern.find('*', at);
    const std::string item(pattern.substr(at + 1, pattern.find(']', at) - at - 1));
    items.insert(items.end(), std::strtoul(pattern.data() + star + 1, nullptr, 10), item);
  }
  return fmt::format("[{}]", fmt::join(items, ","));
}

std::string value_of(const CoreKnob& knob, const Flag& flag, CoreDialect dialect) {
  const std::string joined = fmt::format("{}", fmt::join(flag.values, ","));
  const bool hydra = dialect != CoreDialect::ms_swift;
  switch (knob.kind) {
    case KnobKind::on:
      return "true";
    case KnobKind::off:
      return "false";
    case KnobKind::quoted:
      return hydra ? fmt::format("'{}'", joined) : joined;
    case KnobKind::list:
      return hydra ? fmt::format("[{}]", joined) : fmt::format("{}", fmt::join(flag.values, " "));
    case KnobKind::pair:
      return hydra ? fmt::format("[{}]", joined) : joined;
    case KnobKind::layers:
      return spelled_out(joined);
    case KnobKind::dtype:
      // Bridge makes types of texts only where the field has a type already; this one has none.
      return fmt::format("{{_target_:megatron.bridge.utils.activation_map.str_to_dtype,name:{}}}", joined);
    case KnobKind::word:
      return std::string(knob.word);
    case KnobKind::value:
      break;
  }
  return joined;
}

void put(std::vector<Setting>& settings, std::string_view key, std::string value) {
  const auto at =
      std::find_if(settings.begin(), settings.end(), [&](const Setting& s) { return s.key == key; });
  if (at == settings.end()) {
    settings.push_back({std::string(key), std::move(value)});
  } else {
    at->value = std::move(value);
  }
}

bool has_word(const Flag& flag, CoreDialect dialect) {
  return std::any_of(core_knobs().begin(), core_knobs().end(), [&](const CoreKnob& knob) {
    return knob.flag == flag.name && !knob.in(dialect).key.empty();
  });
}

}  // namespace

const KnobWord& CoreKnob::in(CoreDialect dialect) const {
  return dialect == CoreDialect::bridge ? bridge : dialect == CoreDialect::verl ? verl : ms_swift;
}

Translation translate(const std::vector<Flag>& flags, CoreDialect dialect) {
  Translation out;
  for (const CoreKnob& knob : core_knobs()) {
    const KnobWord& word = knob.in(dialect);
    if (word.key.empty() || word.key == kNeedless) continue;
    if (const Flag* flag = find_flag(flags, knob.flag)) {
      put(out.settings, word.key, value_of(knob, *flag, dialect));
    } else if (!word.absent.empty()) {
      put(out.settings, word.key, std::string(word.absent));
    }
  }
  std::copy_if(flags.begin(), flags.end(), std::back_inserter(out.unknown),
               [&](const Flag& flag) { return !has_word(flag, dialect); });
  return out;
}

std::vector<std::string> unknown_losses(const Translation& translation, std::string_view noun) {
  std::vector<std::string> losses;
  losses.reserve(translation.unknown.size());
  for (const Flag& flag : translation.unknown) {
    losses.push_back(fmt::format("Megatron-LM's {}{}{} has no {}", flag.name, flag.values.empty() ? "" : " ",
                                 fmt::join(flag.values, " "), noun));
  }
  return losses;
}

std::vector<Flag> core_flags(const ExportFacts& facts, const CoreQuestion& question,
                             std::vector<std::string>& lost) {
  ExportFacts core = facts;
  core.release = find_releases("megatron")->find(question.core);
  std::vector<FlagSection> sections;
  if (question.model) {
    if (auto model = megatron_model_arguments(core, lost)) sections.push_back(std::move(*model));
  }
  for (FlagSection& section : megatron_plan_arguments(core, question.order, lost))
    sections.push_back(std::move(section));
  std::vector<Flag> flags;
  for (const FlagSection& section : sections)
    flags.insert(flags.end(), section.flags.begin(), section.flags.end());
  constexpr std::string_view kChunks = "--num-virtual-stages-per-pipeline-rank";
  const std::int64_t chunks = facts.parallelism().interleave;
  if (chunks > 1 && find_flag(flags, kChunks) == nullptr)
    flags.push_back({std::string(kChunks), {std::to_string(chunks)}});
  return flags;
}

}  // namespace nest::frameworks
