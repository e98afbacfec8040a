#include "nest/plan/frameworks/framework_rules.hpp"

#include <algorithm>
#include <map>

#include "nest/model/blocks/build.hpp"
#include "nest/plan/frameworks/degree_rules.hpp"
#include "nest/plan/frameworks/framework_tables.hpp"
#include "nest/plan/inputs.hpp"
#include "nest/plan/plan.hpp"
#include "nest/plan/schedules/schedule.hpp"

namespace nest::plan {

const FrameworkRule* FrameworkRules::broken(const PlanDegrees& degrees) const {
  const auto at =
      std::find_if(rules.begin(), rules.end(), [&](const FrameworkRule& r) { return !r.allows(degrees); });
  return at == rules.end() ? nullptr : &*at;
}

const InputRule* FrameworkRules::refusal(const PlanInputs& inputs, const Training& training) const {
  const auto at = std::find_if(input_rules.begin(), input_rules.end(),
                               [&](const InputRule& r) { return !r.allows(inputs, training); });
  return at == input_rules.end() ? nullptr : &*at;
}

bool FrameworkRules::has(Schedule schedule) const {
  return schedules.empty() || std::find(schedules.begin(), schedules.end(), schedule) != schedules.end();
}

bool FrameworkRules::has(RecomputePolicy policy) const {
  return std::find(policies.begin(), policies.end(), policy) != policies.end();
}

bool FrameworkRules::has(const Recompute& recompute) const {
  const bool open = module_sets.empty() || recompute.modules.empty();
  return has(recompute.policy) && (open || std::ranges::count(module_sets, recompute.modules) > 0);
}

bool FrameworkRules::allows(const Parallelism& parallelism, const Recompute& recompute) const {
  const bool modules = recompute.policy == RecomputePolicy::modules;
  if (recompute.layers > 0 && (modules || !allows_part(parallelism.interleave))) return false;
  return !plain_pairs || recompute.policy == RecomputePolicy::none ||
         !hides_in_pairs(parallelism.schedule, parallelism.strategy);
}

std::string_view FrameworkRules::why_uncut(const PlanInputs& inputs) const {
  const auto* spec = std::get_if<ModelSpec>(&inputs.source);
  if (untied_stages && spec != nullptr && spec->head.tied) return "its head has the embedding's weights";
  if (one_decoder && !layer_chain(inputs, inputs.default_sequence()).one_decoder)
    return "the model is not a chain of blocks between an embedding and a head";
  return {};
}

LayerChain layer_chain(const PlanInputs& inputs, std::int64_t sequence, bool mtp) {
  LayerChain chain;
  if (const LayerProfile* profile = inputs.profile()) {
    for (const ProfileLayer& layer : profile->strategies.front().layers) chain.names.push_back(layer.name);
    for (std::size_t i = 0; i < chain.names.size(); ++i)
      chain.blocks.push_back(i > 0 && i + 1 < chain.names.size());
  } else {
    const auto& spec = std::get<ModelSpec>(inputs.source);
    if (spec.positions > 0) sequence = std::min(sequence, spec.positions);
    const Model model = build_model(spec, {.micro_batch = 1, .sequence = sequence, .mtp = mtp});
    for (const Layer& layer : model.layers) {
      const LayerType& type = model.types[layer.type];
      chain.names.push_back(layer.name);
      chain.blocks.push_back(type.is_block());
      chain.predictions += type.part == LayerPart::prediction ? 1 : 0;
    }
    if (spec.stacks.size() != 1) return chain;
  }
  const std::vector<bool>& blocks = chain.blocks;
  chain.one_decoder =
      blocks.size() > 2 && chain.names.front() == "embedding" && chain.names.back() == "head" &&
      !blocks.front() && !blocks.back() &&
      std::all_of(blocks.begin() + 1, blocks.end() - 1 - chain.predictions, [](bool b) { return b; });
  return chain;
}

bool has_experts(const PlanInputs& inputs) {
  const auto* spec = std::get_if<ModelSpec>(&inputs.source);
  if (spec == nullptr) return false;
  const auto routed = [](const StackSpec& stack) {
    return std::any_of(stack.blocks.begin(), stack.blocks.end(),
                       [](const BlockSpec& block) { return block.experts.has_value(); });
  };
  return std::any_of(spec->stacks.begin(), spec->stacks.end(), routed);
}

std::int64_t optimizer_instances(const Parallelism& parallelism) {
  return instances(parallelism);
}

namespace {

FrameworkRules of_release(FrameworkRules rules, const ReleaseTable& table, const Release& release) {
  const auto other = [&](const auto& rule) { return !table.within(release, rule.since, rule.until); };
  std::erase_if(rules.rules, other);
  std::erase_if(rules.input_rules, other);
  return rules;
}

using RulesByRelease = std::map<std::string_view, FrameworkRules>;

RulesByRelease by_release(const FrameworkRules& rules) {
  const ReleaseTable& table = *find_releases(rules.name);
  RulesByRelease all;
  for (const Release& release : table.releases) all[release.name] = of_release(rules, table, release);
  return all;
}

}  // namespace

std::span<const FrameworkRules> all_framework_rules() {
  static const std::vector<FrameworkRules> kUsual = [] {
    std::vector<FrameworkRules> usual;
    for (const FrameworkRules& rules : framework_tables()) {
      const ReleaseTable& table = *find_releases(rules.name);
      usual.push_back(of_release(rules, table, table.usual()));
    }
    return usual;
  }();
  return kUsual;
}

const FrameworkRules* find_framework_rules(std::string_view spelling) {
  static const std::map<std::string_view, RulesByRelease> kNamed = [] {
    std::map<std::string_view, RulesByRelease> named;
    for (const FrameworkRules& rules : framework_tables()) named[rules.name] = by_release(rules);
    return named;
  }();
  const SpelledRelease spelled = split_release(spelling);
  if (!spelled.named) {
    for (const FrameworkRules& rules : all_framework_rules()) {
      if (rules.name == spelling) return &rules;
    }
    return nullptr;
  }
  const auto framework = kNamed.find(spelled.framework);
  if (framework == kNamed.end()) return nullptr;
  const Release* release = find_releases(spelled.framework)->find(spelled.release);
  return release == nullptr ? nullptr : &framework->second.at(release->name);
}

}  // namespace nest::plan
