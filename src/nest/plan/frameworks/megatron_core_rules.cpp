// Frameworks that train with Megatron-core keep Megatron-LM's rules; each adds what it leaves out.
#include <array>
#include <set>
#include <string>
#include <utility>

#include "nest/plan/frameworks/degree_rules.hpp"
#include "nest/plan/frameworks/framework_tables.hpp"

namespace nest::plan {
namespace {

bool shards_over_all_ranks(const PlanDegrees& d) {
  return instances(d.parallelism) == 1;
}

// What Megatron-LM has flags for and these do not export yet.
constexpr std::array kCore{
    FrameworkRule{"usual-precision",
                  "NEST's export for Megatron-LM has no words for fp8-block, mxfp8 and nvfp4",
                  usual_precision},
    FrameworkRule{"usual-exchange",
                  "NEST's export for Megatron-LM sends tokens to experts by a plain all-to-all",
                  usual_exchange},
};

constexpr std::array kBridgeInputs{
    InputRule{"no-muon", "NEST's export for Megatron Bridge has no words for Muon", without_muon},
    InputRule{"reductions-of-precision",
              "Megatron Bridge's bf16_mixed reduces gradients in bf16, its fp16_mixed in fp32",
              [](const PlanInputs&, const Training& training) {
                return reductions_in(
                    training, {training.precision == Precision::fp16 ? StateDType::fp32 : StateDType::bf16});
              }},
};

constexpr std::array kMsSwift{
    FrameworkRule{"no-hybrid-context",
                  "ms-swift has no argument for the sizes of hybrid context parallelism's groups",
                  not_hybrid},
    FrameworkRule{"one-optimizer", "ms-swift shards optimizers over all data and context ranks, not parts",
                  shards_over_all_ranks},
};

constexpr std::array kVerl{
    FrameworkRule{"no-hybrid-context",
                  "verl's Megatron engine makes no groups for hybrid context parallelism", not_hybrid},
    FrameworkRule{"no-fp8", "verl's Megatron engine trains in bf16 and fp16",
                  [](const PlanDegrees& d) { return d.training.precision != Precision::fp8; }},
    FrameworkRule{"no-fsdp", "verl's Megatron engine has ZeRO 0 and 1: it shards no gradients or parameters",
                  [](const PlanDegrees& d) { return !d.parallelism.zero.shards_gradients(); }},
    FrameworkRule{"one-optimizer", "verl shards optimizers over all data and context ranks, not parts",
                  shards_over_all_ranks},
};

constexpr std::array kVerlInputs{
    InputRule{
        "states-in-32-bits", "NEST's export for verl has no words for optimizer states in fewer than 32 bits",
        [](const PlanInputs&, const Training& training) { return moments_in(training, {StateDType::fp32}); }},
    InputRule{"no-mtp", "plans for verl are without modules for multi-token prediction", without_mtp},
};

// A rule's sentence with the framework's own name, kept for as long as the program runs.
std::string_view renamed(std::string_view sentence, std::string_view title) {
  static std::set<std::string> texts;
  constexpr std::string_view kMegatron = "Megatron-LM";
  std::string text(sentence);
  if (const std::size_t at = text.find(kMegatron); at != std::string::npos)
    text.replace(at, kMegatron.size(), title);
  return *texts.insert(std::move(text)).first;
}

// Megatron-LM's rules as they are in one of its releases, for all releases of another framework.
FrameworkRules on_megatron_core(std::string_view name, std::string_view title, std::string_view core) {
  const ReleaseTable& releases = *find_releases("megatron");
  FrameworkRules rules = megatron_table();
  rules.rules.insert(rules.rules.end(), kCore.begin(), kCore.end());
  rules.name = name;
  rules.title = title;
  const auto keep = [&](auto& list) {
    std::erase_if(list, [&](const auto& rule) {
      return !releases.within(*releases.find(core), rule.since, rule.until);
    });
    for (auto& rule : list) {
      rule.sentence = renamed(rule.sentence, title);
      rule.since = rule.until = {};
    }
  };
  keep(rules.rules);
  keep(rules.input_rules);
  return rules;
}

}  // namespace

FrameworkRules megatron_bridge_table() {
  FrameworkRules rules = on_megatron_core("megatron-bridge", "Megatron Bridge", kBridgeCore);
  rules.input_rules.insert(rules.input_rules.end(), kBridgeInputs.begin(), kBridgeInputs.end());
  return rules;
}

FrameworkRules ms_swift_table() {
  FrameworkRules rules = on_megatron_core("ms-swift", "ms-swift", kMsSwiftCore);
  rules.rules.insert(rules.rules.end(), kMsSwift.begin(), kMsSwift.end());
  return rules;
}

FrameworkRules verl_table() {
  FrameworkRules rules = on_megatron_core("verl", "verl", kVerlCore);
  rules.rules.insert(rules.rules.end(), kVerl.begin(), kVerl.end());
  rules.input_rules.insert(rules.input_rules.end(), kVerlInputs.begin(), kVerlInputs.end());
  return rules;
}

}  // namespace nest::plan
