#include "nest/frameworks/common/export_facts.hpp"

#include <algorithm>

#include "nest/model/blocks/build.hpp"
#include "nest/plan/plan.hpp"
#include "nest/plan/schedules/schedule.hpp"

namespace nest::frameworks {
namespace {

// Layers of a model that hold attention, by id.
std::vector<bool> blocks_of(const ExportQuestion& question, std::vector<std::string>& names) {
  std::vector<bool> blocks;
  if (const LayerProfile* profile = question.inputs.profile()) {
    for (const ProfileLayer& layer : profile->strategies.front().layers) names.push_back(layer.name);
    for (std::size_t i = 0; i < names.size(); ++i) blocks.push_back(i > 0 && i + 1 < names.size());
    return blocks;
  }
  const Training& t = question.plan.training;
  const auto& spec = std::get<ModelSpec>(question.inputs.source);
  // Only names are asked for: a sequence that is too long is for a rule to refuse.
  const std::int64_t sequence = spec.positions > 0 ? std::min(t.sequence, spec.positions) : t.sequence;
  const Model model = build_model(spec, {.micro_batch = t.micro_batch, .sequence = sequence});
  for (const Layer& layer : model.layers) {
    names.push_back(layer.name);
    blocks.push_back(model.types[layer.type].is_block);
  }
  return blocks;
}

bool is_decoder(const ExportFacts& facts, const std::vector<bool>& blocks) {
  if (facts.spec != nullptr && facts.spec->stacks.size() != 1) return false;
  return blocks.size() > 2 && facts.layers.front() == "embedding" && facts.layers.back() == "head" &&
         !blocks.front() && !blocks.back() &&
         std::all_of(blocks.begin() + 1, blocks.end() - 1, [](bool b) { return b; });
}

}  // namespace

bool ExportFacts::even() const {
  for (const PipelinePart& part : parts) {
    const bool first = &part == &parts.front();
    const bool last = &part == &parts.back();
    if (part.blocks != parts.front().blocks || part.embedding != first || part.head != last) return false;
  }
  return parts.front().blocks > 0;
}

const AttentionSpec* ExportFacts::attention() const {
  return spec != nullptr && !spec->stacks.back().blocks.empty()
             ? &spec->stacks.back().blocks.front().attention
             : nullptr;
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

ExportFacts export_facts(const ExportQuestion& question) {
  ExportFacts facts;
  facts.question = &question;
  facts.spec = std::get_if<ModelSpec>(&question.inputs.source);
  const std::vector<bool> blocks = blocks_of(question, facts.layers);
  facts.decoder = is_decoder(facts, blocks);
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
      facts.contiguous = facts.contiguous && id.value == next;
      next = id.value + 1;
    }
    facts.parts.push_back(std::move(part));
  }
  return facts;
}

bool can_run_stages(std::string_view framework, const PlanInputs& inputs) {
  if (framework != "megatron" && framework != "torchtitan") return true;
  ExportQuestion question{.plan = {}, .inputs = inputs};
  question.plan.training.sequence = inputs.default_sequence();
  return export_facts(question).decoder;
}

}  // namespace nest::frameworks
