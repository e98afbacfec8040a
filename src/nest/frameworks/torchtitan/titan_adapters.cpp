#include "nest/frameworks/torchtitan/titan_adapters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "nest/frameworks/common/tuning_words.hpp"

namespace nest::frameworks {
namespace {

struct Row {
  std::string_view target;
  std::string_view module;
};
// A target has the modules of all its rows.
constexpr std::array kPlain{Row{"linear_qkv", "wqkv"}, Row{"query_key_value", "wqkv"}};
constexpr std::array<std::string_view, 3> kParts{"q_proj", "k_proj", "v_proj"};
constexpr std::array kLatent{Row{"linear_q_proj", "wq"},        Row{"linear_q_up_proj", "wq_b"},
                             Row{"linear_kv_up_proj", "wkv_b"}, Row{"q_proj", "wq"},
                             Row{"q_b_proj", "wq_b"},           Row{"kv_b_proj", "wkv_b"}};
// With products of latent attention whose weights each tensor rank holds whole, for which the converter has no layout.
constexpr std::array<std::string_view, 6> kHeldWhole{
    "linear_qkv", kAllLinear, "q_a_proj", "kv_a_proj_with_mqa", "linear_q_down_proj", "linear_kv_down_proj"};
constexpr std::array kShared{Row{"linear_proj", "wo"}, Row{"o_proj", "wo"},    Row{"linear_fc1", "w1"},
                             Row{"linear_fc1", "w3"},  Row{"gate_proj", "w1"}, Row{"up_proj", "w3"},
                             Row{"linear_fc2", "w2"},  Row{"down_proj", "w2"}};
constexpr std::array<std::string_view, 3> kFeedForward{"w1", "w2", "w3"};

bool names(const Tuning& tuning, std::string_view target) {
  return std::ranges::find(tuning.targets, target) != tuning.targets.end();
}

template <std::size_t N>
bool add(const std::array<Row, N>& rows, std::string_view target, std::vector<std::string>& modules) {
  bool found = false;
  for (const Row& row : rows) {
    if (row.target != target) continue;
    found = true;
    if (std::ranges::find(modules, row.module) == modules.end()) modules.emplace_back(row.module);
  }
  return found;
}

}  // namespace

TitanAdapters titan_adapters(const Tuning& tuning, const ModelSpec& spec) {
  TitanAdapters out;
  const auto& blocks = spec.stacks.front().blocks;
  const bool latent = blocks.back().attention.latent.has_value();
  const bool experts = std::ranges::any_of(blocks, [](const BlockSpec& b) { return b.experts.has_value(); });
  const auto problem = [&](std::string text) {
    out.problem = std::move(text);
    return out;
  };
  for (const std::string& target : tuning.targets) {
    if (latent && std::ranges::find(kHeldWhole, target) != kHeldWhole.end())
      return problem(
          fmt::format("torchtitan puts no adapters beside the products of latent attention that every tensor "
                      "rank holds whole (wq_a, wkv_a), which {} has",
                      target));
    if (!latent && std::ranges::find(kParts, target) != kParts.end())
      return problem(fmt::format(
          "torchtitan's models have one product for queries, keys and values, linear_qkv, and not {} apart",
          target));
    bool found = false;
    if (target == kAllLinear) {
      for (const std::string_view one : {"linear_qkv", "o_proj", "gate_proj", "up_proj", "down_proj"})
        found = add(kPlain, one, out.modules) || add(kShared, one, out.modules) || found;
    } else {
      found = latent ? add(kLatent, target, out.modules) : add(kPlain, target, out.modules);
      found = add(kShared, target, out.modules) || found;
    }
    if (!found)
      return problem(fmt::format("torchtitan's models have no linear module that {} could be", target));
  }
  if (experts && std::ranges::any_of(out.modules, [](const std::string& m) {
        return std::ranges::find(kFeedForward, m) != kFeedForward.end();
      }))
    return problem("torchtitan puts no adapters beside the products of experts");
  if (names(tuning, kAllLinear))
    out.lost.emplace_back("queries, keys and values have one adapter, the plan one for each of them");
  if (names(tuning, "linear_fc1"))
    out.lost.emplace_back("both first products of the ffn have an adapter, the plan one for both");
  return out;
}

}  // namespace nest::frameworks
