// What exports ask of a plan and its model, worked out once: whether the model is a chain of blocks between
// an embedding and a head, and which layers each chunk of each stage holds, in the order of the pipeline.
//
//   const ExportFacts facts = export_facts(question);
//   facts.parts[1].blocks == 20, facts.parts[1].embedding == false
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "nest/frameworks/common/exporter.hpp"
#include "nest/model/blocks/spec.hpp"

namespace nest::frameworks {

// One chunk of one stage; whole stages where the plan is not interleaved.
struct PipelinePart {
  std::vector<LayerId> layers;
  std::int64_t blocks = 0;
  std::int64_t predictions = 0;  // modules for multi-token prediction
  bool embedding = false;
  bool head = false;
};

struct ExportFacts {
  const ExportQuestion* question = nullptr;
  const Release* release = nullptr;  // that is written for; none: the target has none
  const ModelSpec* spec = nullptr;   // none: a layer profile
  std::vector<std::string> layers;   // names
  bool decoder = false;  // an embedding, blocks, modules for multi-token prediction and a head in a chain
  std::int64_t blocks = 0;
  // Part i is chunk i / pipeline of stage i % pipeline.
  std::vector<PipelinePart> parts;
  bool contiguous = false;           // the parts in order are the layers in order
  std::optional<Recipe> own_recipe;  // where the plan has dtypes that the recipe has not

  [[nodiscard]] const Plan& plan() const { return question->plan; }
  [[nodiscard]] const Parallelism& parallelism() const { return question->plan.parallelism; }
  [[nodiscard]] const Strategy& strategy() const { return question->plan.parallelism.strategy; }
  // With the dtypes that the plan chooses.
  [[nodiscard]] const Recipe& recipe() const { return own_recipe ? *own_recipe : question->inputs.recipe; }
  // What all stages recompute, if one number of layers says it: "2 layers" is all of a stage with 2 blocks.
  [[nodiscard]] std::optional<Recompute> recompute() const;
  // Equal numbers of blocks everywhere, the embedding in the first part and the head in the last.
  [[nodiscard]] bool even() const;
  // Of the decoder's blocks; none where the model has none of that kind.
  [[nodiscard]] const AttentionSpec* attention() const;
  [[nodiscard]] const ExpertsSpec* experts() const;
};

// For the release that the question names, or the target's usual one. The question must outlive the facts.
[[nodiscard]] ExportFacts export_facts(const ExportQuestion& question, std::string_view target = {});

}  // namespace nest::frameworks
