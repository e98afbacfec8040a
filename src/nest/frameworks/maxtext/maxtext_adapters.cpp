#include "nest/frameworks/maxtext/maxtext_adapters.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "nest/frameworks/common/tuning_words.hpp"
#include "nest/plan/plan.hpp"

namespace nest::frameworks {
namespace {

struct Row {
  std::string_view target;
  std::string_view module;
};
// A target has the modules of all its rows; a module that the model does not have is matched by none.
constexpr std::array kRows{Row{"linear_qkv", "query"},
                           Row{"linear_qkv", "key"},
                           Row{"linear_qkv", "value"},
                           Row{"linear_qkv", "wq_a"},
                           Row{"linear_qkv", "wq_b"},
                           Row{"linear_qkv", "wkv_a"},
                           Row{"linear_qkv", "wkv_b"},
                           Row{"linear_proj", "out"},
                           Row{"linear_fc1", "wi_0"},
                           Row{"linear_fc1", "wi_1"},
                           Row{"linear_fc2", "wo"},
                           Row{"linear_q_proj", "query"},
                           Row{"linear_q_down_proj", "wq_a"},
                           Row{"linear_q_up_proj", "wq_b"},
                           Row{"linear_kv_down_proj", "wkv_a"},
                           Row{"linear_kv_up_proj", "wkv_b"},
                           Row{"q_proj", "query"},
                           Row{"k_proj", "key"},
                           Row{"v_proj", "value"},
                           Row{"o_proj", "out"},
                           Row{"q_a_proj", "wq_a"},
                           Row{"q_b_proj", "wq_b"},
                           Row{"kv_a_proj_with_mqa", "wkv_a"},
                           Row{"kv_b_proj", "wkv_b"},
                           Row{"gate_proj", "wi_0"},
                           Row{"up_proj", "wi_1"},
                           Row{"down_proj", "wo"}};
constexpr std::array<std::string_view, 3> kFeedForward{"wi_0", "wi_1", "wo"};
constexpr std::array<std::string_view, 7> kDense{"query", "key", "value", "out", "wi_0", "wi_1", "wo"};
// Blocks of GPT-3 join queries, keys and values, and have no gate.
constexpr std::array kGpt3{Row{"linear_qkv", "qkv_proj"}, Row{"query_key_value", "qkv_proj"},
                           Row{"linear_proj", "out"},     Row{"o_proj", "out"},
                           Row{"linear_fc1", "wi"},       Row{"up_proj", "wi"},
                           Row{"linear_fc2", "wo"},       Row{"down_proj", "wo"}};
// Values that share a scale: blocks of QLoRA.
constexpr std::int64_t kTile = 64;

bool in_feed_forward(std::string_view module) {
  return std::ranges::find(kFeedForward, module) != kFeedForward.end();
}

std::vector<std::string_view> modules_of(std::string_view target, bool gpt3) {
  std::vector<std::string_view> out;
  for (const Row& row : gpt3 ? std::span<const Row>(kGpt3) : std::span<const Row>(kRows)) {
    if (row.target == target || (target == kAllLinear && !gpt3)) out.push_back(row.module);
  }
  return out;
}

}  // namespace

MaxTextAdapters maxtext_adapters(const ExportFacts& f) {
  MaxTextAdapters out;
  const Tuning& tuning = f.plan().training.tuning;
  const auto refused = [&](std::string problem) {
    out.problem = std::move(problem);
    return out;
  };
  // It makes them in a pass over one sequence for each data rank, which a pipeline of more micro-batches cannot cut.
  if (f.parallelism().pipeline > 1) return refused("MaxText makes adapters without a pipeline only");
  std::vector<std::string_view> modules;
  for (const std::string& target : tuning.targets) {
    const std::vector<std::string_view> own = modules_of(target, f.spec->family == "gpt2");
    if (own.empty()) return refused(fmt::format("MaxText's models have no module that {} could be", target));
    for (const std::string_view module : own) {
      if (std::ranges::find(modules, module) == modules.end()) modules.push_back(module);
    }
  }
  if (f.experts() != nullptr && std::ranges::any_of(modules, in_feed_forward))
    return refused("MaxText's experts are no modules that adapters stand beside");
  // Qwix quantizes the weights that adapters stand beside, and no others.
  const bool everywhere = std::ranges::all_of(
      kDense, [&](std::string_view module) { return std::ranges::find(modules, module) != modules.end(); });
  if (tuning.frozen_bits < 16 && !everywhere)
    return refused(fmt::format(
        "MaxText holds only weights that adapters stand beside in {} bits, and not all do: all-linear has "
        "them",
        tuning.frozen_bits));
  out.settings = Value::object();
  out.settings.set("enable_lora", true).set("lora_rank", tuning.rank);
  out.settings.set("lora_alpha", 2.0 * static_cast<double>(tuning.rank));
  out.settings.set("lora_module_path", fmt::format("decoder/.*/({})", fmt::join(modules, "|")));
  if (tuning.frozen_bits == 4) out.settings.set("lora_weight_qtype", "nf4").set("lora_tile_size", kTile);
  if (tuning.frozen_bits == 8) out.settings.set("lora_weight_qtype", "int8");
  return out;
}

}  // namespace nest::frameworks
