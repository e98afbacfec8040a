#include "nest/frameworks/common/tuning_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace nest::frameworks {
namespace {

// A module of Megatron-core, and what it joins.
struct Joined {
  std::string_view core;
  std::array<std::string_view, 3> modules;
};
constexpr std::array<Joined, 9> kJoined{{{"linear_qkv", {"q_proj", "k_proj", "v_proj"}},
                                         {"linear_proj", {"o_proj"}},
                                         {"linear_fc1", {"gate_proj", "up_proj"}},
                                         {"linear_fc2", {"down_proj"}},
                                         {"linear_q_proj", {"q_proj"}},
                                         {"linear_q_down_proj", {"q_a_proj"}},
                                         {"linear_q_up_proj", {"q_b_proj"}},
                                         {"linear_kv_down_proj", {"kv_a_proj_with_mqa"}},
                                         {"linear_kv_up_proj", {"kv_b_proj"}}}};

const Joined* joined(std::string_view target) {
  const auto* const at = std::ranges::find(kJoined, target, &Joined::core);
  return at == kJoined.end() ? nullptr : &*at;
}

std::string in_words(const Tuning& tuning) {
  const std::string train = spell_train(tuning);
  const std::string freeze = spell_freeze(tuning);
  const std::string frozen = freeze.empty() ? "" : fmt::format("freezing '{}'", freeze);
  if (train.empty()) return frozen;
  return fmt::format("'{}'{}{}", train, frozen.empty() ? "" : " and ", frozen);
}

// Adapters stand in blocks: what lies outside of them is frozen anyway.
bool plain_adapters(const Tuning& tuning) {
  return tuning.kind == Tuning::Kind::lora && std::ranges::all_of(tuning.freeze, [](const std::string& part) {
           return part == "embedding" || part == "head";
         });
}

}  // namespace

std::optional<std::string> tuning_refusal(const Tuning& tuning, TuningWords words, std::string_view title) {
  if (tuning.whole() || words == TuningWords::any) return std::nullopt;
  if (words == TuningWords::none)
    return fmt::format("{} has no adapters and no flag that freezes some layers, for {}", title,
                       in_words(tuning));
  if (!plain_adapters(tuning))
    return fmt::format("the export to {} carries adapters beside all blocks, not {}", title,
                       in_words(tuning));
  if (words == TuningWords::packed) return std::nullopt;
  for (const std::string& target : tuning.targets) {
    if (words == TuningWords::core && target != kAllLinear && joined(target) == nullptr)
      return fmt::format("{} puts adapters beside Megatron-core's modules, such as linear_qkv, not beside {}",
                         title, target);
  }
  if (tuning.frozen_bits < 16)
    return fmt::format("the export to {} holds frozen weights in 16 bits, not in {}", title,
                       tuning.frozen_bits);
  return std::nullopt;
}

Value peft_config(const Tuning& tuning) {
  Value v = Value::object();
  v.set("peft_type", "LORA").set("task_type", "CAUSAL_LM").set("r", tuning.rank);
  if (std::ranges::find(tuning.targets, kAllLinear) != tuning.targets.end())
    return std::move(v.set("target_modules", kAllLinear));
  Value modules = Value::array();
  std::vector<std::string_view> known;
  const auto add = [&](std::string_view module) {
    if (module.empty() || std::ranges::find(known, module) != known.end()) return;
    known.push_back(module);
    modules.push(module);
  };
  for (const std::string& target : tuning.targets) {
    if (const Joined* own = joined(target)) {
      for (const std::string_view module : own->modules) add(module);
    } else {
      add(target);
    }
  }
  return std::move(v.set("target_modules", std::move(modules)));
}

std::vector<std::string> peft_remarks(const Tuning& tuning) {
  std::vector<std::string> out;
  if (tuning.kind != Tuning::Kind::lora) return out;
  out.emplace_back(
      "the adapters: peft.get_peft_model(model, peft.LoraConfig(**config)) with the keys of "
      "adapter_config.json but "
      "peft_type; lora_alpha and lora_dropout are yours");
  if (tuning.frozen_bits < 16)
    out.push_back(
        fmt::format("frozen weights in {0} bits: from_pretrained(.., "
                    "quantization_config=BitsAndBytesConfig(load_in_{0}bit=True))",
                    tuning.frozen_bits));
  return out;
}

}  // namespace nest::frameworks
