// Images: ViT, and CLIP's two towers (a really branching layer graph).
#include <utility>

#include "nest/model/hub/hub_families.hpp"
#include "nest/model/hub/hub_fields.hpp"

namespace nest::model {
namespace {

struct VisionDefaults {
  std::int64_t patch;
  bool patch_bias;
  bool qkv_bias;
};

// Encoder blocks with biases and pre-norm: ViT's and both of CLIP's towers.
BlockSpec tower_block(Reader& r, std::int64_t hidden, std::int64_t heads, std::int64_t ffn,
                      const char* activation) {
  BlockSpec block;
  block.norm = NormKind::layer;
  block.attention = plain_attention(heads, head_dim_of(r, hidden, heads), {.causal = false});
  block.ffn.ffn = ffn;
  block.ffn.activation = activation_field(r, {"hidden_act"}, activation, FeedForward::plain);
  block.ffn.gate_bias = block.ffn.down_bias = true;
  return block;
}

StackSpec read_vision_tower(Reader& r, const VisionDefaults& d, const char* activation) {
  StackSpec stack;
  stack.norm = NormKind::layer;
  stack.hidden = size_field(r, {"hidden_size"}, 768);
  const std::int64_t image = size_field(r, {"image_size"}, 224);
  const std::int64_t patch = size_field(r, {"patch_size"}, d.patch);
  const std::int64_t channels = size_field(r, {"num_channels"}, 3);
  const std::int64_t side = image / patch;
  if (side < 1)
    r.fail_at("patch_size",
              "patches of " + std::to_string(patch) + " do not fit an image of " + std::to_string(image));
  stack.sequence = side * side + 1;
  stack.stem.kind = StemSpec::Kind::patches;
  stack.stem.patch_values = channels * patch * patch;
  stack.stem.patch_bias = d.patch_bias;
  stack.stem.class_token = true;
  stack.stem.positions = stack.sequence;
  const std::int64_t heads = size_field(r, {"num_attention_heads"}, 12);
  BlockSpec block =
      tower_block(r, stack.hidden, heads, size_field(r, {"intermediate_size"}, 3072), activation);
  if (!d.qkv_bias) block.attention.query_bias = block.attention.key_bias = block.attention.value_bias = false;
  stack.blocks.assign(static_cast<std::size_t>(layers_field(r, {"num_hidden_layers"}, 12)), block);
  return stack;
}

// Old files have text_config_dict and vision_config_dict, beside text_config or alone. Transformers completes
// them with the class defaults and lays them over the other, of which nothing is left.
std::optional<Reader> tower_config(Reader& r, const std::string& key) {
  std::optional<Reader> plain = r.object_if(key);
  std::optional<Reader> old = r.object_if(key + "_dict");
  return old ? old : plain;
}

std::int64_t read_labels(Reader& r) {
  constexpr std::int64_t kImageNet = 1000;  // where a file says nothing of its classes
  if (const Value* labels = r.find("id2label"); labels != nullptr && labels->as_object() != nullptr) {
    static_cast<void>(r.has("num_labels"));
    return static_cast<std::int64_t>(labels->as_object()->size());
  }
  return size_field(r, {"num_labels"}, kImageNet);
}

}  // namespace

ModelSpec read_vit(Reader& r, const std::string& /*type*/) {
  ModelSpec spec;
  StackSpec stack = read_vision_tower(r, {16, true, r.boolean_or("qkv_bias", true)}, "gelu");
  stack.prefix = "layer";
  spec.positions = stack.sequence;
  // An image has one length: the sequence follows from image and patch.
  spec.default_sequence = stack.sequence;
  bool bare = false;  // the encoder with a pooler, without a classifier
  if (const Value* names = r.find("architectures"); names != nullptr && names->as_array() != nullptr) {
    const Value::Array& list = *names->as_array();
    bare = !list.empty() && list[0].as_string() != nullptr && *list[0].as_string() == "ViTModel";
  }
  spec.head.kind = HeadSpec::Kind::classes;
  spec.head.pooler = bare;
  spec.head.outputs = read_labels(r);
  spec.stacks.push_back(std::move(stack));
  return spec;
}

ModelSpec read_clip(Reader& r, const std::string& /*type*/) {
  const Document empty = parse_json(r.document().file, "{}");
  ModelSpec spec;
  Reader none(empty);
  std::optional<Reader> text = tower_config(r, "text_config");
  std::optional<Reader> vision = tower_config(r, "vision_config");
  Reader& t = text ? *text : none;
  StackSpec words;
  words.prefix = "text";
  words.norm = NormKind::layer;
  words.hidden = size_field(t, {"hidden_size"}, 512);
  words.stem.vocab = size_field(t, {"vocab_size"}, 49408);
  words.stem.positions = size_field(t, {"max_position_embeddings"}, 77);
  const std::int64_t heads = size_field(t, {"num_attention_heads"}, 8);
  BlockSpec block =
      tower_block(t, words.hidden, heads, size_field(t, {"intermediate_size"}, 2048), "quick_gelu");
  block.attention.causal = true;
  words.blocks.assign(static_cast<std::size_t>(layers_field(t, {"num_hidden_layers"}, 12)), block);

  StackSpec images = read_vision_tower(vision ? *vision : none, {32, false, true}, "quick_gelu");
  images.prefix = "vision";
  images.stem.norm = true;

  spec.positions = words.stem.positions;
  spec.head.kind = HeadSpec::Kind::contrast;
  spec.head.projection = size_field(r, {"projection_dim"}, 512);
  spec.stacks.push_back(std::move(words));
  spec.stacks.push_back(std::move(images));
  return spec;
}

}  // namespace nest::model
