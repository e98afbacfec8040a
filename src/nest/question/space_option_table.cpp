// The rows of the table of search choices; space_options.cpp reads and spells their values.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "nest/question/space_options.hpp"

namespace nest::question {
namespace {

// "1f1b and interleaved (the default), gpipe, zb-h1, zb-v or dualpipe-v"
std::string schedule_text() {
  const std::size_t usual = default_schedules().size();
  const std::vector<Schedule> all = all_schedules();
  std::string text;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::string_view between = i == 0                             ? ""
                                     : i + 1 == usual                   ? " and "
                                     : i > usual && i + 1 == all.size() ? " or "
                                                                        : ", ";
    text += fmt::format("{}{}", between, name_of(all[i]));
    if (i + 1 == usual) text += " (the default)";
  }
  return text;
}

const auto& options() {
  static const std::string kSchedules = schedule_text();
  static const std::array kOptions{
      SpaceOption{
          "micro-batch", "LIST",
          "the number of sequences in a micro-batch (default: 1, 2, 4, 8, 16, and more for short inputs)",
          &SearchSpace::micro_batch},
      SpaceOption{"tensor", "LIST",
                  "the tensor-parallel degree (default: the divisors of the innermost level's size)",
                  &SearchSpace::tensor},
      SpaceOption{"sequence-parallel", "on|off",
                  "on or off (default: on if the tensor degree is above 1 and divides the positions)",
                  &SearchSpace::sequence_parallel},
      SpaceOption{
          "context", "LIST",
          "the context-parallel degree (default: 1, and up to 16 for sequences of 16,384 tokens or more)",
          &SearchSpace::context},
      SpaceOption{.name = "context-method",
                  .argument = "LIST",
                  .text = "ring (default), all_to_all, hybrid (all_to_all in small groups, a ring of these); "
                          "auto tries all three",
                  .member = &SearchSpace::context_methods,
                  .all = "ring,all_to_all,hybrid"},
      SpaceOption{"context-inner", "LIST",
                  "with hybrid: the number of ranks in one all_to_all (default: those proper divisors of the "
                  "context degree that fit in the innermost level beside the tensor ranks)",
                  &SearchSpace::context_inner},
      SpaceOption{"expert", "LIST",
                  "the expert-parallel degree (default: the divisors of the number of experts)",
                  &SearchSpace::expert},
      SpaceOption{"expert-tensor", "LIST",
                  "the tensor degree of the experts (default: 1 and the tensor degree)",
                  &SearchSpace::expert_tensor},
      SpaceOption{"dispatcher", "LIST",
                  "how tokens travel to their experts: alltoall, deepep, hybridep (default: the recipe's)",
                  &SearchSpace::dispatchers},
      SpaceOption{
          "expert-overlap", "on|off",
          "whether exchanges with experts run beside the compute of another micro-batch (default: the "
          "recipe's, and on with dualpipe-v; on,off tries both)",
          &SearchSpace::expert_overlap},
      SpaceOption{"pipeline", "LIST", "the number of pipeline stages (default: 1 to the number of layers)",
                  &SearchSpace::pipeline},
      SpaceOption{"data", "LIST",
                  "the data-parallel degree as Megatron counts it (default: every possible one)",
                  &SearchSpace::data},
      SpaceOption{"data-inner", "LIST",
                  "the number of copies whose devices lie next to each other (default: the divisors of the "
                  "number of copies)",
                  &SearchSpace::data_inner},
      SpaceOption{"block-devices", "LIST",
                  "the number of devices that are set aside for one block of copies (default: a few values)",
                  &SearchSpace::block_devices},
      SpaceOption{"first-stage-first", "on|off",
                  "whether the first stage starts at device 0 (default: both orders)",
                  &SearchSpace::first_stage_first},
      SpaceOption{"zero", "LIST", "ZeRO stage: 0, 1, 2, 3 (default: all)", &SearchSpace::zero, 0, 3},
      SpaceOption{"zero-shards", "LIST",
                  "the number of ranks that ZeRO shards over (default: the whole group, or the part of it "
                  "inside a domain of each level)",
                  &SearchSpace::zero_shards},
      SpaceOption{.name = "reshard",
                  .argument = "LIST",
                  .text =
                      "with ZeRO 3, what becomes of gathered parameters after a forward pass: always freed, "
                      "never, first:N (never for a stage's first N layers), group:N (N ranks keep a part "
                      "each); auto tries several (default: always, or what the framework of --for does)",
                  .member = &SearchSpace::reshardings,
                  .all = "always,never,first:1,first:2,first:4,first:8,first:16,group:2,group:4,group:8"},
      SpaceOption{
          "recompute", "LIST",
          "none, selective, full, full:N for N layers of a stage, modules:layernorm+moe_act for a set of "
          "modules, or modules for the model's best sets (default: all of them)",
          &SearchSpace::recompute},
      SpaceOption{
          .name = "gradient-dtype",
          .argument = "LIST",
          .text = "the dtype in which gradients of weights are added up: fp32, bf16, fp16; auto tries fp32 "
                  "and bf16 (default: the recipe's)",
          .member = &SearchSpace::gradient_dtypes,
          .all = "fp32,bf16"},
      SpaceOption{.name = "reduce-dtype",
                  .argument = "LIST",
                  .text =
                      "the dtype in which ranks send each other gradients: fp32, bf16, fp16; auto tries fp32 "
                      "and bf16 (default: the recipe's)",
                  .member = &SearchSpace::reduce_dtypes,
                  .all = "fp32,bf16"},
      SpaceOption{
          .name = "optimizer-dtype",
          .argument = "LIST",
          .text = "the dtype of the optimizer's moments: fp32, bf16, fp16, fp8; auto tries fp32, bf16 and "
                  "fp8 (default: the recipe's)",
          .member = &SearchSpace::optimizer_dtypes,
          .all = "fp32,bf16,fp8"},
      SpaceOption{.name = "master-weights",
                  .argument = "on|off",
                  .text =
                      "whether the optimizer holds a copy of the weights in fp32; auto tries both (default: "
                      "the recipe's)",
                  .member = &SearchSpace::master_weights,
                  .all = "on,off"},
      SpaceOption{
          .name = "offload",
          .argument = "LIST",
          .text = "what lies in host memory: none, optimizer for the optimizer's states, which the host then "
                  "updates, activations for what layers keep for their backward passes, or "
                  "activations+optimizer; auto tries all four (default: none)",
          .member = &SearchSpace::offload,
          .all = "none,optimizer,activations,activations+optimizer"},
      SpaceOption{"schedule", "LIST", kSchedules, &SearchSpace::schedules},
      SpaceOption{"interleave", "LIST", "the number of chunks in a stage (default 1,2,3,4,6,8)",
                  &SearchSpace::interleave},
  };
  return kOptions;
}

}  // namespace

std::span<const SpaceOption> space_options() {
  return options();
}

const SpaceOption* find_space_option(std::string_view name) {
  const auto& all = options();
  const auto at = std::find_if(all.begin(), all.end(), [&](const SpaceOption& o) { return o.name == name; });
  return at == all.end() ? nullptr : &*at;
}

}  // namespace nest::question
