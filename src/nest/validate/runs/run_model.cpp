#include "nest/validate/runs/run_model.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <limits>
#include <vector>

#include "nest/model/zoo.hpp"
#include "nest/validate/runs/run_flops.hpp"

namespace nest::validate {
namespace {

// Llama's rule: 8/3 of hidden, rounded up to a multiple of 256.
constexpr std::int64_t kFfnMultiple = 256;
constexpr std::int64_t kPlainRatio = 4;
// Where a row has no vocabulary: Megatron's padded GPT-2 one, and Llama 2's.
constexpr std::int64_t kGptVocabulary = 51200;
constexpr std::int64_t kLlamaVocabulary = 32000;
constexpr std::int64_t kUsualHead = 128;

std::int64_t gated_ffn(std::int64_t hidden) {
  const std::int64_t ffn = hidden * 8 / 3;
  return (ffn + kFfnMultiple - 1) / kFfnMultiple * kFfnMultiple;
}

ModelSpec one_stack(const RunRow& row, const BlockSpec& block, std::int64_t vocabulary) {
  ModelSpec spec;
  spec.name = row.model;
  StackSpec stack;
  stack.prefix = "layer";
  stack.hidden = *row.hidden;
  stack.norm = block.norm;
  stack.stem.vocab = row.vocab.value_or(vocabulary);
  stack.blocks.assign(static_cast<std::size_t>(*row.layers), block);
  spec.head.outputs = stack.stem.vocab;
  spec.stacks.push_back(std::move(stack));
  return spec;
}

AttentionSpec plain_heads(const RunRow& row) {
  AttentionSpec a;
  a.heads = *row.heads;
  a.kv_heads = row.kv_heads.value_or(a.heads);
  a.head_dim = *row.hidden / a.heads;
  return a;
}

ExpertsSpec experts_of(const RunRow& row) {
  ExpertsSpec e;
  e.experts = *row.experts;
  e.top_k = row.top_k.value_or(1);
  e.ffn = row.expert_ffn.value_or(row.ffn.value_or(gated_ffn(*row.hidden)));
  return e;
}

ModelSpec gpt_like(const RunRow& row) {
  BlockSpec block;
  block.norm = NormKind::layer;
  block.attention = plain_heads(row);
  AttentionSpec& a = block.attention;
  a.query_bias = a.key_bias = a.value_bias = a.output_bias = true;
  a.rotary = false;
  block.ffn = {row.ffn.value_or(kPlainRatio * *row.hidden), Activation::gelu, true, true};
  ModelSpec spec = one_stack(row, block, kGptVocabulary);
  spec.family = "gpt2";
  spec.head.tied = true;
  spec.stacks[0].stem.positions = row.sequence.value_or(0);
  return spec;
}

ModelSpec llama_like(const RunRow& row) {
  BlockSpec block;
  block.attention = plain_heads(row);
  block.ffn = {row.ffn.value_or(gated_ffn(*row.hidden)), Activation::swiglu};
  if (row.experts) {
    block.experts = experts_of(row);
    block.ffn.ffn = 0;
  }
  ModelSpec spec = one_stack(row, block, kLlamaVocabulary);
  spec.family = "llama";
  return spec;
}

// Heads of 64, a window of 128 tokens in every second layer.
ModelSpec gpt_oss(const RunRow& row) {
  ModelSpec spec = llama_like(row);
  constexpr std::int64_t kWindow = 128;
  std::vector<BlockSpec>& blocks = spec.stacks[0].blocks;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    blocks[i].attention.head_dim = 64;
    if (i % 2 == 0) blocks[i].attention.window = kWindow;
  }
  return spec;
}

// Three of four layers are gated delta nets, which we do not have. In their place stands attention with the
// same matrices (queries, keys, values and gate: 12,288 outputs) over a window of one chunk.
ModelSpec qwen3_next(const RunRow& row) {
  ModelSpec spec = llama_like(row);
  std::vector<BlockSpec>& blocks = spec.stacks[0].blocks;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    AttentionSpec& a = blocks[i].attention;
    a.head_dim = 256;
    a.head_norms = true;
    if (i % 4 != 3) {
      a.heads = a.kv_heads = 32;
      a.head_dim = kUsualHead;
      a.window = 64;
    }
    if (blocks[i].experts) {
      blocks[i].experts->shared_ffn = blocks[i].experts->ffn;
      blocks[i].experts->shared_gate = true;
    }
  }
  return spec;
}

// "MaxText 22B", "Llama3-8B": the size in billions that a name states.
std::optional<double> size_in_name(const std::string& name) {
  for (std::size_t i = 1; i < name.size(); ++i) {
    if (name[i] != 'B' && name[i] != 'b') continue;
    std::size_t first = i;
    while (first > 0 &&
           (std::isdigit(static_cast<unsigned char>(name[first - 1])) != 0 || name[first - 1] == '.'))
      --first;
    if (first < i && name[first] != '.') return std::stod(name.substr(first, i - first));
  }
  return std::nullopt;
}

ModelSpec nearest_size(const RunRow& row) {
  const double wanted = size_in_name(row.model).value_or(0) * 1e9;
  ModelSpec best;
  double least = std::numeric_limits<double>::infinity();
  for (const Activation activation : {Activation::swiglu, Activation::relu}) {
    for (const std::int64_t head : {*row.hidden / *row.heads, kUsualHead}) {
      ModelSpec spec = llama_like(row);
      for (BlockSpec& block : spec.stacks[0].blocks) {
        block.ffn.activation = activation;
        block.attention.head_dim = head;
      }
      const double off = std::abs(static_cast<double>(active_matmul_parameters(spec)) - wanted);
      if (off < least) {
        least = off;
        best = std::move(spec);
      }
    }
  }
  return best;
}

// Truncated models keep the blocks that the notes count ("1 dense layer"), else the zoo's own order.
void set_layers(ModelSpec& spec, const RunRow& row) {
  std::vector<BlockSpec>& blocks = spec.stacks[0].blocks;
  const auto wanted = static_cast<std::size_t>(*row.layers);
  if (blocks.size() == wanted) return;
  const BlockSpec last = blocks.back();
  const auto is_dense = [](const BlockSpec& b) { return !b.experts; };
  const auto leading =
      static_cast<std::size_t>(std::find_if_not(blocks.begin(), blocks.end(), is_dense) - blocks.begin());
  std::size_t dense = last.experts ? leading : 0;
  if (row.notes.find("1 dense layer") != std::string::npos) dense = std::min<std::size_t>(dense, 1);
  const BlockSpec first = blocks.front();
  blocks.assign(wanted, last);
  std::fill_n(blocks.begin(), std::min(dense, wanted), first);
}

bool same_shape(const ModelSpec& spec, const RunRow& row) {
  if (spec.stacks.size() != 1 || spec.stacks[0].blocks.empty()) return false;
  const BlockSpec& block = spec.stacks[0].blocks.back();
  const std::int64_t experts = block.experts ? block.experts->experts : 0;
  return spec.stacks[0].hidden == *row.hidden && block.attention.heads == *row.heads &&
         experts == row.experts.value_or(0);
}

std::optional<ModelSpec> zoo_like(const RunRow& row, std::string_view word) {
  for (const std::string& name : zoo_names()) {
    if (!mentions(name, word)) continue;
    ModelSpec spec = zoo_model(name);
    if (!same_shape(spec, row)) continue;
    spec.name = row.model;
    spec.mtp_layers = 0;  // rows say "w/o MTP", or nothing
    set_layers(spec, row);
    if (row.vocab) spec.stacks[0].stem.vocab = spec.head.outputs = *row.vocab;
    if (row.kv_heads) {
      for (BlockSpec& block : spec.stacks[0].blocks) {
        if (!block.attention.latent) block.attention.kv_heads = *row.kv_heads;
      }
    }
    return spec;
  }
  return std::nullopt;
}

enum class Family { gpt, gpt_oss, next, by_size, zoo, llama };
struct FamilyWord {
  std::string_view word;
  Family family;
};
// The first that a name mentions.
constexpr std::array<FamilyWord, 15> kFamilies{{{"gpt oss", Family::gpt_oss},
                                                {"gpt-oss", Family::gpt_oss},
                                                {"qwen3-next", Family::next},
                                                {"maxtext", Family::by_size},
                                                {"deepseek", Family::zoo},
                                                {"qwen", Family::zoo},
                                                {"mixtral", Family::zoo},
                                                {"mistral", Family::zoo},
                                                {"gemma", Family::zoo},
                                                {"neox", Family::zoo},
                                                {"phi", Family::zoo},
                                                {"gpt", Family::gpt},
                                                {"bloom", Family::gpt},
                                                {"mt-nlg", Family::gpt},
                                                {"mpt", Family::gpt}}};

std::string shape_problem(const RunRow& row) {
  std::string missing;
  const auto need = [&](const std::optional<std::int64_t>& value, const char* name) {
    if (!value) missing += (missing.empty() ? "" : ", ") + std::string(name);
  };
  need(row.layers, "layers");
  need(row.hidden, "hidden size");
  need(row.heads, "heads");
  if (!missing.empty()) return "the model's shape is not stated: " + missing;
  // Far beyond any model, and products stay countable.
  constexpr std::int64_t kMostLayers = 10'000;
  constexpr std::int64_t kMostWidth = 1'000'000;
  constexpr std::int64_t kMostTokens = 100'000'000;
  const auto wide = [&](const std::optional<std::int64_t>& value) { return value.value_or(1) > kMostWidth; };
  if (*row.layers > kMostLayers || wide(row.hidden) || wide(row.ffn) || wide(row.expert_ffn) ||
      wide(row.experts) || row.vocab.value_or(1) > kMostTokens) {
    return "the model's shape is out of range";
  }
  if (*row.heads > *row.hidden || *row.heads % row.kv_heads.value_or(1) != 0) {
    return "heads, key-value heads and hidden size do not go together";
  }
  if (row.top_k.value_or(1) > row.experts.value_or(row.top_k.value_or(1)))
    return "more experts a token than experts";
  return "";
}

}  // namespace

std::int64_t active_matmul_parameters(const ModelSpec& spec) {
  std::int64_t sum = spec.stacks.back().hidden * spec.head.outputs;
  for (const StackSpec& stack : spec.stacks) {
    for (const BlockSpec& block : stack.blocks) sum += block_matmul_parameters(block, stack.hidden);
  }
  return sum;
}

RunModel run_model(const RunRow& row) {
  if (const std::string why = shape_problem(row); !why.empty()) return {std::nullopt, why};
  const auto found = std::find_if(kFamilies.begin(), kFamilies.end(),
                                  [&](const FamilyWord& f) { return mentions(row.model, f.word); });
  const Family family = found == kFamilies.end() ? Family::llama : found->family;
  RunModel out;
  switch (family) {
    case Family::zoo:
      out.spec = zoo_like(row, found->word);
      if (!out.spec && (found->word == "deepseek" || found->word == "neox")) {
        return {std::nullopt, "no model of the zoo has the shape of " + row.model};
      }
      break;
    case Family::gpt_oss:
      out.spec = gpt_oss(row);
      break;
    case Family::next:
      out.spec = qwen3_next(row);
      break;
    case Family::by_size:
      out.spec = nearest_size(row);
      break;
    case Family::gpt:
      out.spec = gpt_like(row);
      break;
    case Family::llama:
      break;
  }
  const bool own_heads = out.spec.has_value() && family != Family::gpt;  // the family says how wide heads are
  if (!own_heads && *row.hidden % *row.heads != 0) {
    return {std::nullopt, "hidden size " + std::to_string(*row.hidden) + " is no multiple of " +
                              std::to_string(*row.heads) + " heads"};
  }
  if (!out.spec) out.spec = llama_like(row);
  // Published runs go beyond the positions that a config.json states.
  out.spec->positions = std::max(out.spec->positions, row.sequence.value_or(0));
  return out;
}

}  // namespace nest::validate
