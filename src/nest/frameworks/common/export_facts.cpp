#include "nest/frameworks/common/export_facts.hpp"

#include <algorithm>
#include <utility>

#include "nest/frameworks/common/model_details.hpp"
#include "nest/plan/frameworks/framework_rules.hpp"
#include "nest/plan/schedules/schedule.hpp"

namespace nest::frameworks {

bool ExportFacts::even() const {
  for (const PipelinePart& part : parts) {
    const bool first = &part == &parts.front();
    const bool last = &part == &parts.back();
    if (part.blocks != parts.front().blocks || part.embedding != first || part.head != last) return false;
  }
  return parts.front().blocks > 0;
}

std::optional<Recompute> ExportFacts::recompute() const {
  const std::vector<Stage>& stages = plan().stages;
  Recompute most = stages.front().recompute;
  for (const Stage& stage : stages) most.layers = std::max(most.layers, stage.recompute.layers);
  for (std::size_t i = 0; i < stages.size(); ++i) {
    const Recompute& own = stages[i].recompute;
    // Stages of several chunks are not counted through.
    const std::int64_t count = parallelism().interleave == 1 ? parts[i].blocks : 0;
    const bool whole = own.layers == 0 || own.layers == count;
    const bool said = own.layers == most.layers || (whole && count > 0 && count <= most.layers);
    if (own.policy != most.policy || own.modules != most.modules || !said) return std::nullopt;
  }
  return most;
}

const AttentionSpec* ExportFacts::attention() const {
  const BlockSpec* block = spec != nullptr ? attending_block(spec->stacks.back()) : nullptr;
  return block != nullptr ? &block->attention : nullptr;
}

const ExpertsSpec* ExportFacts::experts() const {
  if (spec == nullptr) return nullptr;
  for (const StackSpec& stack : spec->stacks) {
    for (const BlockSpec& block : stack.blocks) {
      if (block.experts) return &*block.experts;
    }
  }
  return nullptr;
}

ExportFacts export_facts(const ExportQuestion& question, std::string_view target) {
  ExportFacts facts;
  facts.question = &question;
  facts.release = question.release;
  if (const ReleaseTable* table = find_releases(target); table != nullptr && facts.release == nullptr)
    facts.release = &table->usual();
  facts.spec = std::get_if<ModelSpec>(&question.inputs.source);
  const Training& training = question.plan.training;
  if (training.states.any()) facts.own_recipe = with_states(question.inputs.recipe, training.states);
  LayerChain chain = layer_chain(question.inputs, training.sequence, training.mtp);
  facts.layers = std::move(chain.names);
  facts.decoder = chain.one_decoder;
  const std::vector<bool>& blocks = chain.blocks;
  facts.blocks = std::count(blocks.begin(), blocks.end(), true);
  const std::vector<Stage>& stages = question.plan.stages;
  const auto chunks = static_cast<std::size_t>(question.plan.parallelism.interleave);
  std::int32_t next = 0;
  facts.contiguous = true;
  for (std::size_t at = 0; at < stages.size() * chunks; ++at) {
    const ChunkPlace place = place_of_part(question.plan.parallelism.schedule, stages.size(), at);
    PipelinePart part;
    part.layers = chunks == 1 ? stages[place.stage].layers : stages[place.stage].chunks[place.chunk];
    for (const LayerId id : part.layers) {
      part.blocks += blocks[id.index()] ? 1 : 0;
      part.embedding = part.embedding || id.value == 0;
      part.head = part.head || id.index() + 1 == blocks.size();
      const auto behind = static_cast<std::int64_t>(blocks.size() - 1 - id.index());
      part.predictions += behind > 0 && behind <= chain.predictions ? 1 : 0;
      facts.contiguous = facts.contiguous && id.value == next;
      next = id.value + 1;
    }
    facts.parts.push_back(std::move(part));
  }
  return facts;
}

}  // namespace nest::frameworks
