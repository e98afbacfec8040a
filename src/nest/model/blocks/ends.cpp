#include "nest/model/blocks/ends.hpp"

#include <utility>

#include "nest/model/blocks/blocks.hpp"
#include "nest/model/blocks/steps.hpp"
#include "nest/model/graph/layer_builder.hpp"

namespace nest::model {
namespace {

// Rows of a table by token id: reads one row per token.
TensorIndex add_lookup(LayerBuilder& b, const Shape& tokens, std::int64_t vocab, Dim width, Role role) {
  const TensorIndex ids = b.input("token_ids", tokens, DType::int64);
  Tensor table{"token_embedding", {{Axis::vocab, vocab}, width}, DType::bf16, role};
  Tensor out{"embedded", join(tokens, {width})};
  const Bytes rows = out.bytes();
  return b
      .general(
          {"token_embedding", OperatorKind::embedding, {ids}, {std::move(table)}, {std::move(out)}, rows})
      .front();
}

TensorIndex add_positions(LayerBuilder& b, TensorIndex x, const StemSpec& stem) {
  const Dim hidden = b.last_dim(x);
  const Shape shape = b.shape(x);
  std::vector<Tensor> tables;
  if (stem.positions > 0) {
    tables.push_back(
        {"position_embedding", {{Axis::positions, stem.positions}, hidden}, DType::bf16, Role::parameter});
  }
  if (stem.types > 0) {
    tables.push_back({"type_embedding", {{Axis::other, stem.types}, hidden}, DType::bf16, Role::parameter});
  }
  if (tables.empty()) return x;
  const Bytes rows{shape[1].size * hidden.size * size_of(DType::bf16)};
  return b
      .general({"positions", OperatorKind::position, {x}, std::move(tables), {{"positioned", shape}}, rows})
      .front();
}

TensorIndex add_token_stem(LayerBuilder& b, const StackSpec& stack, const Shape& tokens, bool shared_table) {
  const Dim hidden{Axis::hidden, stack.hidden};
  const bool narrow = stack.stem.width > 0 && stack.stem.width != stack.hidden;
  const Dim width = narrow ? Dim{Axis::latent, stack.stem.width} : hidden;
  TensorIndex x =
      add_lookup(b, tokens, stack.stem.vocab, width, shared_table ? Role::shared : Role::parameter);
  if (narrow && stack.stem.projected) x = b.matmul("project_in", x, {width}, Weight{"projected", {hidden}});
  return x;
}

// An image as one matrix product over its patches, with a class token in front.
TensorIndex add_patch_stem(LayerBuilder& b, const StackSpec& stack, const Shape& tokens) {
  const Dim hidden{Axis::hidden, stack.hidden};
  const Dim patch{Axis::patch, stack.stem.patch_values};
  Shape patches = tokens;
  if (stack.stem.class_token) patches[1].size -= 1;
  const TensorIndex image = b.input("patches", join(patches, {patch}));
  TensorIndex x =
      b.matmul("patch_embedding", image, {patch}, Weight{"patch_vectors", {hidden}, stack.stem.patch_bias});
  if (stack.stem.class_token) {
    x = b.general({"class_token",
                   OperatorKind::add,
                   {x},
                   {{"class_token", {hidden}, DType::bf16, Role::parameter}},
                   {{"with_class", join(tokens, {hidden})}}})
            .front();
  }
  return x;
}

// Whisper: two convolutions over the mel spectrogram, the second with stride 2.
TensorIndex add_frame_stem(LayerBuilder& b, const StackSpec& stack, const Shape& tokens) {
  constexpr std::int64_t kWindow = 3;
  const Dim hidden{Axis::hidden, stack.hidden};
  const Dim window{Axis::patch, kWindow * stack.stem.patch_values};
  Shape frames = tokens;
  frames[1].size *= 2;
  const TensorIndex sound = b.input("frames", join(frames, {window}));
  TensorIndex x =
      b.matmul("conv1", sound, {window}, Weight{.name = "conv1_result", .features = {hidden}, .bias = true});
  x = b.pointwise("conv1_activation", OperatorKind::gelu, {x});
  const Dim wide{Axis::patch, kWindow * stack.hidden};
  x = b.general({"conv2_windows", OperatorKind::unfold, {x}, {}, {{"windows", join(tokens, {wide})}}})
          .front();
  x = b.matmul("conv2", x, {wide}, Weight{.name = "conv2_result", .features = {hidden}, .bias = true});
  return b.pointwise("conv2_activation", OperatorKind::gelu, {x});
}

// Cross-entropy keeps the log-probabilities in fp32: what makes the last stage's memory large.
void add_loss(LayerBuilder& b, TensorIndex logits) {
  const Shape shape = b.shape(logits);
  Shape rows = shape;
  rows.pop_back();
  if (b.style().fused_loss) {
    b.general({"loss", OperatorKind::loss, {logits}, {}, {{"loss", rows, DType::fp32}}});
    b.also_keep({logits});
    return;
  }
  const auto made = b.general({"loss",
                               OperatorKind::loss,
                               {logits},
                               {},
                               {{"log_probabilities", shape, DType::fp32}, {"loss", rows, DType::fp32}}});
  b.also_keep({made[0]});
}

TensorIndex add_pooler(LayerBuilder& b, TensorIndex x) {
  const Dim hidden = b.last_dim(x);
  const Shape one{b.shape(x)[0], hidden};
  TensorIndex p = b.general({"first_token", OperatorKind::select, {x}, {}, {{"first", one}}}).front();
  p = b.matmul("pooler", p, {hidden}, Weight{.name = "pooled", .features = {hidden}, .bias = true});
  return b.pointwise("pooler_activation", OperatorKind::tanh, {p});
}

TensorIndex add_vocabulary_head(LayerBuilder& b, const ModelSpec& spec,
                                const std::vector<TensorIndex>& inputs) {
  const StackSpec& stack = spec.stacks.back();
  const HeadSpec& head = spec.head;
  TensorIndex logits = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    // Prediction modules end in a norm of their own and use the head's weight again.
    const bool again = i > 0;
    const std::string prefix = again ? "mtp" + std::to_string(i - 1) + "." : "";
    TensorIndex x = inputs[i];
    if (stack.final_norm && !again) x = b.norm("final_norm", x, stack.norm);
    Dim width = b.last_dim(x);
    if (head.projection > 0) {
      width = {Axis::latent, head.projection};
      x = b.matmul("project_out", x, {b.last_dim(x)}, Weight{"projected", {width}});
    }
    const Role role = head.tied || again ? Role::shared : Role::parameter;
    if (!head.steps.empty() && !again) {
      logits = add_steps(b, head.steps, {{"x", x}}, nullptr);
      add_loss(b, logits);
      continue;
    }
    logits = b.matmul(prefix + "logits", x, {width},
                      Weight{prefix + "logits", {{Axis::vocab, head.outputs}}, head.bias, role});
    add_loss(b, logits);
  }
  return logits;
}

TensorIndex add_masked_head(LayerBuilder& b, const ModelSpec& spec, TensorIndex x) {
  const Dim hidden = b.last_dim(x);
  if (spec.head.pooler) add_pooler(b, x);
  b.set_apart(true);
  TensorIndex y = b.matmul("mlm_transform", x, {hidden},
                           Weight{.name = "transformed", .features = {hidden}, .bias = true});
  y = b.pointwise("mlm_activation", OperatorKind::gelu, {y});
  y = b.norm("mlm_norm", y, NormKind::layer);
  const Weight table{
      "logits", {{Axis::vocab, spec.head.outputs}}, true, spec.head.tied ? Role::shared : Role::parameter};
  y = b.matmul("logits", y, {hidden}, table);
  add_loss(b, y);
  b.set_apart(false);
  return y;
}

TensorIndex add_class_head(LayerBuilder& b, const ModelSpec& spec, TensorIndex x) {
  const Dim hidden = b.last_dim(x);
  if (spec.stacks.back().final_norm) x = b.norm("final_norm", x, spec.stacks.back().norm);
  if (spec.head.pooler) return add_pooler(b, x);
  const Shape one{b.shape(x)[0], hidden};
  x = b.general({"first_token", OperatorKind::select, {x}, {}, {{"first", one}}}).front();
  x = b.matmul("classifier", x, {hidden},
               Weight{.name = "logits", .features = {{Axis::classes, spec.head.outputs}}, .bias = true});
  add_loss(b, x);
  return x;
}

TensorIndex add_contrast_head(LayerBuilder& b, const ModelSpec& spec,
                              const std::vector<TensorIndex>& inputs) {
  const Dim common{Axis::latent, spec.head.projection};
  std::vector<TensorIndex> projected;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const StackSpec& tower = spec.stacks[i];
    TensorIndex x = b.norm(tower.prefix + "_final_norm", inputs[i], tower.norm);
    const Dim hidden = b.last_dim(x);
    x = b.general({tower.prefix + "_select",
                   OperatorKind::select,
                   {x},
                   {},
                   {{tower.prefix + "_vector", {b.shape(x)[0], hidden}}}})
            .front();
    projected.push_back(
        b.matmul(tower.prefix + "_projection", x, {hidden}, Weight{tower.prefix + "_projected", {common}}));
  }
  const Dim batch = b.shape(projected[0])[0];
  const TensorIndex out = b.general({"contrast",
                                     OperatorKind::contrast,
                                     projected,
                                     {{"logit_scale", {{Axis::other, 1}}, DType::fp32, Role::parameter}},
                                     {{"similarities", {batch, {Axis::other, batch.size}}, DType::fp32}}})
                              .front();
  return out;
}

}  // namespace

LayerType stem_layer(const StackSpec& stack, const Shape& tokens, bool shared_table,
                     const std::vector<Shape>& among) {
  LayerBuilder b(stack.prefix == "layer" ? "embedding" : stack.prefix + " embedding");
  TensorIndex x = 0;
  switch (stack.stem.kind) {
    case StemSpec::Kind::tokens:
      x = add_token_stem(b, stack, tokens, shared_table);
      break;
    case StemSpec::Kind::patches:
      x = add_patch_stem(b, stack, tokens);
      break;
    case StemSpec::Kind::frames:
      x = add_frame_stem(b, stack, tokens);
      break;
  }
  x = add_positions(b, x, stack.stem);
  if (stack.stem.norm) x = b.norm("embedding_norm", x, stack.norm);
  x = add_steps(b, stack.entry, {{"x", x}}, nullptr);
  std::vector<TensorIndex> edges;  // token ids, images and sound come from the data loader, not over an edge
  if (!among.empty()) {
    std::vector<TensorIndex> parts{x};
    for (const Shape& shape : among) {
      edges.push_back(b.input("tower" + std::to_string(edges.size()), shape));
      parts.push_back(edges.back());
    }
    const Shape whole = b.shape(x);
    x = b.general({"among_tokens", OperatorKind::select, std::move(parts), {}, {{"with_towers", whole}}})
            .front();
  }
  LayerType type = b.finish({x});
  type.inputs = std::move(edges);
  return type;
}

LayerType exit_layer(const StackSpec& stack, const Shape& hidden, LayerStyle style) {
  LayerBuilder b(stack.prefix + " projector", std::move(style));
  return b.finish({add_steps(b, stack.exit, {{"x", b.input("hidden", hidden)}}, nullptr)});
}

LayerType head_layer(const ModelSpec& spec, const std::vector<Shape>& inputs, bool fused_loss) {
  LayerBuilder b("head", {.fused_loss = fused_loss});
  std::vector<TensorIndex> in;
  in.reserve(inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i)
    in.push_back(b.input("hidden" + std::to_string(i), inputs[i]));
  TensorIndex out = 0;
  switch (spec.head.kind) {
    case HeadSpec::Kind::vocabulary:
      out = add_vocabulary_head(b, spec, in);
      break;
    case HeadSpec::Kind::masked:
      out = add_masked_head(b, spec, in[0]);
      break;
    case HeadSpec::Kind::classes:
    case HeadSpec::Kind::none:
      out = add_class_head(b, spec, in[0]);
      break;
    case HeadSpec::Kind::contrast:
      out = add_contrast_head(b, spec, in);
      break;
  }
  return b.finish({out});
}

LayerType mtp_layer(const ModelSpec& spec, const Shape& tokens, LayerStyle style) {
  const StackSpec& stack = spec.stacks.back();
  LayerBuilder b("multi-token prediction", std::move(style));
  b.set_apart(true);
  const Dim hidden{Axis::hidden, stack.hidden};
  const TensorIndex trunk = b.input("hidden", join(tokens, {hidden}));
  const TensorIndex next = add_token_stem(b, stack, tokens, true);
  const TensorIndex a = b.norm("hidden_norm", trunk, stack.norm);
  const TensorIndex e = b.norm("embedding_norm", next, stack.norm);
  const Dim both{Axis::other, 2 * stack.hidden};
  const TensorIndex pair =
      b.general({"join", OperatorKind::dispatch, {a, e}, {}, {{"pair", join(tokens, {both})}}}).front();
  const TensorIndex x = b.matmul("joining_projection", pair, {both}, Weight{"joined", {hidden}});
  const TensorIndex y =
      b.norm("final_norm", add_block(b, x, spec.mtp_block.value_or(stack.blocks.back())), stack.norm);
  LayerType type = b.finish({y});
  type.part = LayerPart::prediction;
  type.inputs = {trunk};
  return type;
}

}  // namespace nest::model
