#include "nest/frameworks/megatron_core/core_adapters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "nest/frameworks/common/tuning_words.hpp"

namespace nest::frameworks {
namespace {

// What of a model decides how its modules are called.
struct Blocks {
  bool latent = false;      // attention with products of low rank
  bool query_rank = false;  // of queries too
  bool gated = true;
  bool experts = false;
  bool usual = true;  // attention and a feed-forward network, in whatever order
};

Blocks blocks_of(const ModelSpec* spec) {
  Blocks out;
  if (spec == nullptr) return out;
  for (const StackSpec& stack : spec->stacks) {
    for (const BlockSpec& block : stack.blocks) {
      const auto& latent = block.attention.latent;
      out.latent |= latent.has_value();
      out.query_rank |= latent && latent->query_rank > 0;
      out.experts |= block.experts.has_value();
      out.usual &= block.steps.empty();
      out.gated &= block.ffn.activation == Activation::swiglu || block.ffn.activation == Activation::geglu;
    }
  }
  return out;
}

// Of which of the two kinds an adapter beside the module is.
enum class Kind { either, joined, single };
enum class When { always, plain, latent, query_rank, one_query, gated, no_gate };

struct Row {
  std::string_view target;
  When when;
  std::string_view module;
  Kind kind = Kind::either;
};
// A target has the modules of all its rows.
constexpr std::array kRows{
    Row{"linear_qkv", When::plain, "linear_qkv", Kind::joined},
    Row{"linear_qkv", When::one_query, "linear_q_proj"},
    Row{"linear_qkv", When::query_rank, "linear_q_down_proj"},
    Row{"linear_qkv", When::query_rank, "linear_q_up_proj"},
    Row{"linear_qkv", When::latent, "linear_kv_down_proj"},
    Row{"linear_qkv", When::latent, "linear_kv_up_proj"},
    Row{"linear_proj", When::always, "linear_proj"},
    Row{"linear_fc1", When::always, "linear_fc1", Kind::joined},
    Row{"linear_fc2", When::always, "linear_fc2"},
    Row{"linear_q_proj", When::one_query, "linear_q_proj"},
    Row{"linear_q_down_proj", When::query_rank, "linear_q_down_proj"},
    Row{"linear_q_up_proj", When::query_rank, "linear_q_up_proj"},
    Row{"linear_kv_down_proj", When::latent, "linear_kv_down_proj"},
    Row{"linear_kv_up_proj", When::latent, "linear_kv_up_proj"},
    Row{"q_proj", When::plain, "linear_q", Kind::single},
    Row{"q_proj", When::one_query, "linear_q_proj"},
    Row{"k_proj", When::plain, "linear_k", Kind::single},
    Row{"v_proj", When::plain, "linear_v", Kind::single},
    Row{"q_a_proj", When::query_rank, "linear_q_down_proj"},
    Row{"q_b_proj", When::query_rank, "linear_q_up_proj"},
    Row{"kv_a_proj_with_mqa", When::latent, "linear_kv_down_proj"},
    Row{"kv_b_proj", When::latent, "linear_kv_up_proj"},
    Row{"o_proj", When::always, "linear_proj"},
    Row{"gate_proj", When::gated, "linear_fc1_gate", Kind::single},
    Row{"up_proj", When::gated, "linear_fc1_up", Kind::single},
    // The whole product, for which CanonicalLoRA has no word.
    Row{"up_proj", When::no_gate, "linear_fc1", Kind::joined},
    Row{"down_proj", When::always, "linear_fc2"},
};
constexpr std::array<std::string_view, 11> kAll{
    "q_proj",    "k_proj", "v_proj",    "q_a_proj", "q_b_proj", "kv_a_proj_with_mqa",
    "kv_b_proj", "o_proj", "gate_proj", "up_proj",  "down_proj"};

bool holds(When when, const Blocks& blocks) {
  switch (when) {
    case When::always:
      return true;
    case When::plain:
      return !blocks.latent;
    case When::latent:
      return blocks.latent;
    case When::query_rank:
      return blocks.query_rank;
    case When::one_query:
      return blocks.latent && !blocks.query_rank;
    case When::gated:
      return blocks.gated;
    case When::no_gate:
      return !blocks.gated;
  }
  return false;
}

class Finder {
 public:
  explicit Finder(const ModelSpec* spec) : blocks_(blocks_of(spec)) {}

  CoreAdapters find(const Tuning& tuning) {
    for (const std::string& target : tuning.targets) {
      if (target == kAllLinear && blocks_.usual) {
        for (const std::string_view one : kAll) static_cast<void>(add(one));
      } else if (!add(target)) {
        out_.problem = fmt::format(
            "Megatron Bridge puts adapters beside Megatron-core's modules, such as linear_qkv, not beside {}",
            target);
        return out_;
      }
    }
    check();
    return out_;
  }

 private:
  bool add(std::string_view target) {
    bool found = false;
    for (const Row& row : kRows) {
      if (row.target != target || !holds(row.when, blocks_)) continue;
      found = true;
      if (std::ranges::find(out_.modules, row.module) != out_.modules.end()) continue;
      out_.modules.emplace_back(row.module);
      out_.experts |= blocks_.experts && row.module.starts_with("linear_fc");
      if (row.kind == Kind::joined) joined_ = row.module;
      if (row.kind == Kind::single) single_ = row.module;
    }
    return found;
  }

  void check() {
    out_.canonical = single_.has_value();
    if (single_ && joined_) {
      out_.problem = fmt::format(
          "Megatron Bridge has adapters beside whole products, such as {}, or beside their parts, such as "
          "{}, "
          "not both in a run",
          *joined_, *single_);
    } else if (out_.experts && single_ && std::ranges::any_of(out_.modules, [](const std::string& m) {
                 return m.starts_with("linear_fc1_");
               })) {
      out_.problem =
          "Megatron Bridge has one adapter beside both first products of an expert, linear_fc1, not "
          "gate_proj "
          "and up_proj apart";
    }
  }

  Blocks blocks_;
  CoreAdapters out_;
  std::optional<std::string_view> joined_;
  std::optional<std::string_view> single_;
};

}  // namespace

CoreAdapters core_adapters(const Tuning& tuning, const ModelSpec* spec) {
  return Finder(spec).find(tuning);
}

}  // namespace nest::frameworks
