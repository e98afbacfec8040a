#include "nest/frameworks/common/export_rule.hpp"

#include <fmt/format.h>

#include <array>

#include "nest/plan/frameworks/framework_rules.hpp"

namespace nest::frameworks {
namespace {

using Problem = std::optional<std::string>;

Problem strategies_differ(const ExportFacts& f) {
  const std::vector<Stage>& stages = f.plan().stages;
  for (std::size_t i = 0; i < stages.size(); ++i) {
    if (!(stages[i].strategy == f.strategy()))
      return fmt::format("stage {} has {}, the plan {}", i, spell(stages[i].strategy), spell(f.strategy()));
  }
  return std::nullopt;
}

Problem recompute_differs(const ExportFacts& f) {
  if (f.recompute()) return std::nullopt;
  const std::vector<Stage>& stages = f.plan().stages;
  for (std::size_t i = 0; i < stages.size(); ++i) {
    if (!(stages[i].recompute == stages[0].recompute))
      return fmt::format("stage 0 has {}, stage {} {}", spell(stages[0].recompute), i,
                         spell(stages[i].recompute));
  }
  return std::nullopt;
}

Problem layers_jump(const ExportFacts& f) {
  return f.contiguous ? Problem() : "its stages hold layers in another order";
}

constexpr std::array kStages{
    ExportRule{"one-strategy", "all stages run one strategy", strategies_differ},
    ExportRule{"one-recomputation", "all stages recompute alike", recompute_differs},
    ExportRule{"layers-in-order", "stages and chunks are ranges of layers in the model's order", layers_jump},
};

std::optional<BrokenRule> broken_by_framework(const ExportFacts& f, const FrameworkRules& rules) {
  const Parallelism& p = f.parallelism();
  if (const InputRule* rule = rules.refusal(f.question->inputs, f.plan().training))
    return BrokenRule{std::string(rule->name), std::string(rule->sentence)};
  if (!rules.has(p.schedule)) {
    return BrokenRule{"schedule", fmt::format("{} has no schedule {}", rules.title, name_of(p.schedule))};
  }
  if (const FrameworkRule* rule = rules.broken({f.plan().training, p}))
    return BrokenRule{std::string(rule->name), std::string(rule->sentence)};
  for (const ExportRule& rule : kStages) {
    if (const Problem problem = rule.broken(f))
      return BrokenRule{std::string(rule.name),
                        fmt::format("in {} {}: {}", rules.title, rule.sentence, *problem)};
  }
  const Recompute recompute = f.recompute().value_or(f.plan().stages.front().recompute);
  if (recompute.policy == RecomputePolicy::modules && !rules.has(recompute)) {
    return BrokenRule{"modules", fmt::format("{} cannot run these modules again by themselves: {}",
                                             rules.title, spell(recompute.modules, ", "))};
  }
  if (recompute.policy == RecomputePolicy::modules && recompute.layers > 0) {
    return BrokenRule{"whole-recomputation",
                      fmt::format("{} runs modules of all layers of a stage again or of none: {}",
                                  rules.title, spell(recompute))};
  }
  if (!rules.has(recompute.policy)) {
    return BrokenRule{"recomputation",
                      fmt::format("{} has no {} recomputation", rules.title, name_of(recompute.policy))};
  }
  if (recompute.layers > 0 && !rules.allows_part(p.interleave)) {
    return BrokenRule{
        "whole-recomputation",
        p.interleave > 1 && rules.whole_chunks
            ? fmt::format("{} recomputes a number of layers of every chunk, not of a stage: {} "
                          "with {} chunks",
                          rules.title, spell(recompute), p.interleave)
            : fmt::format("{} recomputes all layers of a stage or none: {}", rules.title, spell(recompute))};
  }
  if (!rules.allows(p, recompute)) {
    return BrokenRule{
        "plain-pairs",
        fmt::format("{} recomputes nothing where passes hide exchanges with experts beside each other: "
                    "{} recomputation",
                    rules.title, spell(recompute))};
  }
  return std::nullopt;
}

}  // namespace

std::span<const ExportRule> stage_rules() {
  return kStages;
}

std::optional<BrokenRule> first_broken(const ExportFacts& facts, std::string_view framework,
                                       std::span<const ExportRule> own) {
  const std::string spelling = facts.release == nullptr
                                   ? std::string(framework)
                                   : fmt::format("{}@{}", framework, facts.release->name);
  if (const FrameworkRules* rules = find_framework_rules(spelling)) {
    if (auto broken = broken_by_framework(facts, *rules)) return broken;
  }
  for (const ExportRule& rule : own) {
    if (const Problem problem = rule.broken(facts))
      return BrokenRule{std::string(rule.name), fmt::format("{}: {}", rule.sentence, *problem)};
  }
  return std::nullopt;
}

Problem heads_do_not_split(const ExportFacts& f) {
  const AttentionSpec* a = f.attention();
  if (a == nullptr || a->heads % f.strategy().tensor == 0) return std::nullopt;
  return fmt::format("{} heads, tensor {}", a->heads, f.strategy().tensor);
}

Problem query_groups_do_not_split(const ExportFacts& f) {
  const AttentionSpec* a = f.attention();
  const std::int64_t t = f.strategy().tensor;
  if (a == nullptr || a->kv_heads % t == 0 || t % a->kv_heads == 0) return std::nullopt;
  return fmt::format("{} query groups, tensor {}", a->kv_heads, t);
}

Problem ffn_does_not_split(const ExportFacts& f) {
  if (f.spec == nullptr) return std::nullopt;
  for (const StackSpec& stack : f.spec->stacks) {
    for (const BlockSpec& block : stack.blocks) {
      if (block.ffn.ffn % f.strategy().tensor != 0)
        return fmt::format("ffn {}, tensor {}", block.ffn.ffn, f.strategy().tensor);
      if (block.experts && block.experts->ffn % f.strategy().expert_tensor_degree() != 0)
        return fmt::format("ffn {} of an expert, expert tensor {}", block.experts->ffn,
                           f.strategy().expert_tensor_degree());
    }
  }
  return std::nullopt;
}

Problem experts_do_not_split(const ExportFacts& f) {
  const std::int64_t e = f.strategy().expert;
  if (e == 1 || f.spec == nullptr) return std::nullopt;
  const ExpertsSpec* experts = f.experts();
  if (experts == nullptr) return fmt::format("expert {}, but the model has no experts", e);
  if (experts->experts % e == 0) return std::nullopt;
  return fmt::format("{} experts, expert {}", experts->experts, e);
}

Problem sequence_does_not_split(const ExportFacts& f) {
  const Strategy& s = f.strategy();
  const std::int64_t sequence = f.plan().training.sequence;
  const std::int64_t parts = s.context * (s.shards_sequence() ? s.tensor : 1);
  if (sequence % parts == 0) return std::nullopt;
  return fmt::format("{} tokens, {} parts", sequence, parts);
}

Problem batch_does_not_split(const ExportFacts& f) {
  const Training& t = f.plan().training;
  const std::int64_t data = f.parallelism().data;
  if (t.micro_batches >= 1 && t.micro_batch * data * t.micro_batches == t.global_batch) return std::nullopt;
  return fmt::format("global batch {}, micro-batch {}, data {}, {} micro-batches", t.global_batch,
                     t.micro_batch, data, t.micro_batches);
}

Problem world_does_not_split(const ExportFacts& f) {
  const Parallelism& p = f.parallelism();
  const Strategy& s = p.strategy;
  const std::int64_t world = p.devices();
  const std::int64_t dense = s.tensor * s.context * p.pipeline;
  const std::int64_t expert = s.expert_tensor_degree() * s.expert * p.pipeline;
  if (world % dense == 0 && world % expert == 0 && world / dense == p.data) return std::nullopt;
  return fmt::format("{} ranks, tensor {} x context {} x pipeline {}, expert tensor {} x expert {}", world,
                     s.tensor, s.context, p.pipeline, s.expert_tensor_degree(), s.expert);
}

Problem not_a_decoder(const ExportFacts& f) {
  if (f.decoder || f.parallelism().pipeline == 1) return std::nullopt;
  return fmt::format("{} layers from '{}' to '{}' are others", f.layers.size(), f.layers.front(),
                     f.layers.back());
}

}  // namespace nest::frameworks
