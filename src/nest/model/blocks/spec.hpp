// What an architecture is made of, in our words: importers fill a ModelSpec, build_model turns it into
// operator graphs. A new architecture of known blocks needs an importer only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "nest/model/blocks/details.hpp"
#include "nest/model/graph/layer_builder.hpp"

namespace nest::model {

// Multi-head latent attention (DeepSeek): queries and keys go through low-rank projections.
struct LatentAttention {
  std::int64_t query_rank = 0;  // 0: queries are projected in one step
  std::int64_t key_value_rank = 0;
  std::int64_t nope_dim = 0;  // head dimensions without and with rotary positions
  std::int64_t rope_dim = 0;
  std::int64_t value_dim = 0;
  // Small heads that choose the keys which a query sees (DeepSeek V3.2); 0: all are seen.
  std::int64_t index_heads = 0;
  std::int64_t index_dim = 0;

  bool operator==(const LatentAttention&) const = default;
};

struct AttentionSpec {
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t value_dim = 0;  // of values, where it is not head_dim
  bool query_bias = false;
  bool key_bias = false;
  bool value_bias = false;
  bool output_bias = false;
  bool rotary = true;
  bool causal = true;
  std::int64_t window = 0;  // sliding window, 0 = none
  bool chunked = false;     // the window does not slide: the sequence is cut into chunks of so many (Llama 4)
  bool head_norms = false;  // a norm per head on q and k (Qwen3)
  NormKind head_norm = NormKind::rms;
  bool head_norm_over_all = false;    // one norm over all heads together (OLMo 2)
  std::int64_t output_gate = 0;       // values for each head of a gate on the result: 1 or a head's width
  bool sinks = false;                 // a learned score for each head that no key has (gpt-oss)
  std::int64_t position_buckets = 0;  // learned relative positions held by this layer (T5)
  std::optional<LatentAttention> latent;

  bool operator==(const AttentionSpec&) const = default;
};

enum class Activation { swiglu, geglu, gelu, relu };

struct FeedForwardSpec {
  std::int64_t ffn = 0;
  Activation activation = Activation::swiglu;
  bool gate_bias = false;  // of the matrices into the ffn axis
  bool down_bias = false;

  bool operator==(const FeedForwardSpec&) const = default;
};

struct ExpertsSpec {
  std::int64_t experts = 0;
  std::int64_t top_k = 0;
  std::int64_t ffn = 0;          // of one expert
  std::int64_t shared_ffn = 0;   // of all shared experts together, 0 = none
  bool shared_gate = false;      // one gate value per token for the shared expert (Qwen2-MoE)
  bool correction_bias = false;  // one bias per expert in the router (DeepSeek-V3)
  bool router_bias = false;      // of the router's product (gpt-oss)
  bool expert_bias = false;      // of the experts' products (gpt-oss)
  // A token's experts lie in at most so many of so many equal groups (DeepSeek); 0: anywhere.
  std::int64_t groups = 0;
  std::int64_t group_limit = 0;

  bool operator==(const ExpertsSpec&) const = default;
};

// One step of a part that data describes: an operator between named values. `x` is what comes in, and what the last
// step makes goes out. Shapes leave out the batch and the positions.
struct StepSpec {
  enum class Kind {
    linear,     // a product with one weight for each value that it makes, over the last `span` axes
    norm,       // over the last `span` axes
    pass,       // element by element
    scan,       // along the sequence: state spaces, delta rules, short convolutions
    attention,  // of q, k and v
    mixer,      // the block's attention, feed-forward, experts and cross-attention
    dense,
    experts,
    cross,
    add,      // to the residual stream
    fold,     // `count` positions become one, side by side
    queries,  // `count` learned positions in place of those that come in
    lookup,   // rows of its parameters, one for each position
    pool,     // `count` positions become one of the same width
    join,     // the positions of several values in a row
    take,     // `count` of every `window` positions
    hold,     // parameters that are there and take part in no product
  };
  struct Made {
    std::string name;
    Shape features;  // empty: those of the first value that it reads
    bool operator==(const Made&) const = default;
  };
  Kind kind = Kind::linear;
  std::string name;
  std::string prefix;  // of the operators of a mixer or feed-forward that is not the block's only one
  std::vector<std::string> from;
  std::vector<Made> to;
  std::vector<Made> parameters;  // of its own
  bool bias = false;
  bool tied = false;      // the weight is the token table
  bool shared = false;    // its parameters belong to the layer that the block shares with
  std::int64_t span = 0;  // 0: all
  std::int64_t count = 1;
  bool whole = false;          // queries and join: once for the whole batch
  std::int64_t flops = 0;      // of a scan, for each position
  std::int64_t uncounted = 0;  // of them, those that torch's counter does not see: element by element
  NormKind norm = NormKind::rms;
  OperatorKind pass = OperatorKind::scale;
  ScanKernel kernel = ScanKernel::other;  // of a scan
  bool causal = true;
  std::int64_t window = 0;

  bool operator==(const StepSpec&) const = default;
};

enum class NormLayout {
  pre,           // norm, attention, add, norm, ffn, add
  post,          // attention, add, norm, ffn, add, norm (BERT)
  parallel,      // one norm, attention and ffn side by side, one add (Phi)
  parallel_two,  // two norms, side by side (GPT-NeoX)
  sandwich,      // a norm before and after both (Gemma 2)
  post_branch,   // a norm after both, before the add (OLMo 2)
};

struct BlockSpec {
  NormKind norm = NormKind::rms;
  NormLayout layout = NormLayout::pre;
  AttentionSpec attention;
  std::optional<AttentionSpec> cross;  // reads the encoder's output
  FeedForwardSpec ffn;
  std::optional<ExpertsSpec> experts;  // in place of ffn
  std::vector<StepSpec> steps;         // in place of the layout, where it is none of those
  // The earlier block of the stack whose weights it uses: those of its shared steps, or all where no step is.
  std::optional<std::int64_t> shares;

  // Blocks with equal specs become one layer type.
  bool operator==(const BlockSpec&) const = default;
};

// How tokens, patches or frames become hidden vectors.
struct StemSpec {
  enum class Kind { tokens, patches, frames };
  Kind kind = Kind::tokens;
  std::int64_t vocab = 0;
  std::int64_t width = 0;         // of the token table, where it differs from hidden (OPT-350m); 0 = hidden
  bool projected = true;          // brought to hidden at once; else the steps of `entry` do it (ALBERT)
  std::int64_t positions = 0;     // rows of the learned position table, 0 = none
  std::int64_t types = 0;         // token types (BERT)
  bool norm = false;              // a norm after the sum (BERT, CLIP's vision tower)
  std::int64_t patch_values = 0;  // channels * patch * patch, or mel bins of one window
  bool patch_bias = true;
  bool class_token = false;
  bool own_table = false;  // of a decoder whose encoder has another token table
};

struct StackSpec {
  std::string prefix;  // of layer names: "layer", "encoder", "text", ...
  std::int64_t hidden = 0;
  std::int64_t sequence = 0;       // fixed length (images, audio), 0 = the training sequence
  std::int64_t stem_sequence = 0;  // of the stem, where the steps after it leave another; 0 = the same
  std::int64_t streams = 1;        // hidden vectors of each token, one after the other (ProphetNet)
  NormKind norm = NormKind::rms;
  bool final_norm = true;
  StemSpec stem;
  std::vector<BlockSpec> blocks;
  std::vector<StepSpec> entry;  // after the stem
  std::vector<StepSpec> exit;   // after the last block, as a layer of its own: a projector
  bool to_tokens = false;       // its result stands among the tokens of the last stack
};

struct HeadSpec {
  enum class Kind { vocabulary, masked, classes, contrast, none };
  Kind kind = Kind::vocabulary;
  std::int64_t outputs = 0;  // vocabulary or classes
  bool tied = false;
  bool bias = false;
  bool pooler = false;
  std::int64_t projection = 0;  // contrast: common width; vocabulary: width of the token table (OPT-350m)
  std::vector<StepSpec> steps;  // vocabulary: in place of the one product, after the final norm
};

struct ModelSpec {
  std::string name;
  std::string family;                 // model_type of the config
  std::int64_t positions = 0;         // longest sequence; 0 = no limit
  std::int64_t default_sequence = 0;  // 0: min(positions, 8192)
  std::vector<StackSpec> stacks;      // one, or encoder and decoder, or two towers
  HeadSpec head;
  std::int64_t mtp_layers = 0;         // multi-token prediction modules after the last block
  std::optional<BlockSpec> mtp_block;  // of such a module, where it is not like the last block
  ModelDetails details;
};

}  // namespace nest::model
